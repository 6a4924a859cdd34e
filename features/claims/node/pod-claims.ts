// The networks of a pod's prepared claims, for the plan of its ADD.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { checkNamespace } from "../../../src/npwg/namespace-policy.ts";
import { podNetworkPrefix } from "../../../src/npwg/network-name.ts";
import type { ApiSource, Pod } from "../../../host/cluster/cluster.ts";
import type { ClusterApi } from "../../../host/cluster/object-source.ts";
import type { ClaimedNetwork } from "../../../host/engine/planned/plan-feature.ts";
import { claimPath } from "../driver/prepare-claims.ts";
import { pciDeviceInfo } from "../rules/device-files.ts";
import { isReservedFor, isReservedForGroup } from "../rules/claim-networks.ts";
import { claimNamesOf } from "../rules/claim-names.ts";
import { placedLink } from "../rules/placed-link.ts";
import { placedPool } from "../rules/placed-pool.ts";
import type { NetworkSource } from "../rules/network-parameters.ts";
import type { PreparedClaim, PreparedNetwork } from "../rules/prepared-claim.ts";
import { ClaimStore } from "./claim-store.ts";
import { checkDamaged, readObject, uidOf } from "./damaged-claims.ts";

/** The part of a call that the claims need. */
export interface ClaimContext {
  readonly configuration: Pick<HostConfiguration, "cniDir" | "namespaceIsolation" | "globalNamespaces">;
}

/**
 * The networks, by the claims' names and in the order of each claim's allocation. The kubelet prepares a pod's claims before it makes the pod's
 * sandbox. Faults: CLAIM_UNUSABLE, NETWORK_FORBIDDEN, STORE_FAILED, and those of the API.
 */
export async function claimedNetworks(
  { configuration }: ClaimContext,
  cluster: ApiSource | undefined,
  pod: Pod,
): Promise<Result<readonly ClaimedNetwork[]>> {
  const uid = pod.uid ?? "";
  if (uid === "") return ok([]);
  const candidates = new ClaimStore(configuration.cniDir).candidates(pod.namespace, uid, "this boot");
  if (!candidates.ok) return candidates;
  const { claims, damaged } = candidates.value;
  const lost = damaged.length === 0 ? ok(undefined) : await checkDamaged(damaged, pod, cluster?.api);
  if (!lost.ok) return lost;
  const networks: ClaimedNetwork[] = [];
  for (const claim of claims) {
    const isOfPod = await belongsTo(claim, pod, cluster);
    if (!isOfPod.ok) return isOfPod;
    if (!isOfPod.value) continue;
    for (const network of claim.networks) {
      const named = network.isOfClass ? undefined : namedDefinition(network.source);
      const allowed = named === undefined ? ok(undefined) : checkNamespace(configuration, pod.namespace, named, "network");
      if (!allowed.ok) return failed({ ...allowed.fault, msg: `${nameOf(claim, network)}: ${allowed.fault.msg}` });
      networks.push(claimedNetwork(claim, network));
    }
  }
  return ok(networks);
}

/** The definition that a claim names: as its network, or as the network whose policies hold for its list. */
function namedDefinition(source: NetworkSource): { readonly namespace: string; readonly name: string } | undefined {
  if (source.kind === "definition") return source;
  if (source.kind === "podNetwork" || source.policies?.startsWith(podNetworkPrefix) !== false) return undefined;
  const [namespace = "", name = ""] = source.policies.split("/");
  return { namespace, name };
}

/** The kubelet prepares a claim of several pods once, so that later pods are known to the API only. */
async function belongsTo(
  { namespace, name, uid, pods, isShareable, networks }: PreparedClaim,
  pod: Pod,
  cluster: ApiSource | undefined,
): Promise<Result<boolean>> {
  const podUid = pod.uid ?? "";
  if (pods.includes(podUid)) return ok(true);
  if (!isShareable || networks.length === 0) return ok(false);
  const what = `resource claim ${namespace}/${name}`;
  if (cluster?.api === undefined)
    return failed(fault("CLAIM_UNUSABLE", `${what} may be this pod's, and no Kubernetes API is configured that says so`));
  const object = await readObject(cluster.api, claimPath({ namespace, name }), what);
  if (!object.ok || object.value === undefined) return object.ok ? ok(false) : object;
  if (uidOf(object.value) !== uid) return ok(false);
  if (isReservedFor(object.value, podUid)) return ok(true);
  return isReservedForGroup(object.value) ? namesClaim(pod, name, cluster.api) : ok(false);
}

/** The kubelet has checked that the pod is of the group before it prepared the claim for the pod. */
async function namesClaim({ namespace, name, uid }: Pod, claim: string, api: ClusterApi): Promise<Result<boolean>> {
  const object = await readObject(api, `/api/v1/namespaces/${namespace}/pods/${name}`, `pod ${namespace}/${name}`);
  return object.ok ? ok(uidOf(object.value) === uid && claimNamesOf(object.value).includes(claim)) : object;
}

function claimedNetwork(claim: PreparedClaim, network: PreparedNetwork): ClaimedNetwork {
  const { source, isOfClass, request, pool, device, shareId, link, interface: name, ips, mac, addressPool } = network;
  const what = nameOf(claim, network);
  // A period is in no definition's name, so that no definition is taken for the list.
  const listName = `${claim.name}.${request.replaceAll("/", ".")}`;
  const { namespace } = claim;
  // A list with the policies of a definition is an attachment to the definition's network: for the pod's status, for policies and for Services.
  const named = namedDefinition(source) ?? { namespace, name: listName };
  const podNetwork = podNetworkIn(source);
  const isTrusted = isOfClass && source.kind === "list";
  return {
    what,
    selection: {
      namespace: named.namespace,
      name: named.name,
      ...(name === undefined ? {} : { interface: name }),
      ...(ips === undefined ? {} : { ips }),
      ...(mac === undefined ? {} : { mac }),
      extensions: new Map(),
    },
    inline:
      source.kind === "list"
        ? { namespace, name: listName, annotations: new Map<string, string>(), config: source.text }
        : undefined,
    ...(podNetwork === undefined ? {} : { podNetwork }),
    ...(addressPool === undefined ? {} : { pool: addressPool }),
    isTrusted,
    place: (list) => {
      const placed = placedLink(list, link, what, isTrusted);
      return placed.ok && addressPool !== undefined ? placedPool(placed.value, addressPool, what) : placed;
    },
    ...(link.isExclusive && link.pciAddress !== undefined ? { device: pciDeviceInfo(link.pciAddress) } : {}),
    claim: { namespace, name: claim.name, uid: claim.uid, pool, device, shareId },
  };
}

/** The PodNetwork of a source: its network, or the network whose policies hold for its list. */
function podNetworkIn(source: NetworkSource): string | undefined {
  if (source.kind === "podNetwork") return source.name;
  if (source.kind === "definition" || source.policies?.startsWith(podNetworkPrefix) !== true) return undefined;
  return source.policies.slice(podNetworkPrefix.length);
}

function nameOf({ namespace, name }: PreparedClaim, { request }: PreparedNetwork): string {
  return `resource claim ${namespace}/${name}, request ${request}`;
}
