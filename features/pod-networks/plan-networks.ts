// The PodNetworks of a pod (KEP-3698) as selections of definitions, which the planner attaches like those of the NPWG's annotation.

import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { checkNamespace, type NamespacePolicy } from "../../src/npwg/namespace-policy.ts";
import { quote } from "../../src/json/quote.ts";
import { networksLabel } from "../../src/npwg/pod.ts";
import type { NetworkSelection } from "../../src/npwg/network-selection.ts";
import type { PodNetwork, PodNetworkAttachment } from "./rules/objects.ts";
import { waitReason } from "./rules/pod-readiness.ts";
import { defaultPodNetwork, podNetworkEntry, type PodNetworkEntry, readPodNetworks } from "./rules/pod-networks.ts";
import { podNetworksAnnotation } from "./rules/annotations.ts";
import { definitionOf, refProblem } from "./rules/provider.ts";
import type { FeatureObjects, Pod } from "../../host/cluster/cluster.ts";
import type { PodNetworkSource } from "./api-source.ts";
import { podNetworkObjects } from "./pod-network-objects.ts";
import type { SelectedNetwork, SelectedNetworks } from "../../host/engine/planned/plan-feature.ts";

/** The part of a call that a pod's PodNetworks need. */
export interface PodNetworksContext {
  readonly configuration: NamespacePolicy & Pick<HostConfiguration, "podNetworks" | "systemNamespaces">;
  readonly warn: (text: string) => void;
}

/**
 * The pod's PodNetworks, in the order of its list, which is complete; undefined if the key podNetworks is off and the pod names none, or the call
 * has no pod of the API. Faults: SELECTION_INVALID; POD_NETWORK_NOT_READY with the KEP's reason; NETWORK_FORBIDDEN; those of the API.
 */
export async function podNetworksOf(
  { configuration, warn }: PodNetworksContext,
  cluster: FeatureObjects | undefined,
  pod: Pod | undefined,
): Promise<Result<SelectedNetworks | undefined>> {
  if (!configuration.podNetworks && pod?.hasNetworksLabel === true) return failed(notSwitchedOn(pod));
  if (!configuration.podNetworks || pod === undefined) return ok(undefined);
  const source = await cluster?.objects?.(podNetworkObjects);
  if (source === undefined) return ok(undefined);
  const entries = readPodNetworks(pod.annotations.get(podNetworksAnnotation));
  if (!entries.ok) return entries;
  const clusterDefault = { primary: { podNetwork: defaultPodNetwork, target: undefined }, secondary: [] };
  // The controller itself, and what it needs, must start whatever state the default PodNetwork is in.
  const isSystem = configuration.systemNamespaces.includes(pod.namespace);
  if (isSystem && namesOnlyDefault(entries.value)) return ok(clusterDefault);
  const objects = await readObjects(source, entries.value, pod.namespace);
  if (!objects.ok) return objects;
  const { networks, attachments } = objects.value;
  const missing = namesOnlyDefault(entries.value) ? missingDefault(networks.get(defaultPodNetwork)) : undefined;
  if (missing !== undefined) {
    // Pods that name nothing must start without the controller, which may itself be such a pod.
    warn(`PodNetwork "${defaultPodNetwork}" ${missing}: the pod gets the cluster's default network`);
    return ok(clusterDefault);
  }
  const reason = waitReason(entries.value, {
    network: (name) => networks.get(name),
    attachment: (name) => attachments.get(name),
  });
  if (reason !== undefined) return failed(fault("POD_NETWORK_NOT_READY", reason));
  const targets: (SelectedNetwork | undefined)[] = [];
  for (const entry of entries.value) {
    const target = targetOf(entry, objects.value, pod.namespace, configuration);
    if (!target.ok) return target;
    targets.push(target.value);
  }
  return ok(arranged(entries.value, targets, objects.value));
}

/**
 * The PodNetwork of this name for a resource claim of the pod, by the rules of the pod's own list. Faults: POD_NETWORK_NOT_READY with the KEP's reason, and
 * those of the API.
 */
export async function podNetworkNamed(
  { configuration }: PodNetworksContext,
  cluster: FeatureObjects | undefined,
  pod: Pod,
  name: string,
): Promise<Result<SelectedNetwork>> {
  const what = `PodNetwork ${quote(name, 60)}`;
  if (!configuration.podNetworks) return notReady(`${what}: the key podNetworks is off in this node's configuration`);
  const source = await cluster?.objects?.(podNetworkObjects);
  if (source === undefined) return notReady(`${what} needs the Kubernetes API (kubeconfig)`);
  const entry = podNetworkEntry(name);
  const objects = await readObjects(source, [entry], pod.namespace);
  if (!objects.ok) return objects;
  const { networks, attachments } = objects.value;
  const reason = waitReason([entry], {
    network: (each) => networks.get(each),
    attachment: (each) => attachments.get(each),
  });
  if (reason !== undefined) return notReady(reason);
  const target = targetOf(entry, objects.value, pod.namespace, configuration);
  if (!target.ok || target.value !== undefined) return target as Result<SelectedNetwork>;
  return notReady(`${what} is the cluster's default network, which a claim cannot attach`);
}

function notReady(why: string): Result<never> {
  return failed(fault("POD_NETWORK_NOT_READY", why));
}

/** A node whose configuration is older than the cluster's must not start the pod without its networks. */
function notSwitchedOn({ namespace, name }: Pod): Fault {
  const problem = `pod ${namespace}/${name} has the label ${networksLabel}, but the key podNetworks is off in this node's configuration`;
  return fault(
    "POD_NETWORK_NOT_READY",
    `${problem}: switch it on, or wait until the daemon of the new release has written its configuration`,
  );
}

interface Objects {
  readonly networks: ReadonlyMap<string, PodNetwork>;
  /** Attachments of the pod's namespace. */
  readonly attachments: ReadonlyMap<string, PodNetworkAttachment>;
}

async function readObjects(
  source: PodNetworkSource,
  entries: readonly PodNetworkEntry[],
  namespace: string,
): Promise<Result<Objects>> {
  const networks = new Map<string, PodNetwork>();
  const attachments = new Map<string, PodNetworkAttachment>();
  for (const { kind, name } of entries) {
    let networkName = name;
    if (kind === "PodNetworkAttachment") {
      const attachment = await source.attachment(namespace, name);
      if (!attachment.ok) return attachment;
      if (attachment.value === undefined) continue;
      attachments.set(name, attachment.value);
      networkName = attachment.value.podNetworkName;
    }
    const network = await source.network(networkName);
    if (!network.ok) return network;
    if (network.value !== undefined) networks.set(networkName, network.value);
  }
  return ok({ networks, attachments });
}

/** The target of an entry; undefined for the default PodNetwork without parameters, which is the cluster's default network. */
function targetOf(
  entry: PodNetworkEntry,
  { networks, attachments }: Objects,
  podNamespace: string,
  policy: NamespacePolicy,
): Result<SelectedNetwork | undefined> {
  const attachment = entry.kind === "PodNetworkAttachment" ? attachments.get(entry.name) : undefined;
  const podNetwork = attachment?.podNetworkName ?? entry.name;
  const refs = [
    ...(networks.get(podNetwork)?.parametersRefs ?? []).map((ref) => ({ ref, own: "" })),
    ...(attachment?.parametersRefs ?? []).map((ref) => ({ ref, own: podNamespace })),
  ];
  for (const [index, { ref, own }] of refs.entries()) {
    const problem = refProblem(ref, `PodNetwork "${podNetwork}": parameter ${index}`, own);
    if (problem !== undefined) return failed(fault("POD_NETWORK_NOT_READY", problem));
    // The PodNetwork's parameters are the administrator's choice. Those of an attachment are the choice of the pod's namespace.
    const allowed = own === "" ? ok(undefined) : checkNamespace(policy, podNamespace, definitionOf(ref, own), "network");
    if (!allowed.ok) return failed({ ...allowed.fault, msg: `PodNetworkAttachment "${entry.name}": ${allowed.fault.msg}` });
  }
  const [first, ...others] = refs.map(({ ref, own }) => definitionOf(ref, own));
  // Only the default PodNetwork is Ready for a pod without parameters.
  if (first === undefined) return ok(undefined);
  return ok({ podNetwork, selection: selectionOf(entry, first), definitions: [first, ...others] });
}

function selectionOf(
  { interfaceName, isDefaultGw4, isDefaultGw6 }: PodNetworkEntry,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): NetworkSelection {
  const base = { name, namespace, interface: interfaceName, extensions: new Map<string, string>() };
  if (!isDefaultGw4 && !isDefaultGw6) return base;
  // An empty list keeps the gateways that the network's plugins set.
  const families = [...(isDefaultGw4 ? [4 as const] : []), ...(isDefaultGw6 ? [6 as const] : [])];
  return { ...base, defaultRoute: [], defaultRouteFamilies: families };
}

/** The entry for the runtime's interface: the default PodNetwork if the list has it, else the first. */
function arranged(
  entries: readonly PodNetworkEntry[],
  targets: readonly (SelectedNetwork | undefined)[],
  { attachments }: Objects,
): SelectedNetworks {
  const networkOf = ({ kind, name }: PodNetworkEntry): string =>
    (kind === "PodNetworkAttachment" ? attachments.get(name)?.podNetworkName : undefined) ?? name;
  const names = entries.map(networkOf);
  const ofDefault = names.indexOf(defaultPodNetwork);
  const index = Math.max(0, ofDefault);
  const secondary = targets.filter((target, each): target is SelectedNetwork => each !== index && target !== undefined);
  return { primary: { podNetwork: names[index] ?? defaultPodNetwork, target: targets[index] }, secondary };
}

/**
 * Why the default PodNetwork counts as missing; undefined if it does not. Pods with further networks can hold its deletion up for long, and
 * pods that name nothing must start meanwhile. One with parameters is not the cluster's default network, so that its pods wait.
 */
function missingDefault(network: PodNetwork | undefined): string | undefined {
  if (network === undefined) return "not found";
  return network.isDeleted && network.enabled && network.parametersRefs.length === 0 ? "is being deleted" : undefined;
}

function namesOnlyDefault(entries: readonly PodNetworkEntry[]): boolean {
  return entries.length === 1 && entries[0]?.kind === "PodNetwork" && entries[0].name === defaultPodNetwork;
}
