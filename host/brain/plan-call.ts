// Plans an ADD: the default network and what the pod selects, each with its list, its interface name and its capability
// arguments. Reads definitions; changes nothing.

import type { Attachment } from "../../src/cni/attachment.ts";
import { selfContainedText, type NetworkList } from "../../src/cni/network-list.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { defaultNetworkCapabilityArgs } from "../../src/npwg/capability-args.ts";
import { assignInterfaceNames, type NameRequest } from "../../src/npwg/interface-names.ts";
import type { NetworkSelection } from "../../src/npwg/network-selection.ts";
import { networkFor } from "../../src/npwg/network-for-definition.ts";
import { type NpwgProfile, profileNamed } from "../../src/npwg/profile.ts";
import { requestAttachment } from "../../src/npwg/runtime-config.ts";
import { networksAnnotation, parseSelection } from "../../src/npwg/selection.ts";
import { verificationOf } from "../../src/npwg/verification.ts";
import type { Cluster, Pod } from "../cluster/cluster.ts";
import type { AttachmentPlan, CallPlan } from "./attachment-plan.ts";
import type { CallContext } from "./call-context.ts";
import { readDefaultNetwork, readFurtherDelegates } from "./default-network.ts";
import { callArgs, podIdentity } from "./pod-identity.ts";
import { readConfigurationDirectory } from "../files/configuration-directory.ts";
import { publishStatus } from "./publish-status.ts";

/** The plan of this call's ADD. Where no source of pods is configured: default network only. */
export async function planCall(context: CallContext): Promise<Result<CallPlan>> {
  const { call, configuration, document } = context;
  const profile = profileOf(configuration);
  const cluster = await context.cluster();
  const named = podIdentity(call.args);
  if (!named.ok) return named;
  const identity = named.value;

  const defaultNetwork = readDefaultNetwork(document, configuration);
  if (!defaultNetwork.ok) return defaultNetwork;
  const further = readFurtherDelegates(document, configuration);
  if (!further.ok) return further;
  const pod =
    cluster === undefined || identity === undefined
      ? ok(undefined)
      : await cluster.pod(identity.namespace, identity.name, { uid: identity.uid });
  if (!pod.ok) return pod;
  const selection = selectionOf(context, pod.value, profile);
  if (!selection.ok) return selection;

  const requests: NameRequest[] = [
    ...further.value.map((list) => ({ name: list.name, namespace: "delegates" })),
    ...selection.value,
  ];
  const names = assignInterfaceNames(requests, call.ifname);
  if (!names.ok) return names;

  const runtimeArgs = defaultNetworkCapabilityArgs(document);
  if (!runtimeArgs.ok) return runtimeArgs;
  const attachments: AttachmentPlan[] = [];
  const base = { containerId: call.containerId, netns: call.netns, args: callArgs(call.args) };
  attachments.push(plain("default", defaultNetwork.value, { ...base, ifname: call.ifname, capabilityArgs: runtimeArgs.value }));
  for (const [index, list] of further.value.entries()) {
    const ifname = names.value[index] ?? "";
    attachments.push(plain(`delegates[${index + 1}]`, list, { ...base, ifname, capabilityArgs: new Map() }));
  }
  for (const [index, each] of selection.value.entries()) {
    if (cluster === undefined) break;
    const ifname = names.value[further.value.length + index] ?? "";
    const planned = await planSelected(context, cluster, each, { ...base, ifname, capabilityArgs: new Map() }, profile);
    if (!planned.ok) return planned;
    attachments.push(planned.value);
  }
  return ok({
    attachments,
    publish: (attached) => publishStatus(cluster, pod.value, attached, profile),
  });
}

/** The profile, with what the configuration says otherwise. */
function profileOf({ profile, invalidAnnotation }: HostConfiguration): NpwgProfile {
  const named = profileNamed(profile);
  return invalidAnnotation === undefined ? named : { ...named, invalidAnnotation };
}

function selectionOf(context: CallContext, pod: Pod | undefined, profile: NpwgProfile): Result<readonly NetworkSelection[]> {
  if (pod === undefined) return ok([]);
  const selection = parseSelection(pod.annotations.get(networksAnnotation), pod.namespace, profile);
  if (!selection.ok) return selection;
  for (const warning of selection.value.warnings) context.warn(warning);
  return ok(selection.value.networks);
}

function plain(source: string, list: NetworkList, attachment: Attachment): AttachmentPlan {
  return { source, list, conflist: selfContainedText(list), attachment, request: undefined };
}

async function planSelected(
  context: CallContext,
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
  const network = networkFor(definition.value, directory.value);
  if (!network.ok) return network;
  for (const warning of network.value.warnings) context.warn(warning);
  const verification = verificationOf(definition.value.annotations);
  if (!verification.ok) return verification;
  const requested = requestAttachment(network.value.list, selection, profile);
  if (!requested.ok) return failed(requested.fault);
  const { list: asked, capabilityArgs } = requested.value;
  return ok({
    source: `${selection.namespace}/${selection.name}`,
    list: asked,
    conflist: selfContainedText(asked),
    attachment: { ...attachment, capabilityArgs },
    request: { selection, verification: verification.value },
  });
}
