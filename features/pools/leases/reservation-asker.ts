// The owner of an address that an ADD asks for: the pod, its StatefulSet, its VirtualMachineInstance or an IPAMClaim.

import type { ReservationHolder, ReservationOwner } from "../rules/address-reservation.ts";
import type { AddressPool } from "../rules/address-pool.ts";
import { hasAddress } from "../rules/spans.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatCidr, type IpAddress, readCidr } from "../../../src/net/ip.ts";
import type { IpamClaim, ReservationApi, ReservingPod } from "../api/reservation-api.ts";
import type { StaticRequest } from "./static-addresses.ts";

/** The pool and the node of a reservation, and the API. */
export interface Terms {
  readonly pool: AddressPool;
  readonly node: string;
  readonly api: ReservationApi;
}

/** The owner and the holder of the address that an ADD asks for. */
export interface Asker {
  readonly owner: ReservationOwner;
  readonly holder: ReservationHolder;
  readonly claim: IpamClaim | undefined;
}

/**
 * The owner of the attachment's address, and the attachment as its holder. Faults: POOL_UNAVAILABLE, CONFIG_INVALID for a claim of another network or
 * interface, and those of the API.
 */
export async function askerOf({ api, node, pool }: Terms, request: StaticRequest): Promise<Result<Asker>> {
  const { namespace, pod: name, podUid, containerId, ifname } = request;
  if (!request.wish.ok) return request.wish;
  const wish = request.wish.value;
  const pod = await api.pod(namespace, name);
  if (!pod.ok) return pod;
  if (podUid !== undefined && podUid !== pod.value.uid) {
    return failed(fault("POOL_UNAVAILABLE", `pod ${namespace}/${name} was replaced: its uid is not that of the call`));
  }
  const instance = instanceOf(pod.value);
  const holder = { node, pod: name, podUid: pod.value.uid, containerId, instance: instance?.uid };
  if (wish.claim !== undefined) return byClaim(api, request, wish.claim, holder);
  if (instance !== undefined && pool.keepsInstanceAddresses) {
    const owner: ReservationOwner = {
      kind: "VirtualMachineInstance",
      namespace,
      name: instance.name,
      uid: instance.uid,
      pod: undefined,
      ifname,
    };
    return ok({ owner, holder, claim: undefined });
  }
  const set = wish.keepsOrdinal ? statefulSetOf(pod.value) : undefined;
  const owner: ReservationOwner =
    set === undefined
      ? { kind: "Pod", namespace, name, uid: pod.value.uid, pod: undefined, ifname }
      : { kind: "StatefulSet", namespace, name: set.name, uid: set.uid, pod: name, ifname };
  return ok({ owner, holder, claim: undefined });
}

async function byClaim(
  api: ReservationApi,
  { namespace, ifname, networks }: StaticRequest,
  name: string,
  holder: ReservationHolder,
): Promise<Result<Asker>> {
  const claim = await api.claim(namespace, name);
  if (!claim.ok) return claim;
  const { uid, isDeleted, network, ifname: claimed } = claim.value;
  const what = `IPAMClaim ${namespace}/${name}`;
  if (isDeleted) return failed(fault("POOL_UNAVAILABLE", `${what} is being deleted`));
  if (!networks.includes(network)) {
    return failed(
      fault("CONFIG_INVALID", `${what} is for network "${network}", not for ${networks.map((each) => `"${each}"`).join(" or ")}`),
    );
  }
  if (claimed !== ifname) return failed(fault("CONFIG_INVALID", `${what} is for interface "${claimed}", not for "${ifname}"`));
  const owner: ReservationOwner = { kind: "IPAMClaim", namespace, name, uid, pod: undefined, ifname };
  return ok({ owner, holder, claim: claim.value });
}

/** Writes the address into the claim's status, in the place of an earlier one of the same pool and family. */
export async function noteInClaim(
  { api, pool }: Terms,
  { claim, owner: { namespace, name } }: Asker,
  address: IpAddress,
): Promise<Result<void>> {
  if (claim === undefined) return ok(undefined);
  const range = pool.ranges.find(({ span }) => hasAddress([span], address));
  if (range === undefined) return ok(undefined);
  const text = formatCidr({ address, prefix: range.subnet.prefix });
  // The other family of the same call may have been written since the claim was read.
  const current = await api.claim(namespace, name);
  if (!current.ok) return current;
  if (current.value.ips.includes(text)) return ok(undefined);
  const others = current.value.ips.filter((each) => readCidr(each)?.address.family !== address.family);
  return api.setClaimIps(namespace, name, claim.uid, [...others, text]);
}

/** Whether both are one owner, with the same pod and interface. */
export function isOwner(one: ReservationOwner, other: ReservationOwner): boolean {
  return one.kind === other.kind && one.uid === other.uid && one.pod === other.pod && one.ifname === other.ifname;
}

/** The VirtualMachineInstance of KubeVirt that the pod runs. */
export function instanceOf({ controller }: ReservingPod): ReservingPod["controller"] {
  return controller?.kind === "VirtualMachineInstance" && controller.apiVersion.startsWith("kubevirt.io/")
    ? controller
    : undefined;
}

function statefulSetOf({ controller }: ReservingPod): ReservingPod["controller"] {
  return controller?.kind === "StatefulSet" && controller.apiVersion.startsWith("apps/") ? controller : undefined;
}
