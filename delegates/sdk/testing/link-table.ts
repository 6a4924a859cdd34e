// The links of a simulated node and of its pods, for many calls.

import { hasIpv6, isMulticast } from "./kernel-rules.ts";
import { cidrContains, formatAddress, formatCidr, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { LinksInstalledRoute, LinksLink, LinksNeighbour } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A link with its routes and neighbours. */
export interface KnownLink {
  link: Writable<LinksLink>;
  routes: LinksInstalledRoute[];
  neighbours: LinksNeighbour[];
  /** The table of a VRF. */
  vrfTable?: number | undefined;
  /** `disable_ipv6` is set. */
  ipv6Disabled?: boolean;
  /** Networks of the link's addresses whose routes were removed. */
  removedNetworks?: readonly string[];
  /** The namespace of the lower link. */
  parentPlace?: LinksLink["place"];
  /** Key of the other end of a veth. */
  peerKey?: string;
  /** Set for a device of the node that a pod has or had: where it came from. */
  taken?: TakenDevice;
}

/** A device's place in the pod, and its state on the node before the move. */
export interface TakenDevice {
  readonly pod: string;
  readonly podName: string;
  readonly before: Pick<LinksLink, "name" | "mac" | "mtu" | "up" | "addresses">;
}

/** The links by key: `host NAME`, or the pod and the name. */
export class LinkTable {
  known = new Map<string, KnownLink>();
  /** The number of links that were made so far: the next index. */
  made = 0;
  /** Whether routes follow addresses and links as in the kernel. A vector states all routes itself, so its links need not be strict. */
  readonly strict: boolean;

  constructor({ strict = false }: { readonly strict?: boolean } = {}) {
    this.strict = strict;
  }

  /** The links of the node (`host`), or of one pod. */
  linksAt(place: string): readonly KnownLink[] {
    return [...this.known].filter(([key]) => key.startsWith(`${place} `)).map(([, known]) => known);
  }

  /** The routes over a link, in the order in which they were made. */
  routesOver({ link, routes, removedNetworks }: KnownLink): readonly LinksInstalledRoute[] {
    if (!this.strict || !link.up) return routes;
    const connected = link.addresses.flatMap(({ address }) => connectedRoute(address, link.name) ?? []);
    const present = connected.filter(({ dst }) => removedNetworks?.includes(dst) !== true);
    // Two addresses of one network have one route.
    return [...new Map(present.map((route) => [route.dst, route])).values(), ...routes];
  }

  /** The link in a pod or on the node that reaches the gateway. */
  linkTo(place: string, gateway: string): KnownLink | undefined {
    const address = readAddress(gateway);
    return this.linksAt(place).find(({ link }) =>
      link.addresses.some((each) => {
        const cidr = readCidr(each.address);
        return cidr !== undefined && address?.family === cidr.address.family && cidrContains(cidr, address);
      }),
    );
  }

  /** Removes a link, the other end of a veth, and the links above it. The ports of a bridge or a VRF stay. */
  removeLink(key: string): void {
    const known = this.known.get(key);
    if (known === undefined) return;
    this.known.delete(key);
    const [place = ""] = key.split(" ", 1);
    const { peer, name } = known.link;
    const peerKey = known.peerKey ?? (peer === undefined ? undefined : this.#peerKey(place, peer, name));
    if (peerKey !== undefined) this.removeLink(peerKey);
    for (const [other, { link }] of this.known) {
      if (!other.startsWith(`${place} `)) continue;
      if (link.master === name) link.master = undefined;
      if (link.parent === name) this.removeLink(other);
    }
  }

  /** The key of a veth's other end that only its name tells. */
  #peerKey(place: string, peer: string, name: string): string | undefined {
    if (place !== "host") return `host ${peer}`;
    return [...this.known].find(
      ([key, { link }]) => key.endsWith(` ${peer}`) && !key.startsWith("host ") && (link.peer ?? name) === name,
    )?.[0];
  }

  /** Removes an address, with the first IPv4 address of a network the others of that network, and with an IPv4 address the routes that have it as their source. */
  removeAddress(key: string, { link }: KnownLink, address: string): void {
    const before = link.addresses;
    const network = networkText(address);
    const first = link.addresses.find((each) => networkText(each.address) === network)?.address;
    const takesOthers = this.strict && !address.includes(":") && first === address;
    link.addresses = link.addresses.filter(
      (each) => each.address !== address && !(takesOthers && networkText(each.address) === network),
    );
    if (!this.strict) return;
    const gone = before.filter((each) => !link.addresses.includes(each) && !each.address.includes(":"));
    const sources = new Set(gone.map((each) => each.address.replace(/\/.*/, "")));
    const [place = ""] = key.split(" ", 1);
    for (const other of this.linksAt(place))
      other.routes = other.routes.filter(({ source }) => source === undefined || !sources.has(source));
  }

  /**
   * Drops what the kernel drops after a change of the link: all routes, neighbours and IPv6 addresses if it is down, all of IPv6 where the link can have
   * none, and the routes of IPv4 with its last IPv4 address.
   */
  settle(known: KnownLink): void {
    if (!this.strict) return;
    const { up } = known.link;
    if (!up) known.neighbours = [];
    if (!up || !hasIpv6(known)) {
      // lo keeps ::1, which the kernel adds again as soon as lo is up.
      const isKept = (address: string): boolean => !address.includes(":") || (known.link.name === "lo" && address === "::1/128");
      known.link.addresses = known.link.addresses.filter(({ address }) => isKept(address));
      known.neighbours = known.neighbours.filter(({ address }) => !address.includes(":"));
      known.routes = known.routes.filter(({ dst }) => !dst.includes(":"));
    }
    const { addresses } = known.link;
    const hasIPv4 = addresses.some(({ address }) => !address.includes(":"));
    known.routes = known.routes.filter(({ dst }) => up && (hasIPv4 || dst.includes(":")));
  }

  /** Removes a pod's namespace with its links. The node's end of a veth goes with the pod's, and a device of the node returns to the node. */
  removePod(pod: string): void {
    for (const [key, known] of this.known) {
      if (!key.startsWith(`${pod} `)) continue;
      this.known.delete(key);
      if (known.taken !== undefined) this.#returnToNode(known);
      else if (known.peerKey !== undefined) this.known.delete(known.peerKey);
    }
  }

  /** As the kernel does: the device is down and keeps its name in the pod, unless a link of the node has it. */
  #returnToNode(known: KnownLink): void {
    const name = this.known.has(`host ${known.link.name}`) ? `dev${known.link.index}` : known.link.name;
    Object.assign(known, { routes: [], neighbours: [] });
    Object.assign(known.link, { place: "host", name, up: false, running: false, addresses: [] });
    this.known.set(`host ${name}`, known);
  }
}

/** `RT_SCOPE_LINK`: the destination is on the link. */
const scopeLink = 253;

/** The kernel's route to the network of an address; of IPv4 none for a network of one address, of the zero network, and of a multicast address. */
function connectedRoute(address: string, link: string): LinksInstalledRoute | undefined {
  const cidr = readCidr(address);
  if (cidr === undefined) return undefined;
  const dst = networkText(address);
  const isIPv4 = cidr.address.family === 4;
  if (isIPv4 && (cidr.prefix === 32 || dst.startsWith("0.") || isMulticast(address))) return undefined;
  const none = { gw: undefined, mtu: undefined, advmss: undefined, table: undefined };
  const source = isIPv4 ? formatAddress(cidr.address) : undefined;
  return { ...none, dst, priority: isIPv4 ? undefined : 256, scope: isIPv4 ? scopeLink : 0, link, source };
}

/** An address or a destination without its host part; another text as it is. */
export function networkText(address: string): string {
  const cidr = readCidr(address);
  return cidr === undefined ? address : formatCidr({ ...cidr, address: networkOf(cidr).first });
}
