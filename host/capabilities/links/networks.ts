// Checks that addresses, routes and neighbours lie in the granted networks. Those of the node's links redirect the node's own traffic, regardless of
// their link; those of the pod's links may be another pod's on a bridge that networks share. No I/O.

import { type Cidr, cidrContains, networkOf, readAddress, readCidr } from "../../../src/net/ip.ts";
import type { LinksLinkName, LinksOperation } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { linkText, type LinkScope, rolesByName } from "./link-scope.ts";

/** The request that lies outside of all granted networks, for messages; undefined: there is none. */
export function networkOutsideGrant(
  scope: LinkScope,
  operation: LinksOperation,
): { readonly key: "networks" | "podNetworks"; readonly request: string } | undefined {
  const asked = requestOf(scope, operation);
  if (asked === undefined) return undefined;
  const { key, request, network, needsGrant } = asked;
  const networks = scope.grant[key];
  if (networks === undefined && !needsGrant) return undefined;
  const granted = (networks ?? []).flatMap((text) => readCidr(text) ?? []);
  return granted.some((each) => contains(each, network)) ? undefined : { key, request };
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

/** A request that a list of the grant must cover. `needsGrant`: a grant without the list allows none of these. */
interface BoundRequest {
  readonly key: "networks" | "podNetworks";
  readonly request: string;
  readonly network: Cidr | undefined;
  readonly needsGrant: boolean;
}

/**
 * Whether the grant must list the networks of a link: always for the node's end of the attachment's veth, which no grant names. Without the list a
 * delegate would give the node any address.
 */
function needsNetworks(scope: LinkScope, { place, name }: LinksLinkName): boolean {
  if (place === "pod") return false;
  const roles = rolesByName(scope, name);
  return !roles.has("bridge") && !roles.has("gateway");
}

function requestOf(scope: LinkScope, operation: LinksOperation): BoundRequest | undefined {
  switch (operation.tag) {
    case "add-address":
    case "ensure-address":
    case "delete-address": {
      const { link, address } = operation.val;
      // A delegate removes what the pod has: it may have been added under another grant.
      if (link.place === "pod" && operation.tag === "delete-address") return undefined;
      const key = link.place === "pod" ? "podNetworks" : "networks";
      const request = `${address} on ${linkText(link.place, link.name)}`;
      return { key, request, network: readCidr(address), needsGrant: needsNetworks(scope, link) };
    }
    case "add-neighbour":
    case "delete-neighbour": {
      const { link, neighbour } = operation.val;
      if (link.place === "pod") return undefined;
      const address = readAddress(neighbour.address);
      const network = address && { address, prefix: address.family === 4 ? 32 : 128 };
      const request = `the neighbour ${neighbour.address} of ${linkText("host", link.name)}`;
      return { key: "networks", request, network, needsGrant: needsNetworks(scope, link) };
    }
    case "add-route":
    case "delete-route": {
      const { link, route } = operation.val;
      if (link?.place !== "host") return undefined;
      const request = `the route ${route.dst} over ${linkText("host", link.name)}`;
      return { key: "networks", request, network: readCidr(route.dst), needsGrant: true };
    }
    default:
      return undefined;
  }
}

function contains(granted: Cidr, network: Cidr | undefined): boolean {
  if (network === undefined || network.address.family !== granted.address.family) return false;
  return network.prefix >= granted.prefix && cidrContains(granted, networkOf(network).first);
}
