// The plan of an ADD, and its form for the journal. Plexus makes the whole plan before the first plugin runs.

import type { Attachment } from "../../../src/cni/attachment.ts";
import type { NetworkList, PluginConf } from "../../../src/cni/network-list.ts";
import type { CniResult, PluginResult } from "../../../src/cni/result.ts";
import type { DefinitionName } from "../../../src/configuration/definition-policy.ts";
import type { Family } from "../../../src/net/ip.ts";
import { type DeviceInfo, deviceInfoCapability, type DeviceInfoFiles, deviceInfoFiles } from "../../../src/npwg/device-info.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import type { AttachmentOrigin, ClaimedDevice, HotPlugFacts, PlannedAttachment } from "../../store/journal/entry.ts";
import type { Verification } from "../../../src/npwg/verification.ts";
import type { Cluster, Pod } from "../../cluster/cluster.ts";
import { requestsText } from "../../../src/npwg/hot-plug-difference.ts";

/** A definition whose namespace's rules bind its network. */
export interface DefinitionBinding {
  readonly definition: DefinitionName;
  /** The plugins as the definition has them, before the pod's requests are added. */
  readonly plugins: readonly PluginConf[];
}

/** The requests for an attachment that its result has to meet. */
export interface AttachmentRequest {
  readonly selection: NetworkSelection;
  /** The parts of the selection to compare. */
  readonly verification: Verification;
  /** The AddressPool of a claim. */
  readonly pool?: string | undefined;
}

/** A network's list, and the definition whose namespace's rules bind the network. */
export interface BoundNetwork {
  readonly list: NetworkList;
  /** Undefined in a network that the administrator configured. */
  readonly binding?: DefinitionBinding | undefined;
}

/** A network with its origin, for messages. */
export interface SourcedNetwork extends BoundNetwork {
  /** `default`, a configuration key, or `namespace/name` of a NetworkAttachmentDefinition. */
  readonly source: string;
}

/** One planned attachment: a network, and the pod's interface in it. */
export interface AttachmentPlan extends SourcedNetwork {
  /** The name in the pod's network status; undefined if the status has no entry for this attachment. */
  readonly statusName: string | undefined;
  /** The `prevResult` of the chain's first plugin: the runtime's for the default network, an empty result for an auxiliary chain. */
  readonly previous?: PluginResult | undefined;
  /** The attachment's PodNetwork (KEP-3698); undefined if the network is not one. */
  readonly podNetwork?: string | undefined;
  /** The device of a resource claim; undefined without one. */
  readonly claim?: ClaimedDevice | undefined;
  /** The device information of the claim's exclusive device. */
  readonly claimedDevice?: object | undefined;
  /** The annotations of the attachment's definition, for features; undefined for a network that the administrator configured. */
  readonly annotations?: ReadonlyMap<string, string> | undefined;
  /** The text of the list with all its plugins, for the journal. */
  readonly conflist: string;
  readonly attachment: Attachment;
  /**
   * The pod's selection of this network, and the requests to compare with the result. Undefined for a network that the administrator
   * configures.
   */
  readonly request: AttachmentRequest | undefined;
  /** The attachment's device. `resourceName` is the device plugin's resource in the NetworkAttachmentDefinition. */
  readonly device?: { readonly resourceName: string; readonly deviceId: string } | undefined;
  /** The device information files. Plexus prepares the attachment's file before the chain runs. */
  readonly deviceInfo?: DeviceInfoFiles | undefined;
}

/** One attachment after its ADD, with the chain's result. */
export interface Attached {
  readonly plan: AttachmentPlan;
  readonly result: PluginResult;
  readonly deviceInfo?: DeviceInfo | undefined;
}

/** The pod of a call in the cluster that knows it. `profile`: the rules for its network status. */
export interface PlannedPod {
  readonly cluster: Cluster;
  readonly pod: Pod;
  readonly profile: NpwgProfile;
}

/** The plan of one ADD. */
export interface CallPlan {
  /** The attachments in order, the default network first. Never empty. */
  readonly attachments: readonly AttachmentPlan[];
  /** The pod, for its network status and its Events; undefined if no cluster is configured or the runtime names no pod. */
  readonly pod: PlannedPod | undefined;
}

/** An attachment as the network statuses show it. */
export interface ShownAttachment {
  readonly ifname: string;
  readonly result: CniResult;
  /** The name in the network status; undefined if the status has no entry for it. */
  readonly statusName: string | undefined;
  /** The selection's `default-route`. */
  readonly defaultRoute: readonly string[] | undefined;
  readonly deviceInfo: DeviceInfo | undefined;
  readonly podNetwork: string | undefined;
  /** The families whose default gateway the pod requested from its PodNetwork. */
  readonly gatewayOf: readonly Family[] | undefined;
}

/** The attachment for the journal. `callArgs`: the call's CNI_ARGS. */
export function plannedAttachment(plan: AttachmentPlan, callArgs: string, hotPlug: HotPlugFacts | undefined): PlannedAttachment {
  const { list, attachment, source, conflist, binding, podNetwork, claim } = plan;
  return {
    network: list.name,
    ifname: attachment.ifname,
    source,
    conflist,
    capabilityArgs: Object.fromEntries(attachment.capabilityArgs),
    // MC-23.
    ...(attachment.args === callArgs ? {} : { cniArgs: attachment.args }),
    ...(binding === undefined ? {} : { definition: binding.definition }),
    ...(podNetwork === undefined ? {} : { podNetwork }),
    ...(claim === undefined ? {} : { claim }),
    ...(hotPlug === undefined ? {} : { hotPlug }),
  };
}

/** The origin of an attachment of an ADD: the pod's annotation, or none for the default network, a PodNetwork, a claim and the administrator's networks. */
export function originInAdd({ request, podNetwork, claim }: AttachmentPlan, index: number): AttachmentOrigin {
  return index === 0 || request === undefined || podNetwork !== undefined || claim !== undefined
    ? {}
    : selectedOrigin(request.selection);
}

/** The origin of an attachment that the pod's annotation selects. */
export function selectedOrigin(selection: Parameters<typeof requestsText>[0]): AttachmentOrigin {
  const name = selection.interface === undefined ? {} : { interface: selection.interface };
  return { selected: { ...name, requests: requestsText(selection) } };
}

/** The facts about an attachment that its later status and its comparison with the annotation need. */
export function hotPlugFacts({ statusName, request, podNetwork }: AttachmentPlan, origin: AttachmentOrigin): HotPlugFacts {
  const { defaultRoute, defaultRouteFamilies } = request?.selection ?? {};
  return {
    ...origin,
    ...(statusName === undefined ? {} : { statusName }),
    ...(defaultRoute === undefined ? {} : { defaultRoute }),
    ...(podNetwork === undefined ? {} : { podNetwork }),
    ...(defaultRouteFamilies === undefined ? {} : { gatewayOf: defaultRouteFamilies }),
  };
}

/** The plan with a device information file, if the attachment has a device or a plugin asks for the file (DI-07). */
export function withDeviceInfo(plan: AttachmentPlan): AttachmentPlan {
  const { attachment, device, list, claimedDevice } = plan;
  // A file that the runtime names is the runtime's own.
  if (attachment.capabilityArgs.has(deviceInfoCapability)) return plan;
  const files = deviceInfoFiles({
    capabilities: list.plugins.flatMap((plugin) => plugin.capabilities),
    containerId: attachment.containerId,
    ifname: attachment.ifname,
    resourceName: device?.resourceName,
    deviceId: device?.deviceId,
    content: claimedDevice === undefined ? undefined : JSON.stringify(claimedDevice),
  });
  if (files === undefined) return plan;
  const capabilityArgs = new Map([...attachment.capabilityArgs, [deviceInfoCapability, JSON.stringify(files.path)]]);
  return { ...plan, attachment: { ...attachment, capabilityArgs }, deviceInfo: files };
}
