// The targets of a probe, and the way to each of them.

import { type Cidr, cidrContains, formatAddress, type IpAddress } from "../../../src/net/ip.ts";

/** An address to ask. */
export interface ProbeTarget {
  readonly what: string;
  readonly address: IpAddress;
  /** The address is that of an endpoint of a Service. */
  readonly isEndpoint?: boolean;
  /** The address is that of a Service without endpoints: there is nothing to ask. */
  readonly isRefused?: boolean;
}

/** The addresses of the pod that asks, and its gateways. */
export interface ProbeSource {
  readonly addresses: readonly Cidr[];
  readonly gateways: readonly IpAddress[];
}

/** Another pod of the network. */
export interface ProbedPod {
  readonly pod: string;
  readonly addresses: readonly Cidr[];
}

/** Maximum targets of one probe. */
export const maxTargets = 64;

/**
 * The targets: gateways, other pods, and `named` ones of the caller. Each address stands once, and again as an endpoint of each named Service. Beyond the
 * maximum, other pods are left out first.
 */
export function probeTargets(
  { addresses, gateways, pods }: ProbeSource & { readonly pods: readonly ProbedPod[] },
  named: readonly ProbeTarget[],
): readonly ProbeTarget[] {
  const all = [
    ...gateways.map((address): ProbeTarget => ({ what: "gateway", address })),
    ...pods.flatMap(({ pod, addresses: ofPod }) => ofPod.map(({ address }): ProbeTarget => ({ what: `pod ${pod}`, address }))),
    ...named,
  ];
  const own = new Set(addresses.map(({ address }) => formatAddress(address)));
  const unique = new Map<string, ProbeTarget>();
  for (const target of all) {
    const key = keyOf(target);
    if (!own.has(formatAddress(target.address)) && !unique.has(key)) unique.set(key, target);
  }
  const first = new Set([...gateways.map(formatAddress), ...named.map(keyOf)]);
  let places = maxTargets - [...unique.keys()].filter((key) => first.has(key)).length;
  return [...unique].flatMap(([key, target]) => (first.has(key) || places-- > 0 ? [target] : [])).slice(0, maxTargets);
}

/** An endpoint of a Service is a target beside the pod that has its address. */
function keyOf({ what, address, isEndpoint }: ProbeTarget): string {
  return isEndpoint === true ? `${what} ${formatAddress(address)}` : formatAddress(address);
}

/** The pod's address from which a target is asked, and the neighbour that gets the packets; undefined: there is no way. */
export function wayTo(
  { addresses, gateways }: ProbeSource,
  target: IpAddress,
): { readonly source: IpAddress; readonly hop: IpAddress } | undefined {
  const onLink = sourceOn(addresses, target);
  if (onLink !== undefined) return { source: onLink, hop: target };
  const hop = gateways.find(({ family }) => family === target.family);
  const source = hop && (sourceOn(addresses, hop) ?? addresses.find(({ address }) => address.family === hop.family)?.address);
  return hop === undefined || source === undefined ? undefined : { source, hop };
}

/** The address whose network has the other one: a host answers another network's address by its router, or not at all. */
function sourceOn(addresses: readonly Cidr[], other: IpAddress): IpAddress | undefined {
  return addresses
    .filter((each) => each.address.family === other.family && cidrContains(each, other))
    .toSorted((one, next) => next.prefix - one.prefix)[0]?.address;
}
