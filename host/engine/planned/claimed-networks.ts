// The networks of a pod's resource claims, with the definitions of their PodNetworks.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Cluster, Pod } from "../../cluster/cluster.ts";
import type { ClaimedNetwork } from "./claimed-network.ts";
import type { FeatureContext, PlanFeature } from "./plan-feature.ts";

/** The networks of the pod's resource claims. A PodNetwork is a fault if a claim names it and no feature knows PodNetworks. */
export async function claimedNetworks(
  features: readonly PlanFeature[],
  context: FeatureContext,
  cluster: Cluster | undefined,
  pod: Pod | undefined,
): Promise<Result<readonly ClaimedNetwork[]>> {
  const networks: ClaimedNetwork[] = [];
  for (const { claimed } of features) {
    if (pod === undefined || claimed?.isOn(context.configuration) !== true) continue;
    const read = await claimed.networks(context, cluster, pod);
    if (!read.ok) return read;
    for (const network of read.value) {
      const whole = await withPodNetwork(features, context, cluster, pod, network);
      if (!whole.ok) return failed({ ...whole.fault, msg: `${network.what}: ${whole.fault.msg}` });
      networks.push(whole.value);
    }
  }
  return ok(networks);
}

/** The network with the definitions of its PodNetwork. A list keeps its own plugins: its PodNetwork is the one whose policies hold for it. */
async function withPodNetwork(
  features: readonly PlanFeature[],
  context: FeatureContext,
  cluster: Cluster | undefined,
  pod: Pod,
  network: ClaimedNetwork,
): Promise<Result<ClaimedNetwork>> {
  const { podNetwork, selection, inline } = network;
  if (podNetwork === undefined) return ok(network);
  const knows = features.find(({ networks }) => networks !== undefined)?.networks;
  if (knows === undefined) return failed(fault("SELECTION_INVALID", "this build of Plexus has no PodNetworks"));
  const found = await knows.named(context, cluster, pod, podNetwork);
  if (!found.ok || inline !== undefined) return found.ok ? ok(network) : found;
  const [{ namespace, name } = selection, ...further] = found.value.definitions;
  return ok({ ...network, selection: { ...selection, namespace, name }, further });
}
