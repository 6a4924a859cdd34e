// An address that another IPAM plugin has given to an attachment, as its own records say.

import { formatAddress, type IpAddress } from "../../../../src/net/ip.ts";

/** The owner of an address, as far as a record names the owner. A missing text is empty. */
export interface AddressOwner {
  readonly containerId: string;
  readonly ifname: string;
  /** The pod's namespace; empty if the record names no pod. */
  readonly podNamespace: string;
  readonly podName: string;
}

/** One record of one address. */
export interface HeldAddress {
  readonly address: IpAddress;
  readonly owner: AddressOwner;
  /** The record's place for messages: `IPPool kube-system/10.10.0.0-16` or a file's path. */
  readonly source: string;
}

/** The records of one source, and its parts that cannot be read, as sentences. */
export interface HeldAddresses {
  readonly held: readonly HeldAddress[];
  readonly problems: readonly string[];
}

/** Two records that give one address to different owners. */
export interface TwoHands {
  readonly address: string;
  readonly first: HeldAddress;
  readonly second: HeldAddress;
}

/** The owner for messages: the pod if there is one, and the container with its interface. */
export function ownerText({ containerId, ifname, podNamespace, podName }: AddressOwner): string {
  const container = containerId === "" ? "" : `container ${containerId}`;
  const pod = podName === "" ? "" : `pod ${podNamespace}/${podName}`;
  const parts = [pod, container, ifname === "" ? "" : `interface ${ifname}`].filter((part) => part !== "");
  return parts.length === 0 ? "an unnamed owner" : parts.join(", ");
}

/** Whether two records can have one owner: each text that both have is equal, and both name the container or the pod. */
export function isOneOwner(left: AddressOwner, right: AddressOwner): boolean {
  const isNamed = areBoth(left.containerId, right.containerId) || areBoth(left.podName, right.podName);
  return (
    isNamed &&
    agree(left.containerId, right.containerId) &&
    agree(left.ifname, right.ifname) &&
    agree(left.podNamespace, right.podNamespace) &&
    agree(left.podName, right.podName)
  );
}

function agree(left: string, right: string): boolean {
  return left === "" || right === "" || left === right;
}

function areBoth(left: string, right: string): boolean {
  return left !== "" && right !== "";
}

/**
 * Addresses that two records give to different owners, each pair once, in the order of the records. whereabouts keeps a second record of the same
 * owner for ranges that overlap, which is no conflict.
 */
export function inTwoHands(records: Iterable<HeldAddress>): readonly TwoHands[] {
  const first = new Map<string, HeldAddress>();
  const conflicts: TwoHands[] = [];
  for (const record of records) {
    const address = formatAddress(record.address);
    const known = first.get(address);
    if (known === undefined) first.set(address, record);
    else if (!isOneOwner(known.owner, record.owner)) conflicts.push({ address, first: known, second: record });
  }
  return conflicts;
}
