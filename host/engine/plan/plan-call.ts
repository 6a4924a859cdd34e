// Plans an ADD: the default network, what the administrator gives every pod besides, and what the pod selects, each with its
// list, its interface name and its capability arguments. Reads definitions; attaches nothing.

import { selfContainedText } from "../../src/cni/network-list.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { assignInterfaceNames } from "../../src/npwg/interface-names.ts";
import { checkNamespace } from "../../src/npwg/namespace-policy.ts";
import type { NetworkSelection } from "../../src/npwg/network-selection.ts";
import { type NpwgProfile, profileNamed } from "../../src/npwg/profile.ts";
import { networksAnnotation, parseSelection } from "../../src/npwg/selection.ts";
import type { Pod } from "../cluster/cluster.ts";
import { withDeviceInfo } from "./attachment-device.ts";
import { runtimeAnnotations, withRuntimeAnnotations } from "../cluster/runtime-pods.ts";
import type { AttachmentPlan, CallPlan } from "./attachment-plan.ts";
import type { CallContext } from "./call-context.ts";
import { auxiliaryChain, furtherNetworks } from "./further-networks.ts";
import { planDefinition } from "./plan-definition.ts";
import { planPodDefault } from "./pod-default.ts";
import { callArgs, podIdentity } from "./pod-identity.ts";
import { publishStatus } from "./publish-status.ts";
import { typesOf } from "./require-plugins.ts";

/** The plan of this call's ADD. Where no source of pods is configured: the administrator's networks only. */
export async function planCall(context: CallContext): Promise<Result<CallPlan>> {
  const { call, configuration } = context;
  const profile = profileOf(configuration);
  const identity = podIdentity(call.args);
  if (!identity.ok) return identity;
  const given = runtimeAnnotations(context.document);
  if (!given.ok) return given;
  const configured = await context.cluster();
  const cluster = given.value === undefined ? configured : withRuntimeAnnotations(configured, given.value);
  const pod =
    cluster === undefined || identity.value === undefined
      ? ok(undefined)
      : await cluster.pod(identity.value.namespace, identity.value.name, { uid: identity.value.uid });
  if (!pod.ok) return pod;
  const selected = selectionOf(context, pod.value, profile);
  if (!selected.ok) return selected;

  const missingNetwork = (fault: Fault): Result<never> => {
    if (fault.kind === "NETWORK_NOT_FOUND" && pod.value !== undefined)
      cluster?.tell(pod.value, { reason: "NoNetworkFound", message: fault.msg });
    return failed(fault);
  };
  const base = { containerId: call.containerId, netns: call.netns, args: callArgs(call.args), capabilityArgs: new Map() };
  const main = await planPodDefault(context, cluster, pod.value, { ...base, ifname: call.ifname }, profile);
  if (!main.ok) return missingNetwork(main.fault);
  const further = await furtherNetworks(context, identity.value, pod.value);
  if (!further.ok) return further;
  const auxiliary = auxiliaryChain(context, main.value.path);
  if (!auxiliary.ok) return auxiliary;
  const last = auxiliary.value === undefined ? [] : [auxiliary.value];

  // The auxiliary chain comes last, so that it takes no name that a pod's network would have without it.
  const administrators = (list: typeof further.value): { readonly name: string; readonly namespace: string }[] =>
    list.map(({ source }) => ({ name: source, namespace: "configuration" }));
  const requests = [...administrators(further.value), ...selected.value, ...administrators(last)];
  const present = requests.length === 0 ? [] : await presentLinks(context, main.value.plan);
  const names = assignInterfaceNames(requests, call.ifname, present);
  if (!names.ok) return names;
  const free = names.value[Symbol.iterator]();
  const nextName = (): string => free.next().value ?? "";

  const attachments: AttachmentPlan[] = [main.value.plan];
  const addOwn = (networks: typeof further.value): void => {
    for (const network of networks) {
      const attachment = { ...base, ifname: nextName() };
      attachments.push({ ...network, conflist: selfContainedText(network.list), attachment, request: undefined });
    }
  };
  addOwn(further.value);
  for (const selection of selected.value) {
    if (cluster === undefined) break;
    const planned = await planDefinition(context, cluster, selection, { ...base, ifname: nextName() }, profile);
    if (!planned.ok) return missingNetwork(planned.fault);
    attachments.push(planned.value);
  }
  addOwn(last);
  return ok({
    attachments: attachments.map(withDeviceInfo),
    publish: (attached) => publishStatus(cluster, pod.value, attached, profile),
  });
}

/**
 * Names of the links that the pod's namespace has already: a device plugin may have moved one in. A namespace that can't be
 * looked at has none that are known; whether an ADD can do without it is for its plugins to say. With this question the hands get those for
 * the plugins of the `first` network, which come next: each time that they are asked anew costs a wake-up of both sides.
 */
async function presentLinks({ hands, call, plugins }: CallContext, first: AttachmentPlan): Promise<readonly string[]> {
  const { listLinks } = await import("../netlink/operations.ts");
  // Who needs the answer hears of a failure.
  for (const type of typesOf(first)) plugins.find(type).catch(() => undefined);
  const links = await listLinks(hands, call.netns);
  return links.ok ? links.value.map(({ name }) => name) : [];
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
  for (const network of selection.value.networks) {
    const allowed = checkNamespace(context.configuration, pod.namespace, network, "network");
    if (!allowed.ok) return allowed;
  }
  return ok(selection.value.networks);
}
