// Whether what an operation gives to a link of the node lies in the networks of the grant: the node's own traffic follows its addresses and
// routes, whoever the link belongs to. No I/O.

import { type Cidr, cidrContains, networkOf, readAddress, readCidr } from "../../src/net/ip.ts";
import type { LinksOperation } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { linkText, type LinkScope } from "./link-scope.ts";

/** What lies in none of them, in words; undefined: nothing. */
export function foreignNetwork({ grant }: LinkScope, operation: LinksOperation): string | undefined {
  const asked = askedOfNode(operation);
  if (asked === undefined) return undefined;
  const { what, within, always } = asked;
  if (grant.networks === undefined && !always) return undefined;
  const granted = (grant.networks ?? []).flatMap((text) => readCidr(text) ?? []);
  return granted.some((network) => holds(network, within)) ? undefined : what;
}

/** `always`: needs a network in the grant, also where that lists none. */
function askedOfNode(
  operation: LinksOperation,
): { readonly what: string; readonly within: Cidr | undefined; readonly always: boolean } | undefined {
  switch (operation.tag) {
    case "add-address":
    case "ensure-address":
    case "delete-address": {
      const { link, address } = operation.val;
      if (link.place === "pod") return undefined;
      return { what: `${address} on ${linkText("host", link.name)}`, within: readCidr(address), always: false };
    }
    case "add-neighbour":
    case "delete-neighbour": {
      const { link, neighbour } = operation.val;
      if (link.place === "pod") return undefined;
      const address = readAddress(neighbour.address);
      const within = address && { address, prefix: address.family === 4 ? 32 : 128 };
      return { what: `the neighbour ${neighbour.address} of ${linkText("host", link.name)}`, within, always: false };
    }
    case "add-route":
    case "delete-route": {
      const { link, route } = operation.val;
      if (link?.place !== "host") return undefined;
      const what = `the route ${route.dst} over ${linkText("host", link.name)}`;
      return { what, within: readCidr(route.dst), always: true };
    }
    default:
      return undefined;
  }
}

function holds(network: Cidr, within: Cidr | undefined): boolean {
  if (within === undefined || within.address.family !== network.address.family) return false;
  return within.prefix >= network.prefix && cidrContains(network, networkOf(within).first);
}
