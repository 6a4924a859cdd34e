// A pod's secondary networks (NPWG 4.1): those besides the default network. A pod asks for some by features (PodNetworks), by its annotation, and by its resource claims, in this order. The
// administrator gives others to pods: the elements of `delegates` after the first, `defaultNetworks`, and the auxiliary chain.

import { dirname, join } from "node:path";
import { filesWith } from "../../../src/cni/config-directory.ts";
import { type NetworkList, parseNetworkList } from "../../../src/cni/network-list.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { PluginResult } from "../../../src/cni/result.ts";
import { toVersion, versionAtLeast } from "../../../src/cni/versions.ts";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import type { PodIdentity } from "../../../src/kube/pod-identity.ts";
import { defaultNetworksAnnotation } from "../../../src/npwg/extension-keys.ts";
import { checkNamespace } from "../../../src/npwg/namespace-policy.ts";
import type { NetworkSelection, PodSelection } from "../../../src/npwg/network-selection.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import { networksAnnotation, parseSelection } from "../../../src/npwg/selection.ts";
import type { Pod, Cluster } from "../../cluster/cluster.ts";
import { readConfigurationDirectory, withSubdirectoryPlugins } from "../../store/files/configuration-directory.ts";
import type { PlanContext } from "../call.ts";
import { claimedNetworks, selectedNetworks } from "../planned/feature-hooks.ts";
import type { ClaimedNetwork, SelectedNetworks } from "../planned/plan-feature.ts";
import { readOtherDelegates } from "./default-network.ts";
import { namedNetwork } from "./named-network.ts";
import type { Definitions } from "./plan-definition.ts";

/** A network that the administrator gives to a pod. The fields mean the same as in `AttachmentPlan`. */
export interface ConfiguredNetwork {
  readonly source: string;
  readonly statusName: string | undefined;
  readonly list: NetworkList;
  readonly previous?: PluginResult;
}

/** The networks that the administrator gives to the pod, in the order in which they are attached. */
export async function networksOfAdministrator(
  call: PlanContext,
  identity: PodIdentity | undefined,
  pod: Pod | undefined,
): Promise<Result<readonly ConfiguredNetwork[]>> {
  const delegates = readOtherDelegates(call);
  if (!delegates.ok) return delegates;
  const networks: ConfiguredNetwork[] = delegates.value.map((list, index) => ({
    source: `delegates[${index + 1}]`,
    statusName: list.name,
    list,
  }));
  const named = namesFor(call, identity, pod);
  if (!named.ok) return named;
  for (const [index, name] of named.value.entries()) {
    const network = await namedNetwork(call, `defaultNetworks[${index}]`, name);
    if (!network.ok) return network;
    networks.push({ ...network.value, source: network.value.defined ? network.value.statusName : `defaultNetworks[${index}]` });
  }
  return ok(networks);
}

/**
 * The names in `defaultNetworks` for this pod. A container that is not a pod gets none: nothing distinguishes it from a system
 * container.
 */
function namesFor(
  { configuration }: PlanContext,
  identity: PodIdentity | undefined,
  pod: Pod | undefined,
): Result<readonly string[]> {
  const annotation = pod?.annotations.get(defaultNetworksAnnotation);
  if (annotation !== undefined && annotation !== "none") {
    return failed(
      fault("SELECTION_INVALID", `annotation ${defaultNetworksAnnotation} can be "none" only, but is ${quote(annotation, 60)}`),
    );
  }
  const none = annotation === "none" || identity === undefined || configuration.systemNamespaces.includes(identity.namespace);
  return ok(none ? [] : configuration.defaultNetworks);
}

/**
 * The auxiliary chain: the files in the directory `auxiliaryCNIChainName` beside the default network's file; undefined if there are
 * none. Multus begins this chain with a plugin that prints an empty result. Here the chain begins with an empty `prevResult`.
 */
export function auxiliaryChain(
  { configuration }: PlanContext,
  defaultPath: string | undefined,
): Result<ConfiguredNetwork | undefined> {
  const name = configuration.auxiliaryCNIChainName;
  if (name === undefined || defaultPath === undefined) return ok(undefined);
  const directory = readConfigurationDirectory(join(dirname(defaultPath), name));
  if (!directory.ok) return directory;
  if (filesWith([".conf"], directory.value.files).length === 0) return ok(undefined);
  const { cniVersion } = configuration;
  const frame = parseNetworkList(JSON.stringify({ cniVersion, name }), "auxiliaryCNIChainName");
  const list = frame.ok ? withSubdirectoryPlugins(frame.value, defaultPath) : frame;
  if (!list.ok) return list;
  const previous = emptyResult(cniVersion);
  return previous.ok ? ok({ source: name, statusName: undefined, list: list.value, previous: previous.value }) : previous;
}

function emptyResult(cniVersion: string): Result<PluginResult> {
  const version = toVersion(cniVersion);
  if (!version.ok) return version;
  const lists = versionAtLeast(cniVersion, "0.3.0");
  if (!lists.ok) return lists;
  const empty = lists.value ? { cniVersion, interfaces: [], ips: [], routes: [], dns: {} } : { cniVersion, dns: {} };
  return readResult(JSON.stringify(empty), version.value, "empty result");
}

/** The pod of a call, as far as it is known. */
export interface KnownPod {
  /** Undefined if the runtime names no pod. */
  readonly identity: PodIdentity | undefined;
  /** Undefined without a source of pods and definitions. */
  readonly cluster: Cluster | undefined;
  /** Undefined if one of the others is. */
  readonly pod: Pod | undefined;
}

/** A network that the pod asks for. */
export interface AskedNetwork {
  readonly selection: NetworkSelection;
  /** The network's parameters besides the first one (KEP-3698): they add keys to the plugins of its chain. */
  readonly addedParameters?: Definitions | undefined;
  /** The attachment's PodNetwork (KEP-3698). */
  readonly podNetwork?: string | undefined;
  /** The resource claim that asks for the network. */
  readonly claimed?: ClaimedNetwork | undefined;
}

/** All networks that the pod asks for. */
export interface AskedNetworks {
  /** The network on the runtime's interface, if a feature chooses it. */
  readonly primary: SelectedNetworks["primary"] | undefined;
  /** The other networks, in the order in which they are attached. */
  readonly networks: readonly AskedNetwork[];
  /** The networks of the annotation `k8s.v1.cni.cncf.io/networks`, which are among `networks`. */
  readonly selected: readonly NetworkSelection[];
  /** Warnings about that annotation. */
  readonly warnings: PodSelection["warnings"];
}

/** Reads the pod's annotations and claims. Faults: SELECTION_INVALID, NETWORK_FORBIDDEN, and those of features. */
export async function askedNetworks(
  call: PlanContext,
  { cluster, pod }: KnownPod,
  profile: NpwgProfile,
): Promise<Result<AskedNetworks>> {
  const selected = selectionOf(call, pod, profile);
  if (!selected.ok) return selected;
  const ofFeature = await selectedNetworks(call.features, call, cluster, pod);
  if (!ofFeature.ok) return ofFeature;
  const { primary, secondary = [] } = ofFeature.value ?? {};
  const claimed = await claimedNetworks(call.features, call, cluster, pod);
  if (!claimed.ok) return claimed;
  const twice = usedTwice([primary?.podNetwork, ...secondary.map(({ podNetwork }) => podNetwork)], claimed.value);
  if (twice !== undefined) return failed(twice);
  const networks: readonly AskedNetwork[] = [
    ...secondary.map(({ selection, definitions, podNetwork }) => ({
      selection,
      addedParameters: definitions.slice(1),
      podNetwork,
    })),
    ...selected.value.networks.map((selection) => ({ selection })),
    ...claimed.value.map((claim) => {
      const { selection, addedParameters, podNetwork } = claim;
      return { selection, addedParameters, podNetwork, claimed: claim };
    }),
  ];
  const { networks: ofAnnotation, warnings } = selected.value;
  return ok({ primary, networks, selected: ofAnnotation, warnings });
}

function selectionOf(call: PlanContext, pod: Pod | undefined, profile: NpwgProfile): Result<PodSelection> {
  if (pod === undefined) return ok({ networks: [], warnings: [] });
  const selection = parseSelection(pod.annotations.get(networksAnnotation), pod.namespace, profile);
  if (!selection.ok) return selection;
  for (const warning of selection.value.warnings) call.warn(warning);
  for (const network of selection.value.networks) {
    const allowed = checkNamespace(call.configuration, pod.namespace, network, "network");
    if (!allowed.ok) return allowed;
  }
  return selection;
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
