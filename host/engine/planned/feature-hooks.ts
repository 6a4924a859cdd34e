// Runs the hooks of the features in an ADD, in the order of the list. A hook of a feature that is off does not run.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { AllocatorDevices } from "../../../src/npwg/allocator-devices.ts";
import type { Cluster, Pod, PodOfCall } from "../../cluster/cluster.ts";
import type { AttachmentPlan, ShownAttachment } from "./attachment-plan.ts";
import type {
  ClaimedNetwork,
  FeatureContext,
  GuardContext,
  GuardedPod,
  Guarding,
  PlanFeature,
  PlannedNetworks,
  SelectedNetworks,
} from "./plan-feature.ts";

/** Whether the configuration has the key of a feature: a switch that is on, or settings. */
export function hasKey(configuration: HostConfiguration, key: keyof HostConfiguration): boolean {
  const value = configuration[key];
  return value !== undefined && value !== false;
}

type Guard = NonNullable<PlanFeature["guard"]>;

/** The networks of the one feature that selects any for the pod. */
export async function selectedNetworks(
  features: readonly PlanFeature[],
  context: FeatureContext,
  cluster: Cluster | undefined,
  pod: Pod | undefined,
): Promise<Result<SelectedNetworks | undefined>> {
  for (const { networks } of features) {
    if (networks === undefined) continue;
    if (!hasKey(context.configuration, networks.key) && (pod === undefined || !networks.isNeeded(pod))) continue;
    const selected = await networks.select(context, cluster, pod);
    if (!selected.ok || selected.value !== undefined) return selected;
  }
  return ok(undefined);
}

/** The networks of the pod's resource claims. A PodNetwork is a fault if a claim names it and no feature knows PodNetworks. */
export async function claimedNetworks(
  features: readonly PlanFeature[],
  context: FeatureContext,
  cluster: Cluster | undefined,
  pod: Pod | undefined,
): Promise<Result<readonly ClaimedNetwork[]>> {
  const networks: ClaimedNetwork[] = [];
  for (const { claimed } of features) {
    if (pod === undefined || claimed === undefined || !hasKey(context.configuration, claimed.key)) continue;
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
  const [{ namespace, name } = selection, ...addedParameters] = found.value.definitions;
  return ok({ ...network, selection: { ...selection, namespace, name }, addedParameters });
}

/** The devices that the features know of the call's pod. `pod` and `cluster` are asked only if a feature needs them. */
export async function allocatorDevices(
  features: readonly PlanFeature[],
  configuration: HostConfiguration,
  pod: () => Result<PodOfCall | undefined>,
  cluster: () => Promise<Cluster | undefined>,
): Promise<Result<readonly AllocatorDevices[]>> {
  const devices: AllocatorDevices[] = [];
  for (const feature of features) {
    if (feature.devices?.isOn(configuration) !== true) continue;
    const named = pod();
    if (!named.ok) return named;
    const source = await cluster();
    if (named.value === undefined || source === undefined) continue;
    const read = await feature.devices.read(named.value, source);
    if (!read.ok) return read;
    if (read.value !== undefined) devices.push(read.value);
  }
  return ok(devices);
}

/** The attachments with what the features add to them. */
export async function completed(
  features: readonly PlanFeature[],
  configuration: HostConfiguration,
  planned: PlannedNetworks,
): Promise<Result<readonly AttachmentPlan[]>> {
  let { attachments } = planned;
  for (const { completion } of features) {
    if (completion === undefined || !hasKey(configuration, completion.key) || !completion.isNeeded(attachments)) continue;
    const whole = await completion.complete({ ...planned, attachments });
    if (!whole.ok) return whole;
    attachments = whole.value;
  }
  return ok(attachments);
}

/** The fault of an attachment that a feature can complete only when a pod starts. */
export async function refusedOfRunningPod(
  features: readonly PlanFeature[],
  configuration: HostConfiguration,
  attachment: AttachmentPlan,
): Promise<Result<void>> {
  for (const { completion } of features) {
    if (completion === undefined || !hasKey(configuration, completion.key) || !completion.isNeeded([attachment])) continue;
    const refused = await completion.refuse(attachment);
    if (!refused.ok) return refused;
  }
  return ok(undefined);
}

/** The preparation whose end this is. */
export function guardingOf(inForce: Promise<Result<void>>): Guarding {
  inForce.catch(() => undefined);
  return { inForce };
}

/**
 * Lets each feature guard the pod before its interfaces are made. The runtime's own network may be attached before the preparation is in force. Fault: that of the
 * first feature that cannot.
 */
export async function guarded(
  features: readonly PlanFeature[],
  context: GuardContext,
  pod: GuardedPod,
): Promise<Result<Guarding>> {
  const begun: Promise<Result<void>>[] = [];
  for (const { guard } of features) {
    if (guard === undefined || !hasKey(context.configuration, guard.key)) continue;
    const guarding = await guard.guard(context, pod);
    if (!guarding.ok) {
      // The call must not end before its effects.
      await Promise.all(begun);
      return guarding;
    }
    begun.push(guarding.value.inForce);
  }
  return ok(guardingOf(Promise.all(begun).then((ends) => ends.find((each) => !each.ok) ?? ok(undefined))));
}

/** Whether a feature guards the pods of this configuration. */
export function guardsPods(features: readonly PlanFeature[], configuration: HostConfiguration): boolean {
  return features.some(({ guard }) => guard !== undefined && hasKey(configuration, guard.key));
}

/** Whether a feature has a part on the node. */
export function needsSecuring(features: readonly PlanFeature[], configuration: HostConfiguration): boolean {
  return features.some(({ guard }) => guard !== undefined && nodePart(guard, configuration) !== undefined);
}

/** The part on the node of a guard, if both are on. */
function nodePart({ key, node }: Guard, configuration: HostConfiguration): Guard["node"] {
  return hasKey(configuration, key) && node?.isOn(configuration) === true ? node : undefined;
}

/** Lets each feature act on the node once the pod's interfaces are there. Fault: that of the first feature that cannot. */
export async function secured(features: readonly PlanFeature[], context: GuardContext, pod: GuardedPod): Promise<Result<void>> {
  for (const { guard } of features) {
    const done = await (guard && nodePart(guard, context.configuration))?.secure(context, pod);
    if (done?.ok === false) return done;
  }
  return ok(undefined);
}

/** Lets each feature remove its part on the node of a container whose attachments are undone. */
export async function released(features: readonly PlanFeature[], context: GuardContext, containerId: string): Promise<void> {
  for (const { guard } of features) await (guard && nodePart(guard, context.configuration))?.release(context, containerId);
}

/** The annotations that features write for these attachments. */
export async function featureAnnotations(
  features: readonly PlanFeature[],
  attachments: readonly ShownAttachment[],
): Promise<Readonly<Record<string, string>>> {
  if (attachments.every(({ podNetwork }) => podNetwork === undefined)) return {};
  const annotations = await Promise.all(features.map(({ networks }) => networks?.annotations(attachments) ?? {}));
  return Object.assign({}, ...annotations);
}
