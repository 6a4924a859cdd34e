// Changes simulated links: their settings, their ports on a bridge, their addresses and neighbours.

import { excludes } from "../../../host/capabilities/links/address-conflicts.ts";
import type {
  LinksChange,
  LinksLink,
  LinksLinkName,
  LinksNeighbour,
  LinksPortVlan,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { formatAddress, formatCidr, readAddress, readCidr } from "../../../src/net/ip.ts";
import {
  isIgnoredAddress,
  refuseAddress,
  refuseMac,
  refuseMaster,
  refuseMtu,
  refuseNoPort,
  refuseTakenName,
} from "./kernel-rules.ts";
import type { KnownLink } from "./link-table.ts";
import { Refusal } from "./refusal.ts";
import { defined, inHost, type OperationOf, type VisibleLinks } from "./visible-links.ts";

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
    case "change-link":
      return [changeSettings(links, operation.val)];
    case "change-port": {
      const at = inHost(operation.val.link);
      const known = links.find(at);
      const port = defined(operation.val.port);
      if (Object.keys(port).length === 0) return [at];
      refuseNoPort(known);
      known.link.port = { ...known.link.port, ...port };
      return [at];
    }
    case "add-port-vlan":
    case "delete-port-vlan": {
      const at = inHost(operation.val.link);
      const known = links.find(at);
      const { link } = known;
      if (link.kind !== "bridge" && operation.tag === "add-port-vlan") refuseNoPort(known);
      const { vlan } = operation.val;
      const others = link.portVlans.filter((each) => !sameVlans(each, vlan));
      link.portVlans = operation.tag === "add-port-vlan" ? [...others, vlan] : others;
      return [at];
    }
    case "add-address": {
      const { link: at, address } = operation.val;
      const known = links.find(at);
      const { link } = known;
      if (hasAddress(link, address)) throw new Refusal(`${at.name} already has ${address}`);
      refuseAddress(known, address);
      if (isIgnoredAddress(address)) return [at];
      link.addresses = [...link.addresses, settled(canonical(address))];
      return [at];
    }
    case "ensure-address": {
      const { link: at, address, replace } = operation.val;
      const known = links.find(at);
      const { link } = known;
      if (hasAddress(link, address)) return [at];
      const conflicting = link.addresses.filter((each) => isExcluded(each.address, address));
      if (conflicting[0] !== undefined && !replace) throw new Refusal(`${at.name} has ${conflicting[0].address}`);
      link.addresses = link.addresses.filter((each) => !conflicting.includes(each));
      refuseAddress(known, address);
      if (!isIgnoredAddress(address)) link.addresses = [...link.addresses, settled(canonical(address))];
      return [at];
    }
    case "delete-address": {
      const { link: at, address } = operation.val;
      const known = links.find(at);
      links.table.removeAddress(links.keyOf(at), known, canonical(address));
      links.table.settle(known);
      return [at];
    }
    case "add-neighbour":
    case "delete-neighbour":
      return [changeNeighbour(links, operation)];
    default:
      return operation satisfies never;
  }
}

function changeSettings(links: VisibleLinks, wanted: OperationOf<"change-link">["val"]): LinksLinkName {
  const { link: at, alternativeNames, ...change } = wanted;
  const known = links.find(at);
  const { link } = known;
  if (change.master !== undefined && change.master !== "") refuseMaster(links.find({ ...at, name: change.master }), link.name);
  refuseMac(change.mac);
  refuseMtu(link.kind, change.mtu);
  // A name that the link had before the request stays.
  const addedNames = alternativeNames.filter((name) => !link.alternativeNames.includes(name));
  refuseChange(links, known, change);
  // The kernel sets a link down and up when it joins or leaves a VRF (drivers/net/vrf.c, cycle_netdev).
  const masters = change.master === link.master ? [] : [link.master, change.master];
  const isCycled = change.master !== undefined && masters.some((name) => name && links.get({ ...at, name })?.link.kind === "vrf");
  if (isCycled && links.table.strict) known.routes = [];
  for (const [key, value] of Object.entries(change)) {
    if (value !== undefined) Object.assign(link, { [key]: key === "master" && value === "" ? undefined : value });
  }
  if (change.mac !== undefined) link.mac = change.mac.toLowerCase();
  if (change.master !== undefined) setPort(links, known);
  if (change.mtu !== undefined) boundUpperMtus(links, at, change.mtu);
  for (const name of addedNames) {
    refuseTakenName(links.at(at.place), name);
    link.alternativeNames = [...link.alternativeNames, name];
  }
  links.table.settle(known);
  return at;
}

function changeNeighbour(links: VisibleLinks, operation: OperationOf<"add-neighbour" | "delete-neighbour">): LinksLinkName {
  const { link: at } = operation.val;
  const known = links.find(at);
  const neighbour = { ...operation.val.neighbour, ...canonicalNeighbour(operation.val.neighbour) };
  if (operation.tag === "add-neighbour" && !neighbour.proxy && neighbour.mac === undefined)
    throw new Refusal(`no link layer address given: the neighbour ${neighbour.address} needs a MAC`);
  const others = known.neighbours.filter((each) => each.address !== neighbour.address || each.proxy !== neighbour.proxy);
  // The kernel replaces a proxy entry, and refuses a second neighbour.
  if (operation.tag === "add-neighbour" && !neighbour.proxy && others.length < known.neighbours.length)
    throw new Refusal(`${at.name} already has the neighbour ${neighbour.address}`);
  known.neighbours = operation.tag === "add-neighbour" ? [...others, neighbour] : others;
  return at;
}

/** Throws a Refusal for a change that other links exclude: of a macvlan's MTU by its lower link, of its MAC by the lower link's. */
function refuseChange(links: VisibleLinks, { link }: KnownLink, { up, mtu }: Pick<LinksChange, "up" | "mtu">): void {
  const parent = link.kind === "macvlan" ? links.parentOf(link) : undefined;
  if (parent === undefined) return;
  if (mtu !== undefined && mtu > parent.mtu) throw new Refusal(`the MTU ${mtu} exceeds ${parent.mtu}, that of ${parent.name}`);
  if (up === true && link.mode !== "passthru" && link.mac === parent.mac)
    throw new Refusal(`address already in use: ${link.name} has the MAC of ${parent.name}`);
}

/** The macvlans of a link get at most its MTU. */
function boundUpperMtus(links: VisibleLinks, at: LinksLinkName, mtu: number): void {
  for (const { link } of links.at("pod"))
    if (link.kind === "macvlan" && links.parentOf(link) === links.get(at)?.link) link.mtu = Math.min(link.mtu, mtu);
}

/** A link that joins a bridge gets the settings of a port, and a link that leaves the bridge loses them. */
export function setPort(links: VisibleLinks, { link }: KnownLink): void {
  const master = link.master === undefined ? undefined : links.get({ place: link.place, name: link.master });
  link.port = master?.link.kind === "bridge" ? { ...newPort, ...link.port } : undefined;
  if (link.port === undefined) link.portVlans = [];
}

const newPort = { hairpin: false, isolated: false, learning: true, flood: true };

/** A neighbour's address and MAC in the kernel's spelling. */
function canonicalNeighbour({ address, mac }: LinksNeighbour): Pick<LinksNeighbour, "address" | "mac"> {
  const read = readAddress(address);
  return {
    address: read === undefined ? address : formatAddress(read),
    ...(mac === undefined ? {} : { mac: mac.toLowerCase() }),
  };
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
