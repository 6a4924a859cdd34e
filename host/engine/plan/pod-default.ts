// The default network of one pod: the cluster's default network, or the network that the pod's annotation names instead (MA-01).

import type { Attachment } from "../../../src/cni/attachment.ts";
import { convertResult } from "../../../src/cni/convert-result.ts";
import { selfContainedText } from "../../../src/cni/network-list.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import { toVersion } from "../../../src/cni/versions.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type JsonObjectDocument, memberText, memberValue } from "../../../src/json/document.ts";
import { defaultNetworkCapabilityArgs } from "../../../src/npwg/capability-args.ts";
import { defaultNetworkAnnotation, parseDefaultNetwork } from "../../../src/npwg/default-network-selection.ts";
import { checkNamespace } from "../../../src/npwg/namespace-policy.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import type { Cluster, Pod } from "../../cluster/cluster.ts";
import type { AttachmentPlan } from "../planned/attachment-plan.ts";
import type { PlanContext } from "../call.ts";
import { resolveDefaultNetwork } from "./default-network.ts";
import { planDefinition } from "./plan-definition.ts";
import type { SelectedNetwork } from "../planned/plan-feature.ts";

/** The planned default network of one pod. */
export interface PodDefault {
  readonly plan: AttachmentPlan;
  /** The file of the cluster's default network; undefined if the network has no file, or the pod's annotation names another. */
  readonly path: string | undefined;
}

/**
 * Plans the pod's default network, or `primary` in its place, with the runtime's interface name, all of the runtime's capability arguments (MC-17) and its
 * prevResult.
 */
export async function planPodDefault(
  call: PlanContext,
  cluster: Cluster | undefined,
  pod: Pod | undefined,
  attachment: Attachment,
  profile: NpwgProfile,
  primary?: SelectedNetwork,
): Promise<Result<PodDefault>> {
  const runtimeArgs = defaultNetworkCapabilityArgs(call.document);
  if (!runtimeArgs.ok) return runtimeArgs;
  const withArgs = { ...attachment, capabilityArgs: runtimeArgs.value };
  const chosen =
    cluster === undefined || pod === undefined
      ? ok(undefined)
      : primary === undefined
        ? await planChosen(call, cluster, pod, withArgs, profile)
        : await planPrimary(call, cluster, primary, withArgs, profile);
  if (!chosen.ok) return chosen;
  const planned =
    chosen.value === undefined ? await planClusterDefault(call, withArgs) : ok({ plan: chosen.value, path: undefined });
  if (!planned.ok) return planned;
  const { plan, path } = planned.value;
  const previous = previousResult(call.document, call.configuration.cniVersion, plan.list.cniVersion);
  return previous.ok ? ok({ plan: { ...plan, previous: previous.value }, path }) : previous;
}

async function planClusterDefault(call: PlanContext, attachment: Attachment): Promise<Result<PodDefault>> {
  const network = await resolveDefaultNetwork(call);
  if (!network.ok) return network;
  const { list, statusName, path } = network.value;
  const plan = { source: "default", statusName, list, conflist: selfContainedText(list), attachment, request: undefined };
  return ok({ plan, path });
}

async function planChosen(
  call: PlanContext,
  cluster: Cluster,
  pod: Pod,
  attachment: Attachment,
  profile: NpwgProfile,
): Promise<Result<AttachmentPlan | undefined>> {
  const { multusNamespace, namespaceIsolation, globalNamespaces } = call.configuration;
  const chosen = parseDefaultNetwork(pod.annotations.get(defaultNetworkAnnotation), multusNamespace, profile);
  if (!chosen.ok || chosen.value === undefined) return chosen.ok ? ok(undefined) : chosen;
  const { network, warnings } = chosen.value;
  for (const warning of warnings) call.warn(warning);
  // Every pod may use the networks of multusNamespace as its default network: the administrator puts them there for that.
  const policy = { namespaceIsolation, globalNamespaces: [...globalNamespaces, multusNamespace] };
  const allowed = checkNamespace(policy, pod.namespace, network, "default network");
  if (!allowed.ok) return failed({ ...allowed.fault, msg: `annotation ${defaultNetworkAnnotation}: ${allowed.fault.msg}` });
  if (network.interface !== undefined && network.interface !== attachment.ifname) {
    const why = `interface ${network.interface} is requested, but the runtime names the default network's interface ${attachment.ifname}`;
    return failed(fault("SELECTION_INVALID", `annotation ${defaultNetworkAnnotation}: ${why}`));
  }
  return planDefinition(call, cluster, network, attachment, profile);
}

/** The pod's first PodNetwork on the runtime's interface. */
async function planPrimary(
  call: PlanContext,
  cluster: Cluster,
  { podNetwork, selection, definitions }: SelectedNetwork,
  attachment: Attachment,
  profile: NpwgProfile,
): Promise<Result<AttachmentPlan>> {
  if (selection.interface !== undefined && selection.interface !== attachment.ifname) {
    const why = `interfaceName ${selection.interface} is requested, but the runtime names the pod's first interface ${attachment.ifname}`;
    return failed(fault("SELECTION_INVALID", `PodNetwork "${podNetwork}": ${why}`));
  }
  return planDefinition(call, cluster, selection, attachment, profile, { addedParameters: definitions.slice(1) });
}

/** The runtime's prevResult (MC-22), of CNI version `from`, converted to version `to` of the network's list. */
function previousResult(document: JsonObjectDocument, from: string, to: string): Result<PluginResult | undefined> {
  const value = memberValue(document, "prevResult");
  if (value === undefined || value === null) return ok(undefined);
  const version = toVersion(from);
  if (!version.ok) return version;
  const read = readResult(memberText(document, "prevResult") ?? "", version.value, "prevResult");
  return read.ok ? convertResult(read.value, to) : read;
}
