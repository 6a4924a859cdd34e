// Plans an ADD: the default network, the administrator's further networks, and the networks that the pod selects. Each gets its list,
// its interface name and its capability arguments. Planning reads definitions and changes nothing.

import { selfContainedText } from "../../../src/cni/network-list.ts";
import { checkAttachmentCount, checkPluginCount } from "../../../src/configuration/bounds.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { assignInterfaceNames } from "../../../src/npwg/interface-names.ts";
import { checkNamespace } from "../../../src/npwg/namespace-policy.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import { type NpwgProfile, profileNamed } from "../../../src/npwg/profile.ts";
import { networksAnnotation, parseSelection } from "../../../src/npwg/selection.ts";
import type { Pod } from "../../cluster/cluster.ts";
import { withDeviceInfo } from "./attachment-device.ts";
import { runtimeAnnotations, withRuntimeAnnotations } from "../../cluster/runtime-pods.ts";
import type { AttachmentPlan, CallPlan } from "../planned/attachment-plan.ts";
import type { Call, PlanContext } from "../call.ts";
import { readDefaultNetwork } from "./default-network.ts";
import { auxiliaryChain, furtherNetworks } from "./further-networks.ts";
import { planDefinition } from "./plan-definition.ts";
import type { ClaimedNetwork } from "../planned/claimed-network.ts";
import { claimedNetworks } from "../planned/claimed-networks.ts";
import { completed, selectedNetworks } from "../planned/plan-feature.ts";
import { planPodDefault } from "./pod-default.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import type { LinksBefore } from "../record/record-links.ts";
import { typesOf } from "./require-plugins.ts";

/** Faults that an Event tells the pod's author. */
const tellable: readonly FaultKind[] = ["NETWORK_NOT_FOUND", "POD_NETWORK_NOT_READY"];

/** Plans this call's ADD. `linksBefore` looks into the pod's network namespace, once. Without a configured source of pods, the plan has the administrator's networks only. */
export async function planCall(call: PlanContext, linksBefore: () => Promise<LinksBefore>): Promise<Result<CallPlan>> {
  const { request, configuration } = call;
  const profile = profileOf(configuration);
  if (configuration.retired) return planRetired(call, profile);
  const identity = podIdentity(request.args);
  if (!identity.ok) return identity;
  const annotations = runtimeAnnotations(call.document);
  if (!annotations.ok) return annotations;
  const configured = await call.cluster();
  const cluster = annotations.value === undefined ? configured : withRuntimeAnnotations(configured, annotations.value);
  const pod =
    cluster === undefined || identity.value === undefined
      ? ok(undefined)
      : await cluster.pod(identity.value.namespace, identity.value.name, { uid: identity.value.uid });
  if (!pod.ok) return pod;
  const selected = selectionOf(call, pod.value, profile);
  if (!selected.ok) return selected;
  const missingNetwork = (reason: Fault): Result<never> => {
    if (tellable.includes(reason.kind) && pod.value !== undefined)
      cluster?.tell(pod.value, { reason: "NoNetworkFound", message: reason.msg });
    return failed(reason);
  };
  const ofFeature = await selectedNetworks(call.features, call, cluster, pod.value);
  if (!ofFeature.ok) return missingNetwork(ofFeature.fault);
  const { primary, further: targets = [] } = ofFeature.value ?? {};
  const claimed = await claimedNetworks(call.features, call, cluster, pod.value);
  if (!claimed.ok) return missingNetwork(claimed.fault);
  const twice = usedTwice([primary?.podNetwork, ...targets.map(({ podNetwork }) => podNetwork)], claimed.value);
  if (twice !== undefined) return failed(twice);

  const base = { containerId: request.containerId, netns: request.netns, args: request.args, capabilityArgs: new Map() };
  const main = await planPodDefault(call, cluster, pod.value, { ...base, ifname: request.ifname }, profile, primary?.target);
  if (!main.ok) return missingNetwork(main.fault);
  const replacesDefault = main.value.plan.request !== undefined;
  const mainName = reservedNameFault(call, main.value.plan, { replacesDefault });
  if (mainName !== undefined) return failed(mainName);
  const further = await furtherNetworks(call, identity.value, pod.value);
  if (!further.ok) return further;
  const auxiliary = auxiliaryChain(call, main.value.path);
  if (!auxiliary.ok) return auxiliary;
  const last = auxiliary.value === undefined ? [] : [auxiliary.value];
  const counts = {
    configured: 1 + further.value.length + last.length,
    selected: targets.length + selected.value.length + claimed.value.length,
  };
  const fewEnough = checkAttachmentCount(configuration.bounds, counts);
  if (!fewEnough.ok) return fewEnough;

  // The auxiliary chain comes last, so that it does not shift the interface names of the pod's networks.
  const nameRequests = (list: typeof further.value): { readonly name: string; readonly namespace: string }[] =>
    list.map(({ source }) => ({ name: source, namespace: "configuration" }));
  const selections: readonly NetworkSelection[] = [
    ...targets.map(({ selection }) => selection),
    ...selected.value,
    ...claimed.value.map(({ selection }) => selection),
  ];
  const firstClaimed = selections.length - claimed.value.length;
  const requests = [...nameRequests(further.value), ...selections, ...nameRequests(last)];
  const present = requests.length === 0 ? [] : await linkNamesWhileFindingPlugins(call, main.value.plan, linksBefore);
  const names = assignInterfaceNames(requests, request.ifname, present);
  if (!names.ok) return names;
  const free = names.value[Symbol.iterator]();
  const nextName = (): string => free.next().value ?? "";

  const attachments: AttachmentPlan[] = [{ ...main.value.plan, podNetwork: primary?.podNetwork }];
  const addFurther = (networks: typeof further.value): void => {
    for (const network of networks) {
      const attachment = { ...base, ifname: nextName() };
      attachments.push({ ...network, conflist: selfContainedText(network.list), attachment, request: undefined });
    }
  };
  addFurther(further.value);
  for (const [index, selection] of selections.entries()) {
    if (cluster === undefined) break;
    const target = targets[index];
    const claim = claimed.value[index - firstClaimed];
    const added = { further: target?.definitions.slice(1) ?? claim?.further, claimed: claim };
    const planned = await planDefinition(call, cluster, selection, { ...base, ifname: nextName() }, profile, added);
    if (!planned.ok) return missingNetwork(planned.fault);
    const reserved = reservedNameFault(call, planned.value, { mainName: main.value.plan.list.name, replacesDefault });
    if (reserved !== undefined) return failed(reserved);
    attachments.push({ ...planned.value, podNetwork: target?.podNetwork ?? claim?.podNetwork });
  }
  addFurther(last);
  for (const { source, list } of attachments) {
    const shortEnough = checkPluginCount(configuration.bounds, source, list.plugins.length);
    if (!shortEnough.ok) return shortEnough;
  }
  const planned = { cluster, pod: pod.value, attachments, selected: selected.value };
  const whole = await completed(call.features, configuration, planned);
  if (!whole.ok) return missingNetwork(whole.fault);
  return ok({
    attachments: whole.value.map(withDeviceInfo),
    pod: cluster === undefined || pod.value === undefined ? undefined : { cluster, pod: pod.value, profile },
  });
}

/** KEP-3698 allows one use of a PodNetwork for each pod, also where the annotation names it and a claim does (KE-26). SELECTION_INVALID. */
function usedTwice(named: readonly (string | undefined)[], claimed: readonly ClaimedNetwork[]): Fault | undefined {
  const used = new Set(named);
  for (const { podNetwork, what } of claimed) {
    if (podNetwork === undefined) continue;
    const why = `${what}: the pod uses PodNetwork ${quote(podNetwork, 60)} already; name it once`;
    if (used.has(podNetwork)) return fault("SELECTION_INVALID", why);
    used.add(podNetwork);
  }
  return undefined;
}

/** The plan while Plexus is being removed: the default network alone, without a read of the pod and without a status. */
async function planRetired(call: PlanContext, profile: NpwgProfile): Promise<Result<CallPlan>> {
  const { containerId, netns, args, ifname } = call.request;
  const attachment = { containerId, netns, args, ifname, capabilityArgs: new Map() };
  const main = await planPodDefault(call, undefined, undefined, attachment, profile);
  if (!main.ok) return main;
  return ok({ attachments: [withDeviceInfo(main.value.plan)], pod: undefined });
}

/**
 * The fault of a bound definition with the name of the pod's default network, or of the cluster's, which a pod can replace: it would use the leases
 * of that network. `mainName`: the name of the pod's default network; undefined if `plan` is that network. DEFINITION_FORBIDDEN.
 */
export function reservedNameFault(
  call: PlanContext,
  { source, list, binding }: Pick<AttachmentPlan, "source" | "list" | "binding">,
  { mainName, replacesDefault }: { readonly mainName?: string; readonly replacesDefault: boolean },
): Fault | undefined {
  if (binding === undefined) return undefined;
  const replaced = replacesDefault ? readDefaultNetwork(call) : undefined;
  // A default network that cannot be read has no leases to protect.
  const isReserved = list.name === mainName || (replaced?.ok === true && list.name === replaced.value.name);
  if (!isReserved) return undefined;
  const why = `its network has the name ${quote(list.name, 64)} of the default network, which is reserved`;
  return fault("DEFINITION_FORBIDDEN", `NetworkAttachmentDefinition ${source}: ${why}`);
}

/**
 * The names of the links in the pod's network namespace. The shim looks for the plugins of the `first` network at the same time:
 * sending both requests together saves a wake-up of the shim and of the engine.
 */
async function linkNamesWhileFindingPlugins(
  call: PlanContext,
  first: AttachmentPlan,
  linksBefore: () => Promise<LinksBefore>,
): Promise<readonly string[]> {
  startFindingPlugins(call, first);
  // Such as a link that a device plugin moved in. An unreadable namespace counts as empty.
  return (await linksBefore())?.links.map(({ name }) => name) ?? [];
}

/** Sends the look-ups of a network's plugins. The finder keeps their answers for the steps, which also receive a failure. */
function startFindingPlugins({ plugins }: Pick<Call, "plugins">, network: AttachmentPlan): void {
  for (const type of typesOf(network)) plugins.find(type).catch(() => undefined);
}

/** The configured profile, with the settings that the configuration overrides. */
export function profileOf({ profile, invalidAnnotation }: HostConfiguration): NpwgProfile {
  const named = profileNamed(profile);
  return invalidAnnotation === undefined ? named : { ...named, invalidAnnotation };
}

function selectionOf(call: PlanContext, pod: Pod | undefined, profile: NpwgProfile): Result<readonly NetworkSelection[]> {
  if (pod === undefined) return ok([]);
  const selection = parseSelection(pod.annotations.get(networksAnnotation), pod.namespace, profile);
  if (!selection.ok) return selection;
  for (const warning of selection.value.warnings) call.warn(warning);
  for (const network of selection.value.networks) {
    const allowed = checkNamespace(call.configuration, pod.namespace, network, "network");
    if (!allowed.ok) return allowed;
  }
  return ok(selection.value.networks);
}
