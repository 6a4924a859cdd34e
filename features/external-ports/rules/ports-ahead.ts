// Ports that are made ahead: the decision which free ports of a fabric to add and to give back. The fabric's own list is the state, so a restart of the
// controller loses no port.

import { formatAddress, readAddress } from "../../../src/net/ip.ts";

/** The ports that are kept free in one subnet. */
export interface AheadPool {
  readonly subnet: string;
  /** The pool is filled when it has fewer free ports than this. */
  readonly min: number;
  /** So many free ports a full pool has. Ports above are given back. */
  readonly max: number;
}

/** A free port, as the fabric lists it. */
export interface FreePort {
  readonly id: string;
  /** The object's revision: a write with another one is refused. */
  readonly revision: number;
  readonly subnet: string | undefined;
  readonly addresses: readonly string[];
  /** The settings with which the port was made. */
  readonly mark: string;
  /** Whether the port has the tag by which an administrator finds it. */
  readonly isTagged: boolean;
}

/** The free ports by the next step with them: use, make, give back, or tag. */
export interface AheadPlan {
  /** Usable ports by subnet, in the order of their IDs. */
  readonly usable: ReadonlyMap<string, readonly FreePort[]>;
  /** Pools to fill, with the number of missing ports. */
  readonly missing: readonly { readonly subnet: string; readonly count: number }[];
  /** Ports of no pool, of other settings, or above a pool's maximum. */
  readonly surplus: readonly FreePort[];
  /** Usable ports whose tag is missing, because a controller ended before it wrote the tag. */
  readonly untagged: readonly FreePort[];
}

/**
 * Judges the free ports. `mark`: the settings of ports made now; a port of other settings may be weaker than what is configured, so it is given back. The
 * order of the IDs decides, so that two controllers at once give the same ports back.
 */
export function planAhead(free: readonly FreePort[], pools: readonly AheadPool[], mark: string): AheadPlan {
  const usable = new Map<string, readonly FreePort[]>();
  const missing: { subnet: string; count: number }[] = [];
  const kept = new Set<FreePort>();
  const ordered = free.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  for (const { subnet, min, max } of pools) {
    const ports = ordered.filter((port) => port.subnet === subnet && port.mark === mark).slice(0, max);
    usable.set(subnet, ports);
    for (const port of ports) kept.add(port);
    if (ports.length < min) missing.push({ subnet, count: max - ports.length });
  }
  return {
    usable,
    missing,
    surplus: ordered.filter((port) => !kept.has(port)),
    untagged: [...kept].filter(({ isTagged }) => !isTagged),
  };
}

/** Why the fabric has refused a port: no share of the quota is left, the subnet has no address left, or a requested address is in use. */
export type Refusal = "quota" | "no-address" | "address-in-use";

/**
 * The free ports that must go for a port that the fabric has refused: those with a requested address, or one port for its share of the quota or its
 * address. A subnet without addresses takes none of another subnet's ports.
 */
export function portsInTheWay(
  free: readonly FreePort[],
  subnet: string,
  ips: readonly string[],
  refusal: Refusal,
): readonly FreePort[] {
  const requested = new Set(ips.map(canonical));
  if (refusal === "address-in-use")
    return free.filter(({ addresses }) => addresses.some((each) => requested.has(canonical(each))));
  const one = free.find((port) => port.subnet === subnet) ?? (refusal === "quota" ? free[0] : undefined);
  return one === undefined ? [] : [one];
}

/** The address in the form of RFC 5952: IPv6 has several. */
function canonical(text: string): string {
  const address = readAddress(text);
  return address === undefined ? text : formatAddress(address);
}
