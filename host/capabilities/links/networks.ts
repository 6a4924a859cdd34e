// Checks that addresses, routes and neighbours of the node's links lie in the granted networks: they redirect the node's own traffic,
// regardless of their link. No I/O.

import { type Cidr, cidrContains, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { LinksOperation } from "../../sandbox/abi/generated/delegate-1.0.0.ts";
import { linkText, type LinkScope } from "./link-scope.ts";

/** The request that lies outside of all granted networks, for messages; undefined: there is none. */
export function networkOutsideGrant({ grant }: LinkScope, operation: LinksOperation): string | undefined {
  const asked = requestOnNode(operation);
  if (asked === undefined) return undefined;
  const { request, network, needsGrant } = asked;
  if (grant.networks === undefined && !needsGrant) return undefined;
  const granted = (grant.networks ?? []).flatMap((text) => readCidr(text) ?? []);
  return granted.some((each) => contains(each, network)) ? undefined : request;
}

/** The address of the node that the grant does not allow, with the key that would allow it; undefined: there is none. */
export function ungrantedNodeAddress(
  { grant }: LinkScope,
  operation: LinksOperation,
): { readonly key: "nodeAddresses" | "replaceAddresses"; readonly request: string } | undefined {
  if (operation.tag !== "add-address" && operation.tag !== "ensure-address" && operation.tag !== "delete-address")
    return undefined;
  const { link, address } = operation.val;
  if (link.place === "pod") return undefined;
  const request = `${address} on ${linkText("host", link.name)}`;
  if (grant.nodeAddresses?.some((each) => sameAddress(each, address)) === false) return { key: "nodeAddresses", request };
  const replaces = operation.tag === "ensure-address" && operation.val.replace;
  return replaces && grant.replaceAddresses === false
    ? { key: "replaceAddresses", request: `replacing addresses by ${request}` }
    : undefined;
}

/** Whether both texts name the same address with the same prefix length. */
function sameAddress(left: string, right: string): boolean {
  const [one, other] = [readCidr(left), readCidr(right)];
  if (one === undefined || other === undefined) return false;
  return one.prefix === other.prefix && one.address.family === other.address.family && one.address.value === other.address.value;
}

/** `needsGrant`: a grant without `networks` allows none of these. */
function requestOnNode(
  operation: LinksOperation,
): { readonly request: string; readonly network: Cidr | undefined; readonly needsGrant: boolean } | undefined {
  switch (operation.tag) {
    case "add-address":
    case "ensure-address":
    case "delete-address": {
      const { link, address } = operation.val;
      if (link.place === "pod") return undefined;
      return { request: `${address} on ${linkText("host", link.name)}`, network: readCidr(address), needsGrant: false };
    }
    case "add-neighbour":
    case "delete-neighbour": {
      const { link, neighbour } = operation.val;
      if (link.place === "pod") return undefined;
      const address = readAddress(neighbour.address);
      const network = address && { address, prefix: address.family === 4 ? 32 : 128 };
      const request = `the neighbour ${neighbour.address} of ${linkText("host", link.name)}`;
      return { request, network, needsGrant: false };
    }
    case "add-route":
    case "delete-route": {
      const { link, route } = operation.val;
      if (link?.place !== "host") return undefined;
      const request = `the route ${route.dst} over ${linkText("host", link.name)}`;
      return { request, network: readCidr(route.dst), needsGrant: true };
    }
    default:
      return undefined;
  }
}

function contains(granted: Cidr, network: Cidr | undefined): boolean {
  if (network === undefined || network.address.family !== granted.address.family) return false;
  return network.prefix >= granted.prefix && cidrContains(granted, networkOf(network).first);
}
