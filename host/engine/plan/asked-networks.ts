// The networks that a pod asks for besides the default network: by features (PodNetworks), by its annotation, and by its resource claims, in this order.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import type { PodIdentity } from "../../../src/kube/pod-identity.ts";
import { checkNamespace } from "../../../src/npwg/namespace-policy.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import { networksAnnotation, parseSelection } from "../../../src/npwg/selection.ts";
import type { Cluster, Pod } from "../../cluster/cluster.ts";
import type { PlanContext } from "../call.ts";
import { claimedNetworks, selectedNetworks } from "../planned/feature-hooks.ts";
import type { ClaimedNetwork, SelectedNetworks } from "../planned/plan-feature.ts";
import type { Definitions } from "./plan-definition.ts";

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
  /** Definitions that add keys to the plugins of the network's chain. */
  readonly further?: Definitions | undefined;
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
  const { primary, further = [] } = ofFeature.value ?? {};
  const claimed = await claimedNetworks(call.features, call, cluster, pod);
  if (!claimed.ok) return claimed;
  const twice = usedTwice([primary?.podNetwork, ...further.map(({ podNetwork }) => podNetwork)], claimed.value);
  if (twice !== undefined) return failed(twice);
  const networks: readonly AskedNetwork[] = [
    ...further.map(({ selection, definitions, podNetwork }) => ({ selection, further: definitions.slice(1), podNetwork })),
    ...selected.value.map((selection) => ({ selection })),
    ...claimed.value.map((claim) => {
      const { selection, further: added, podNetwork } = claim;
      return { selection, further: added, podNetwork, claimed: claim };
    }),
  ];
  return ok({ primary, networks, selected: selected.value });
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
