// Changes simulated links: their settings, their ports on a bridge, their addresses and neighbours.

import { excludes } from "../../../host/capabilities/links/address-conflicts.ts";
import type { LinksLink, LinksLinkName, LinksPortVlan } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { formatCidr, readCidr } from "../../../src/net/ip.ts";
import { defined, inHost, type OperationOf, Refusal, type VisibleLinks } from "./visible-links.ts";

/** Answers the link that the operation named. */
export function changeLink(
  links: VisibleLinks,
  operation: OperationOf<
    | "change-link"
    | "change-port"
    | "add-port-vlan"
    | "delete-port-vlan"
    | "add-address"
    | "ensure-address"
    | "delete-address"
    | "add-neighbour"
    | "delete-neighbour"
  >,
): readonly LinksLinkName[] {
  switch (operation.tag) {
    case "change-link": {
      const { link: at, alternativeNames, ...change } = operation.val;
      const known = links.find(at);
      const { link } = known;
      if (change.master !== undefined && change.master !== "") links.find({ ...at, name: change.master });
      // The kernel sets a link down and up when it joins or leaves a VRF (drivers/net/vrf.c, cycle_netdev).
      const masters = change.master === link.master ? [] : [link.master, change.master];
      const isCycled =
        change.master !== undefined && masters.some((name) => name && links.get({ ...at, name })?.link.kind === "vrf");
      if (isCycled && links.table.strict) known.routes = [];
      for (const [key, value] of Object.entries(change)) {
        if (value !== undefined) Object.assign(link, { [key]: key === "master" && value === "" ? undefined : value });
      }
      link.alternativeNames = [...new Set([...link.alternativeNames, ...alternativeNames])];
      links.table.settleRoutes(known);
      return [at];
    }
    case "change-port": {
      const at = inHost(operation.val.link);
      const { link } = links.find(at);
      link.port = { ...link.port, ...defined(operation.val.port) };
      return [at];
    }
    case "add-port-vlan":
    case "delete-port-vlan": {
      const at = inHost(operation.val.link);
      const { link } = links.find(at);
      const { vlan } = operation.val;
      const others = link.portVlans.filter((each) => !sameVlans(each, vlan));
      link.portVlans = operation.tag === "add-port-vlan" ? [...others, vlan] : others;
      return [at];
    }
    case "add-address": {
      const { link: at, address } = operation.val;
      const { link } = links.find(at);
      if (hasAddress(link, address)) throw new Refusal(`${at.name} already has ${address}`);
      link.addresses = [...link.addresses, settled(canonical(address))];
      return [at];
    }
    case "ensure-address": {
      const { link: at, address, replace } = operation.val;
      const { link } = links.find(at);
      if (hasAddress(link, address)) return [at];
      const conflicting = link.addresses.filter((each) => isExcluded(each.address, address));
      if (conflicting[0] !== undefined && !replace) throw new Refusal(`${at.name} has ${conflicting[0].address}`);
      link.addresses = [...link.addresses.filter((each) => !conflicting.includes(each)), settled(canonical(address))];
      return [at];
    }
    case "delete-address": {
      const { link: at, address } = operation.val;
      const known = links.find(at);
      links.table.removeAddress(known, canonical(address));
      links.table.settleRoutes(known);
      return [at];
    }
    case "add-neighbour":
    case "delete-neighbour": {
      const { link: at, neighbour } = operation.val;
      const known = links.find(at);
      const others = known.neighbours.filter((each) => each.address !== neighbour.address || each.proxy !== neighbour.proxy);
      // The kernel replaces a proxy entry, and refuses a second neighbour.
      if (operation.tag === "add-neighbour" && !neighbour.proxy && others.length < known.neighbours.length)
        throw new Refusal(`${at.name} already has the neighbour ${neighbour.address}`);
      known.neighbours = operation.tag === "add-neighbour" ? [...others, neighbour] : others;
      return [at];
    }
    default:
      return operation satisfies never;
  }
}

/** An address in the kernel's spelling. */
function canonical(address: string): string {
  const cidr = readCidr(address);
  return cidr === undefined ? address : formatCidr(cidr);
}

function hasAddress({ addresses }: LinksLink, address: string): boolean {
  return addresses.some((each) => canonical(each.address) === canonical(address));
}

/** An address after duplicate address detection. */
export function settled(address: string): LinksLink["addresses"][number] {
  return { address, tentative: false, dadFailed: false };
}

/** Whether an existing address excludes another one on its link. */
function isExcluded(existing: string, added: string): boolean {
  const [current, wanted] = [readCidr(existing), readCidr(added)];
  return current !== undefined && wanted !== undefined && excludes(current, wanted);
}

function sameVlans(a: LinksPortVlan, b: LinksPortVlan): boolean {
  return a.first === b.first && a.last === b.last;
}
