// The links of a simulated node and of its pods, for many calls.

import { formatCidr, networkOf, readCidr } from "../../../src/net/ip.ts";
import type { LinksLink, LinksNeighbour, Route } from "../../../host/sandbox/abi/generated/delegate-0.1.0.ts";

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** A link with its routes and neighbours. */
export interface KnownLink {
  link: Writable<LinksLink>;
  routes: Route[];
  neighbours: LinksNeighbour[];
  /** Key of the other end of a veth. */
  peerKey?: string;
}

/** The links by key: `host NAME`, or the pod and the name. */
export class LinkTable {
  known = new Map<string, KnownLink>();
  /** The number of links that were made so far: the next index. */
  made = 0;
  /** Whether `routes` also answers the kernel's own routes to the networks of addresses. Vectors state all routes themselves. */
  readonly connectedRoutes: boolean;

  constructor({ connectedRoutes = false }: { readonly connectedRoutes?: boolean } = {}) {
    this.connectedRoutes = connectedRoutes;
  }

  /** The links of the node (`host`), or of one pod. */
  linksAt(place: string): readonly KnownLink[] {
    return [...this.known].filter(([key]) => key.startsWith(`${place} `)).map(([, known]) => known);
  }

  /** The routes over a link, in the order in which they were made. */
  routesOver({ link, routes }: KnownLink): readonly Route[] {
    if (!this.connectedRoutes || !link.up) return routes;
    return [...link.addresses.flatMap(({ address }) => connectedRoute(address) ?? []), ...routes];
  }

  /** Removes a pod's namespace with its links. The node's end of a veth goes with the pod's. */
  removePod(pod: string): void {
    for (const [key, { peerKey }] of this.known) {
      if (!key.startsWith(`${pod} `)) continue;
      this.known.delete(key);
      if (peerKey !== undefined) this.known.delete(peerKey);
    }
  }
}

/** `RT_SCOPE_LINK`: the destination is on the link. */
const scopeLink = 253;

/** The kernel's route to the network of an address; none for a network of one address. */
function connectedRoute(address: string): Route | undefined {
  const cidr = readCidr(address);
  if (cidr === undefined || cidr.prefix === (cidr.address.family === 4 ? 32 : 128)) return undefined;
  const dst = formatCidr({ ...cidr, address: networkOf(cidr).first });
  const isIPv4 = cidr.address.family === 4;
  const none = { gw: undefined, mtu: undefined, advmss: undefined, table: undefined };
  return { ...none, dst, priority: isIPv4 ? undefined : 256, scope: isIPv4 ? scopeLink : 0 };
}
