// Plans one network that a pod selects: reads its definition and its list, and applies the pod's requests.

import type { Attachment } from "../../../src/cni/attachment.ts";
import { type CniArg, printCniArgs } from "../../../src/cni/environment.ts";
import { type NetworkList, selfContainedText } from "../../../src/cni/network-list.ts";
import { isTrustedNamespace } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { trustEverybody } from "../../../src/configuration/keys/definition-keys.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { resourceNameAnnotation, withDeviceId } from "../../../src/npwg/device-id.ts";
import { mergeParameters, type Parameter } from "../../../src/npwg/merged-definitions.ts";
import type { NetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { type DefinedNetwork, networkFor } from "../../../src/npwg/network-for-definition.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import { requestAttachment } from "../../../src/npwg/runtime-config.ts";
import { verificationOf } from "../../../src/npwg/verification.ts";
import type { DefinitionSource } from "../../cluster/cluster.ts";
import type { PlanContext } from "../call.ts";
import type { AttachmentPlan, BoundNetwork } from "../planned/attachment-plan.ts";
import type { ClaimedNetwork } from "../planned/plan-feature.ts";
import { boundNetwork, definitionNetwork } from "./named-network.ts";

/** Notes of allocators that one message has. */
const maxNotes = 4;

/** Names of definitions. */
export type Definitions = readonly { readonly namespace: string; readonly name: string }[];

/** Configuration that is added to a definition, or replaces it. */
export interface Additions {
  /** The network's parameters besides the first one (KEP-3698): they add keys to the plugins of its chain. */
  readonly addedParameters?: Definitions | undefined;
  /** The resource claim that asks for the network. */
  readonly claimed?: ClaimedNetwork | undefined;
}

/**
 * Plans the attachment of the network that `selection` names. The selection's requests are added to the capability arguments of `attachment`.
 * Faults: those of the definition, its configuration and the selection.
 */
export async function planDefinition(
  context: PlanContext,
  cluster: DefinitionSource,
  selection: NetworkSelection,
  attachment: Attachment,
  profile: NpwgProfile,
  additions: Additions = {},
): Promise<Result<AttachmentPlan>> {
  const read = await readNetwork(context, cluster, selection, additions);
  if (!read.ok) return read;
  const { annotations, list: defined, binding } = read.value;
  const { claimed } = additions;
  const verification = verificationOf(annotations);
  if (!verification.ok) return verification;
  const source = `${selection.namespace}/${selection.name}`;
  if (binding !== undefined && selection.deviceId !== undefined && resourceNameOf(annotations) === "")
    return failed(
      fault("SELECTION_INVALID", `network ${source}: deviceID ${quote(selection.deviceId, 60)}: ${unallocatedDevice}`),
    );
  const device = await deviceOf(context, annotations, selection, source);
  if (!device.ok) return device;
  const placed = claimed === undefined ? ok(defined) : claimed.place(defined);
  if (!placed.ok) return placed;
  const requested = withRequests(placed.value, selection, device.value?.deviceId, profile);
  if (!requested.ok) return requested;
  const { list, capabilityArgs } = requested.value;
  return ok({
    source,
    statusName: source,
    list,
    binding,
    conflist: selfContainedText(list),
    attachment: {
      ...attachment,
      args: context.configuration.legacyCniArgs ? withLegacyArgs(attachment.args, selection) : attachment.args,
      capabilityArgs: new Map([...attachment.capabilityArgs, ...capabilityArgs]),
    },
    request: { selection, verification: verification.value, pool: claimed?.pool },
    device: device.value,
    claim: claimed?.claim,
    claimedDevice: claimed?.device,
    annotations,
  });
}

/** The network of the selected definition, or of the claim's own list, under the rules of its namespace; and the definition's annotations. */
async function readNetwork(
  { configuration, warn }: PlanContext,
  cluster: DefinitionSource,
  { namespace, name }: NetworkSelection,
  { addedParameters = [], claimed }: Additions,
): Promise<Result<BoundNetwork & Pick<NetworkAttachmentDefinition, "annotations">>> {
  const inline = claimed?.inline;
  const definition = inline === undefined ? await cluster.networkAttachmentDefinition(namespace, name) : ok(inline);
  if (!definition.ok) return definition;
  const network = networkOf(configuration, definition.value);
  if (!network.ok) return network;
  const whole = await withParameters(configuration, cluster, { ...definition.value, list: network.value.list }, addedParameters);
  if (!whole.ok) return whole;
  const policy = claimed?.isTrusted === true ? trustEverybody : configuration.definitions;
  const bound = boundNetwork(policy, definition.value, whole.value);
  if (!bound.ok) return bound;
  // A claim's list has no object whose name it should have.
  if (inline === undefined) for (const warning of network.value.warnings) warn(warning);
  return ok({ ...bound.value, annotations: definition.value.annotations });
}

/** The list and the capability arguments with the selection's requests, and with the device in the place of the one that the selection names. */
function withRequests(
  list: NetworkList,
  selection: NetworkSelection,
  deviceId: string | undefined,
  profile: NpwgProfile,
): ReturnType<typeof requestAttachment> {
  if (deviceId === undefined) return requestAttachment(list, selection, profile);
  const requested = requestAttachment(list, { ...selection, deviceId }, profile);
  if (!requested.ok) return requested;
  const withDevice = withDeviceId(requested.value.list, deviceId);
  return withDevice.ok ? ok({ ...requested.value, list: withDevice.value }) : withDevice;
}

/** The network of the first definition with the keys that the added parameters have. */
async function withParameters(
  configuration: HostConfiguration,
  cluster: DefinitionSource,
  { namespace, name, config, list }: NetworkAttachmentDefinition & { readonly list: NetworkList },
  added: Definitions,
): Promise<Result<NetworkList>> {
  const [extra] = added;
  if (extra === undefined) return ok(list);
  // A file of the node is the administrator's: a rule of definitions lets others use the file, and does not let them change its plugins.
  if (config === undefined) {
    const why = `has no spec.config, so that ${extra.namespace}/${extra.name} cannot add keys to it; set its spec.config`;
    return failed(fault("NETWORK_INVALID", `NetworkAttachmentDefinition ${namespace}/${name} ${why}`));
  }
  const parameters: Parameter[] = [{ source: `${namespace}/${name}`, list }];
  for (const each of added) {
    const source = `${each.namespace}/${each.name}`;
    // Rules bind a network by its first definition's namespace. Keys of another namespace would pass under its rights.
    if (each.namespace !== namespace && !isTrustedNamespace(configuration.definitions, each.namespace)) {
      const why = `adds keys to ${namespace}/${name}, so its namespace must be the same, or one of definitions.trusted`;
      return failed(fault("DEFINITION_FORBIDDEN", `NetworkAttachmentDefinition ${source} ${why}`));
    }
    const definition = await cluster.networkAttachmentDefinition(each.namespace, each.name);
    if (!definition.ok) return definition;
    // Keys come from an object of the API only, never from a file of the node.
    const network =
      definition.value.config === undefined
        ? networkFor(definition.value, undefined)
        : networkOf(configuration, definition.value);
    if (!network.ok) return network;
    parameters.push({ source, list: network.value.list });
  }
  return mergeParameters(parameters);
}

/** A device plugin's allocation is the only proof that a device is the pod's: a native plugin would move any device of the node. */
const unallocatedDevice = `a device needs a definition that names its resource (annotation ${resourceNameAnnotation})`;

function resourceNameOf(annotations: ReadonlyMap<string, string>): string {
  return annotations.get(resourceNameAnnotation)?.trim() ?? "";
}

/** The network of each version of a watched definition, so that a daemon parses each version once. */
const networks = new WeakMap<NetworkAttachmentDefinition, Result<DefinedNetwork>>();

function networkOf(configuration: HostConfiguration, definition: NetworkAttachmentDefinition): Result<DefinedNetwork> {
  // A definition without a configuration means a file, which each call reads anew.
  if (definition.config === undefined) return definitionNetwork(configuration, definition);
  const known = networks.get(definition);
  if (known !== undefined) return known;
  const network = definitionNetwork(configuration, definition);
  networks.set(definition, network);
  return network;
}

/**
 * The device of the resource that the definition names. If the selection names a device, the kubelet or another allocator must have given it
 * to this pod: the annotation's author could name the device of another pod. Otherwise the pod's next allocated device is used. If none is
 * left, there is a warning, and the plugins decide whether they need a device.
 */
async function deviceOf(
  { devices, allocatorDevices, warn }: PlanContext,
  annotations: ReadonlyMap<string, string>,
  { deviceId }: NetworkSelection,
  source: string,
): Promise<Result<AttachmentPlan["device"]>> {
  const resourceName = resourceNameOf(annotations);
  if (resourceName === "") return ok(undefined);
  const allocated = await devices();
  if (!allocated.ok) return allocated;
  const next = deviceId === undefined ? allocated.value.next(resourceName) : undefined;
  if (next !== undefined) return ok({ resourceName, deviceId: next });
  // The API is asked last: a device plugin's device needs no request.
  if (deviceId !== undefined && allocated.value.isKnown && allocated.value.take(resourceName, deviceId))
    return ok({ resourceName, deviceId });
  const others = await allocatorDevices();
  if (!others.ok) return failed({ ...others.fault, msg: `network ${source}: ${others.fault.msg}` });
  const names = ["the kubelet", ...others.value.map((each) => each.allocators)];
  const allocators = `${names.join(" and ")} ${names.length === 1 ? "has" : "have"}`;
  const notes = others.value
    .flatMap((each) => each.notes)
    .slice(0, maxNotes)
    .map((note) => `; ${note}`);
  if (deviceId !== undefined) {
    const holders = others.value.length === 0 ? [allocated.value] : others.value;
    if (holders.some((each) => each.take(resourceName, deviceId))) return ok({ resourceName, deviceId });
    const why = `${allocators} not allocated it to the pod, or another of the pod's networks has it${notes.join("")}`;
    return failed(
      fault("SELECTION_INVALID", `network ${source}: deviceID ${quote(deviceId, 60)} of ${quote(resourceName, 60)}: ${why}`),
    );
  }
  for (const each of others.value) {
    const nextFurther = each.next(resourceName);
    if (nextFurther !== undefined) return ok({ resourceName, deviceId: nextFurther });
  }
  warn(
    `network ${source}: ${allocators} allocated no further device of ${resourceName} to the pod; request one per attachment${notes.join("")}`,
  );
  return ok(undefined);
}

/** CNI_ARGS with the selection's MAC and IP, as Multus sends them (deprecated since Multus 3.5). Old plugins read them there (MC-23). */
function withLegacyArgs(args: string, { mac, ips }: NetworkSelection): string {
  const legacy: CniArg[] = [];
  if (mac !== undefined) legacy.push(["MAC", mac]);
  if (ips !== undefined) legacy.push(["IP", ips.join(",")]);
  if (legacy.length === 0) return args;
  const replaced = (part: string): boolean => legacy.some(([key]) => part.startsWith(`${key}=`));
  const kept = args.split(";").filter((part) => part !== "" && !replaced(part));
  return [...kept, printCniArgs(legacy)].join(";");
}
