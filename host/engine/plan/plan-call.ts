// Plans an ADD: the default network, the administrator's secondary networks, and the networks that the pod selects. Each gets its list,
// its interface name and its capability arguments. Planning reads definitions and changes nothing.

import type { Attachment } from "../../../src/cni/attachment.ts";
import { selfContainedText } from "../../../src/cni/network-list.ts";
import { checkAttachmentCount, checkPluginCount } from "../../../src/configuration/bounds.ts";
import type { FaultKind } from "../../../src/fault/catalogue.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { assignInterfaceNames, type NameRequest } from "../../../src/npwg/interface-names.ts";
import { type NpwgProfile, profileOf } from "../../../src/npwg/profile.ts";
import { networksAnnotation } from "../../../src/npwg/selection.ts";
import { runtimeAnnotations, withRuntimeAnnotations } from "../../cluster/runtime-pods.ts";
import type { PlanContext } from "../call.ts";
import { startFinding } from "../call/plugin-finder.ts";
import { type AttachmentPlan, type CallPlan, type SourcedNetwork, withDeviceInfo } from "../planned/attachment-plan.ts";
import { completed, guardsPods } from "../planned/feature-hooks.ts";
import type { LinksBefore } from "../record/record-add.ts";
import { readDefaultNetwork } from "./default-network.ts";
import {
  type AskedNetwork,
  type AskedNetworks,
  askedNetworks,
  type KnownPod,
  auxiliaryChain,
  type ConfiguredNetwork,
  networksOfAdministrator,
} from "./secondary-networks.ts";
import { planDefinition } from "./plan-definition.ts";
import { type PodDefault, planPodDefault } from "./pod-default.ts";

/** Warnings about the annotation that a message has. */
const maxWarnings = 3;

/** Faults that an Event tells the pod's author. */
const tellable: readonly FaultKind[] = ["NETWORK_NOT_FOUND", "POD_NETWORK_NOT_READY"];

/** Plans this call's ADD. `linksBefore` looks into the pod's network namespace, once. Without a configured source of pods, the plan has the administrator's networks only. */
export async function planCall(call: PlanContext, linksBefore: () => Promise<LinksBefore>): Promise<Result<CallPlan>> {
  const { configuration } = call;
  const profile = profileOf(configuration);
  if (configuration.retired) return planRetired(call, profile);
  const found = await findPod(call);
  if (!found.ok) return found;
  const known = found.value;
  const asked = await askedNetworks(call, known, profile);
  if (!asked.ok) return refuse(known, asked.fault);
  const { networks, selected, primary, warnings } = asked.value;
  const main = await planMain(call, known, profile, primary);
  if (!main.ok) return refuse(known, main.fault);
  const { plan: mainPlan, path } = main.value;
  const configured = await configuredNetworks(call, known, path);
  if (!configured.ok) return configured;
  const { administered, auxiliary } = configured.value;
  const counts = { configured: 1 + administered.length + auxiliary.length, selected: networks.length };
  const fewEnough = checkAttachmentCount(configuration.bounds, counts);
  if (!fewEnough.ok) return fewEnough;
  // The auxiliary chain comes last, so that it does not shift the interface names of the pod's networks.
  const nameless = [
    ...administered.map((network) => configuredAttachment(call, network)),
    ...networks.map((network) => askedAttachment(call, known, mainPlan, network, profile)),
    ...auxiliary.map((network) => configuredAttachment(call, network)),
  ];
  const names = await interfaceNames(call, mainPlan, nameless, linksBefore);
  if (!names.ok) return names;
  const attachments = await planInOrder(call, mainPlan, nameless, names.value);
  if (!attachments.ok) return refuse(known, withWarnings(attachments.fault, warnings));
  const { cluster, pod } = known;
  const whole = await completed(call.features, configuration, { cluster, pod, attachments: attachments.value, selected });
  if (!whole.ok) return refuse(known, whole.fault);
  return ok({
    attachments: whole.value.map(withDeviceInfo),
    pod: cluster === undefined || pod === undefined ? undefined : { cluster, pod, profile },
  });
}

/** The call's pod: its identity by CNI_ARGS, its annotations by the runtime or by the source of pods. */
async function findPod(call: PlanContext): Promise<Result<KnownPod>> {
  const identity = podIdentity(call.request.args);
  if (!identity.ok) return identity;
  const annotations = runtimeAnnotations(call.document);
  if (!annotations.ok) return annotations;
  const configured = await call.cluster();
  // Policies and Services select pods by their labels.
  const needsLabels = guardsPods(call.features, call.configuration);
  const cluster =
    annotations.value === undefined ? configured : withRuntimeAnnotations(configured, annotations.value, { needsLabels });
  if (cluster === undefined || identity.value === undefined) return ok({ identity: identity.value, cluster, pod: undefined });
  const { namespace, name, uid } = identity.value;
  const pod = await cluster.pod(namespace, name, { uid });
  return pod.ok ? ok({ identity: identity.value, cluster, pod: pod.value }) : pod;
}

/** The fault. If a network that the pod asks for is missing, an Event tells the pod's author. */
function refuse({ cluster, pod }: KnownPod, reason: Fault): Result<never> {
  if (tellable.includes(reason.kind) && pod !== undefined) cluster?.tell(pod, { reason: "NoNetworkFound", message: reason.msg });
  return failed(reason);
}

/** A misspelt key of the annotation, such as `namepsace`, may be the reason that a network is not found. Only the daemon's log has the warning. */
function withWarnings(reason: Fault, warnings: readonly string[]): Fault {
  if (reason.kind !== "NETWORK_NOT_FOUND" || warnings.length === 0) return reason;
  return { ...reason, msg: `${reason.msg}; annotation ${networksAnnotation}: ${warnings.slice(0, maxWarnings).join("; ")}` };
}

/** The network on the runtime's interface, which is the first attachment. */
async function planMain(
  call: PlanContext,
  { cluster, pod }: KnownPod,
  profile: NpwgProfile,
  primary: AskedNetworks["primary"],
): Promise<Result<PodDefault>> {
  const attachment = attachmentOf(call, call.request.ifname);
  const main = await planPodDefault(call, cluster, pod, attachment, profile, primary?.target);
  if (!main.ok) return main;
  const { plan, path } = main.value;
  const reserved = reservedNameFault(call, plan, { replacesDefault: plan.request !== undefined });
  return reserved === undefined ? ok({ plan: { ...plan, podNetwork: primary?.podNetwork }, path }) : failed(reserved);
}

/** The secondary networks of the configuration. */
interface ConfiguredNetworks {
  /** The networks that the administrator gives to the pod. */
  readonly administered: readonly ConfiguredNetwork[];
  /** The auxiliary chain, or nothing. */
  readonly auxiliary: readonly ConfiguredNetwork[];
}

async function configuredNetworks(
  call: PlanContext,
  { identity, pod }: KnownPod,
  defaultPath: string | undefined,
): Promise<Result<ConfiguredNetworks>> {
  const administered = await networksOfAdministrator(call, identity, pod);
  if (!administered.ok) return administered;
  const auxiliary = auxiliaryChain(call, defaultPath);
  if (!auxiliary.ok) return auxiliary;
  return ok({ administered: administered.value, auxiliary: auxiliary.value === undefined ? [] : [auxiliary.value] });
}

/** An attachment besides the first one, before it has an interface name. */
interface NamelessAttachment {
  /** The request for a name. Names are given in the order of the attachments. */
  readonly request: NameRequest;
  /** Whether the pod's request names a device. Such a request is planned first, so that no network without one takes the device. */
  readonly namesDevice: boolean;
  /** Plans the attachment under its name. */
  readonly plan: (ifname: string) => Promise<Result<AttachmentPlan>>;
}

function configuredAttachment(call: PlanContext, network: ConfiguredNetwork): NamelessAttachment {
  const conflist = selfContainedText(network.list);
  return {
    // Only a message about names shows the two: the network is in no namespace.
    request: { name: network.source, namespace: "configuration" },
    namesDevice: false,
    plan: async (ifname) => ok({ ...network, conflist, attachment: attachmentOf(call, ifname), request: undefined }),
  };
}

/** `main`: the attachment on the runtime's interface, whose network's name the asked network must not have. */
function askedAttachment(
  call: PlanContext,
  { cluster }: KnownPod,
  main: AttachmentPlan,
  { selection, addedParameters, podNetwork, claimed }: AskedNetwork,
  profile: NpwgProfile,
): NamelessAttachment {
  const plan = async (ifname: string): Promise<Result<AttachmentPlan>> => {
    if (cluster === undefined) return failed(fault("INTERNAL", "a network was selected without a source of definitions"));
    const planned = await planDefinition(call, cluster, selection, attachmentOf(call, ifname), profile, {
      addedParameters,
      claimed,
    });
    if (!planned.ok) return planned;
    const terms = { mainName: main.list.name, replacesDefault: main.request !== undefined };
    const reserved = reservedNameFault(call, planned.value, terms);
    return reserved === undefined ? ok({ ...planned.value, podNetwork }) : failed(reserved);
  };
  return { request: selection, namesDevice: selection.deviceId !== undefined, plan };
}

/** The interface names of all attachments but `main`, in their order. */
async function interfaceNames(
  call: PlanContext,
  main: AttachmentPlan,
  nameless: readonly NamelessAttachment[],
  linksBefore: () => Promise<LinksBefore>,
): Promise<Result<readonly string[]>> {
  const requests = nameless.map(({ request }) => request);
  const present = requests.length === 0 ? [] : await linkNamesWhileFindingPlugins(call, main, linksBefore);
  return assignInterfaceNames(requests, call.request.ifname, present);
}

/** All attachments in their order, `main` first. */
async function planInOrder(
  { configuration }: PlanContext,
  main: AttachmentPlan,
  nameless: readonly NamelessAttachment[],
  names: readonly string[],
): Promise<Result<readonly AttachmentPlan[]>> {
  const attachments = [main];
  for (const first of [true, false]) {
    for (const [index, { plan, namesDevice }] of nameless.entries()) {
      if (namesDevice !== first) continue;
      const planned = await plan(names[index] ?? "");
      if (!planned.ok) return planned;
      attachments[index + 1] = planned.value;
    }
  }
  for (const { source, list } of attachments) {
    const shortEnough = checkPluginCount(configuration.bounds, source, list.plugins.length);
    if (!shortEnough.ok) return shortEnough;
  }
  return ok(attachments);
}

/** The call's attachment under this interface name, without capability arguments. */
function attachmentOf({ request: { containerId, netns, args } }: PlanContext, ifname: string): Attachment {
  return { containerId, netns, args, ifname, capabilityArgs: new Map() };
}

/** The plan while Plexus is being removed: the default network alone, without a read of the pod and without a status. */
async function planRetired(call: PlanContext, profile: NpwgProfile): Promise<Result<CallPlan>> {
  const main = await planPodDefault(call, undefined, undefined, attachmentOf(call, call.request.ifname), profile);
  if (!main.ok) return main;
  return ok({ attachments: [withDeviceInfo(main.value.plan)], pod: undefined });
}

/**
 * The fault of a bound definition with the name of the pod's default network, or of the cluster's, which a pod can replace: it would use the leases
 * of that network. `mainName`: the name of the pod's default network; undefined if `plan` is that network. DEFINITION_FORBIDDEN.
 */
export function reservedNameFault(
  call: PlanContext,
  { source, list, binding }: SourcedNetwork,
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
  startFinding(call.plugins, first.list);
  // A device plugin may have moved a link in. An unreadable namespace counts as empty.
  return (await linksBefore())?.links.map(({ name }) => name) ?? [];
}
