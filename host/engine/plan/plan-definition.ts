// One network that a pod selects, planned: its definition, its list, what the pod asks of it.

import type { Attachment } from "../../src/cni/attachment.ts";
import type { CniArg } from "../../src/cni/args.ts";
import type { ConfigDirectory } from "../../src/cni/config-directory.ts";
import { selfContainedText } from "../../src/cni/network-list.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { quote } from "../../src/json/quote.ts";
import { resourceNameAnnotation, withDeviceId } from "../../src/npwg/device-id.ts";
import type { NetworkAttachmentDefinition } from "../../src/npwg/network-attachment-definition.ts";
import { type DefinedNetwork, networkFor } from "../../src/npwg/network-for-definition.ts";
import type { NetworkSelection } from "../../src/npwg/network-selection.ts";
import type { NpwgProfile } from "../../src/npwg/profile.ts";
import { requestAttachment } from "../../src/npwg/runtime-config.ts";
import { verificationOf } from "../../src/npwg/verification.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { readConfigurationDirectory } from "../files/configuration-directory.ts";
import type { AttachmentPlan } from "./attachment-plan.ts";
import type { CallContext } from "./call-context.ts";

/** The attachment of what `selection` names; what it asks for is added to the capability arguments of `attachment`. */
export async function planDefinition(
  context: Pick<CallContext, "configuration" | "devices" | "warn">,
  cluster: Cluster,
  selection: NetworkSelection,
  attachment: Attachment,
  profile: NpwgProfile,
): Promise<Result<AttachmentPlan>> {
  const definition = await cluster.networkAttachmentDefinition(selection.namespace, selection.name);
  if (!definition.ok) return definition;
  // Only a definition without a configuration of its own is looked up on disk (N1-10).
  const directory =
    definition.value.config === undefined ? readConfigurationDirectory(context.configuration.confDir) : ok(undefined);
  if (!directory.ok) return directory;
  const network = networkOf(definition.value, directory.value);
  if (!network.ok) return network;
  for (const warning of network.value.warnings) context.warn(warning);
  const verification = verificationOf(definition.value.annotations);
  if (!verification.ok) return verification;
  const source = `${selection.namespace}/${selection.name}`;
  const used = await deviceOf(context, definition.value.annotations, selection, source);
  if (!used.ok) return used;
  const device = used.value;
  const asked = device === undefined ? selection : { ...selection, deviceId: device.deviceId };
  const requested = requestAttachment(network.value.list, asked, profile);
  if (!requested.ok) return requested;
  const { capabilityArgs } = requested.value;
  const told = device === undefined ? ok(requested.value.list) : withDeviceId(requested.value.list, device.deviceId);
  if (!told.ok) return told;
  const list = told.value;
  return ok({
    source,
    statusName: source,
    list,
    conflist: selfContainedText(list),
    attachment: {
      ...attachment,
      args: context.configuration.legacyCniArgs ? withLegacyArgs(attachment.args, selection) : attachment.args,
      capabilityArgs: new Map([...attachment.capabilityArgs, ...capabilityArgs]),
    },
    request: { selection, verification: verification.value },
    device,
  });
}

/** What a definition that is watched means is worked out once for each of its versions. */
const networks = new WeakMap<NetworkAttachmentDefinition, Result<DefinedNetwork>>();

function networkOf(definition: NetworkAttachmentDefinition, directory: ConfigDirectory | undefined): Result<DefinedNetwork> {
  // Files are read anew by each call.
  if (definition.config === undefined) return networkFor(definition, directory);
  const known = networks.get(definition);
  if (known !== undefined) return known;
  const network = networkFor(definition, directory);
  networks.set(definition, network);
  return network;
}

/**
 * The device of the resource that the definition names: the one that the selection names, which must be the pod's (the annotation
 * is its author's, the device may be another pod's), else the next that the kubelet allocated to the pod. Where there is none the plugins have to say whether they can do without.
 */
async function deviceOf(
  { devices, warn }: Pick<CallContext, "devices" | "warn">,
  annotations: ReadonlyMap<string, string>,
  { deviceId }: NetworkSelection,
  source: string,
): Promise<Result<AttachmentPlan["device"]>> {
  const resourceName = annotations.get(resourceNameAnnotation)?.trim() ?? "";
  if (resourceName === "") return ok(undefined);
  const allocated = await devices();
  if (!allocated.ok) return allocated;
  if (deviceId !== undefined) {
    if (allocated.value.take(resourceName, deviceId)) return ok({ resourceName, deviceId });
    const why = `the kubelet has not allocated it to the pod, or another of the pod's networks has it`;
    return failed(
      fault("SELECTION_INVALID", `network ${source}: deviceID ${quote(deviceId, 60)} of ${quote(resourceName, 60)}: ${why}`),
    );
  }
  const next = allocated.value.next(resourceName);
  if (next !== undefined) return ok({ resourceName, deviceId: next });
  warn(`network ${source}: the kubelet has given the pod no device of ${resourceName} that is left`);
  return ok(undefined);
}

/** What Multus puts into CNI_ARGS, deprecated since its 3.5: plugins of that time read it there (MC-23). */
function withLegacyArgs(args: readonly CniArg[], { mac, ips }: NetworkSelection): readonly CniArg[] {
  const legacy: CniArg[] = [];
  if (mac !== undefined) legacy.push(["MAC", mac]);
  if (ips !== undefined) legacy.push(["IP", ips.join(",")]);
  const given = new Set(legacy.map(([key]) => key));
  return [...args.filter(([key]) => !given.has(key)), ...legacy];
}
