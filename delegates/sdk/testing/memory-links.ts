// The `links` capability in memory, without a kernel: a vector sets the links before the call and shows the effects of a request.
// It simulates names, kinds, MACs, ports and addresses; other refusals of the kernel need a test with a kernel.

import type {
  Fault,
  LinksCapability,
  LinksInstalledRoute,
  LinksLink,
  LinksLinkName,
  LinksNeighbour,
  LinksOperation,
  LinksPlace,
  LinksPortVlan,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { misused, operationText } from "../../../host/capabilities/links/link-scope.ts";
import { operationMistake } from "../../../host/capabilities/links/operation-mistake.ts";
import { refuse } from "../../../host/capabilities/outcome.ts";
import type { Fault as HostFault } from "../../../src/fault/fault.ts";
import { cidrContains, readCidr } from "../../../src/net/ip.ts";
import { MAIN_TABLE } from "../../../host/system/netlink/route.ts";
import { type KnownLink, LinkTable, networkText } from "./link-table.ts";

/**
 * A link in a vector: a name and the relevant other members. Addresses are text; routes and neighbours are the answers of
 * `links`.
 */
export interface LinkState extends Optional<Omit<LinksLink, "place" | "name" | "addresses">> {
  readonly name: string;
  readonly addresses?: readonly string[] | undefined;
  readonly routes?: readonly LinksInstalledRoute[] | undefined;
  readonly neighbours?: readonly LinksNeighbour[] | undefined;
}

/** The state before a call. */
export interface LinksState {
  readonly host: readonly LinkState[];
  readonly pod: readonly LinkState[];
  /** An operation that fails, by its index within one `apply`. */
  readonly fails?: { readonly operation: number; readonly fault: Fault } | undefined;
}

/** An operation in a vector: its name and its parameters. */
export type ShownOperation = Readonly<Record<string, unknown>>;

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };
class Refusal extends Error {}

/** The links of one call. */
export class MemoryLinks {
  readonly #table: LinkTable;
  readonly #pod: string;
  readonly #fails: LinksState["fails"];
  readonly #applied: ShownOperation[][] = [];

  /** `table`: the links of earlier calls, to which `state` is added. `pod`: the namespace of the call. */
  constructor(state: LinksState = { host: [], pod: [] }, table = new LinkTable(), pod = "pod") {
    this.#fails = state.fails;
    this.#table = table;
    this.#pod = pod;
    if (!table.known.has(`${pod} lo`)) this.#make({ place: "pod", name: "lo" }, "");
    for (const place of ["host", "pod"] as const) {
      for (const { addresses, routes, neighbours, ...members } of state[place]) {
        const known = this.#make({ place, name: members.name }, members.kind ?? "");
        Object.assign(known.link, defined(members), { addresses: (addresses ?? []).map(settled) });
        known.routes.push(...(routes ?? []));
        known.neighbours.push(...(neighbours ?? []));
      }
    }
  }

  /** The operations of each `apply`, in order. */
  applied(): readonly (readonly ShownOperation[])[] {
    return this.#applied;
  }

  /** The routes over a link of a place, or over all of them. */
  routesAt(place: LinksPlace, name?: string): readonly LinksInstalledRoute[] {
    return this.#linksAt(place)
      .filter(({ link }) => name === undefined || link.name === name)
      .flatMap((known) => this.#table.routesOver(known));
  }

  readonly functions: LinksCapability = {
    apply: (operations) => {
      this.#applied.push(operations.map(({ tag, val }) => ({ [tag]: val })));
      const mistake = requestMistake(operations);
      if (mistake !== undefined) return refuse(mistake);
      const before = structuredClone(this.#table.known);
      const named = new Map<string, LinksLinkName>();
      for (const [at, operation] of operations.entries()) {
        try {
          if (this.#fails?.operation === at) throw new Refusal(this.#fails.fault.msg);
          for (const name of this.#do(operation)) named.set(this.#keyOf(name), name);
        } catch (thrown) {
          if (!(thrown instanceof Refusal)) throw thrown;
          this.#table.known = before;
          return this.#fails?.operation === at
            ? { err: this.#fails.fault }
            : { err: { code: 5, msg: `operation ${at} (${operation.tag}): ${thrown.message}` } };
        }
      }
      return this.functions.read([...named.values()]);
    },
    read: (names) => ({ ok: names.flatMap((name) => this.#table.known.get(this.#keyOf(name))?.link ?? []) }),
    routes: (name) => ({ ok: this.routesAt(name?.place ?? "pod", name?.name) }),
    defaultLink: (place) => ({
      ok: this.#linksAt(place).find(({ routes }) => routes.some(({ dst }) => dst === "0.0.0.0/0" || dst === "::/0"))?.link.name,
    }),
    neighbours: (name) => ({ ok: this.#table.known.get(this.#keyOf(name))?.neighbours ?? [] }),
  };

  /** Answers the links that the operation created or named. */
  #do(operation: LinksOperation): readonly LinksLinkName[] {
    switch (operation.tag) {
      case "ensure-bridge": {
        const { name, mtu, vlanFiltering } = operation.val;
        const at = inHost(name);
        const existing = this.#table.known.get(this.#keyOf(at));
        if (existing !== undefined && existing.link.kind !== "bridge") throw new Refusal(`${name} exists and is not a bridge`);
        const { link } = existing ?? this.#make(at, "bridge");
        if (existing === undefined && mtu !== undefined) link.mtu = mtu;
        link.vlanFiltering = vlanFiltering || link.vlanFiltering === true;
        link.up = true;
        return [at];
      }
      case "ensure-vlan-gateway": {
        const { bridge, id, mtu } = operation.val;
        this.#find(inHost(bridge));
        const at = inHost(`${bridge}.${id}`);
        const { link } = this.#table.known.get(this.#keyOf(at)) ?? this.#make(at, "veth");
        Object.assign(link, defined({ mtu }), { up: true, running: true });
        return [at];
      }
      case "add-veth": {
        const { name, hostName, mac, hostMac, mtu, master, port, vlans, up } = operation.val;
        const inPod = { place: "pod", name } as const;
        const outside = inHost(hostName ?? `veth${this.#table.made}`);
        const knownInPod = this.#new(inPod, "veth", { mac, mtu });
        const knownOutside = this.#new(outside, "veth", { mac: hostMac, mtu });
        knownInPod.peerKey = this.#keyOf(outside);
        knownOutside.peerKey = this.#keyOf(inPod);
        const [pod, host] = [knownInPod.link, knownOutside.link];
        if (master !== undefined) this.#find(inHost(master));
        Object.assign(pod, { up, running: up, peer: outside.name });
        Object.assign(host, { up: true, running: up, peer: name, master, port, portVlans: vlans });
        return [inPod, outside];
      }
      case "add-macvlan":
      case "add-ipvlan": {
        const { name, parent, mode, mtu } = operation.val;
        const { link } = this.#find(parent);
        const at = { place: "pod", name } as const;
        const mac = "mac" in operation.val ? operation.val.mac : undefined;
        const kind = operation.tag === "add-macvlan" ? "macvlan" : "ipvlan";
        Object.assign(this.#new(at, kind, { mac, mtu: mtu ?? link.mtu }).link, { parent: parent.name, mode });
        return [at];
      }
      case "add-vlan": {
        const { name, parent, id, mtu } = operation.val;
        const { link } = this.#find(parent);
        const at = { place: "pod", name } as const;
        Object.assign(this.#new(at, "vlan", { mtu: mtu ?? link.mtu }).link, { parent: parent.name, vlanId: id });
        return [at];
      }
      case "add-dummy":
      case "add-tap":
      case "add-vrf": {
        const at = { place: "pod", name: operation.val.name } as const;
        this.#new(
          at,
          operation.tag === "add-tap" ? "tun" : operation.tag.slice(4),
          operation.tag === "add-vrf" ? {} : operation.val,
        );
        return [at];
      }
      case "delete-link":
        this.#delete(operation.val);
        return [];
      case "change-link": {
        const { link: at, alternativeNames, ...change } = operation.val;
        const { link } = this.#find(at);
        if (change.master !== undefined && change.master !== "") this.#find({ ...at, name: change.master });
        for (const [key, value] of Object.entries(change)) {
          if (value !== undefined) Object.assign(link, { [key]: key === "master" && value === "" ? undefined : value });
        }
        link.alternativeNames = [...link.alternativeNames, ...alternativeNames];
        this.#table.settleRoutes(this.#find(at));
        return [at];
      }
      case "change-port": {
        const at = inHost(operation.val.link);
        const { link } = this.#find(at);
        link.port = { ...link.port, ...defined(operation.val.port) };
        return [at];
      }
      case "add-port-vlan":
      case "delete-port-vlan": {
        const at = inHost(operation.val.link);
        const { link } = this.#find(at);
        const { vlan } = operation.val;
        const others = link.portVlans.filter((each) => !sameVlans(each, vlan));
        link.portVlans = operation.tag === "add-port-vlan" ? [...others, vlan] : others;
        return [at];
      }
      case "add-address": {
        const { link: at, address } = operation.val;
        const { link } = this.#find(at);
        if (link.addresses.some((each) => each.address === address)) throw new Refusal(`${at.name} already has ${address}`);
        link.addresses = [...link.addresses, settled(address)];
        return [at];
      }
      case "ensure-address": {
        const { link: at, address, replace } = operation.val;
        const { link } = this.#find(at);
        if (link.addresses.some((each) => each.address === address)) return [at];
        const conflicting = link.addresses.filter((each) => excludes(each.address, address));
        if (conflicting[0] !== undefined && !replace) throw new Refusal(`${at.name} has ${conflicting[0].address}`);
        link.addresses = [...link.addresses.filter((each) => !conflicting.includes(each)), settled(address)];
        return [at];
      }
      case "delete-address": {
        const { link: at, address } = operation.val;
        const known = this.#find(at);
        this.#table.removeAddress(known, address);
        this.#table.settleRoutes(known);
        return [at];
      }
      case "add-route":
      case "delete-route": {
        const { link: at, route, onLink, source } = operation.val;
        if (at === undefined) return [];
        const known = this.#find(at);
        const isAdded = operation.tag === "add-route";
        const refused = isAdded ? this.#table.refusalOf(known, route, onLink) : undefined;
        if (refused !== undefined) throw new Refusal(refused);
        const dst = networkText(route.dst);
        known.routes = known.routes.filter(
          (each) => networkText(each.dst) !== dst || each.gw !== route.gw || tableOf(each) !== tableOf(route),
        );
        if (operation.tag === "add-route") known.routes.push({ ...route, dst, link: at.name, source });
        return [at];
      }
      case "add-neighbour":
      case "delete-neighbour": {
        const { link: at, neighbour } = operation.val;
        const known = this.#find(at);
        known.neighbours = known.neighbours.filter(({ address }) => address !== neighbour.address);
        if (operation.tag === "add-neighbour") known.neighbours.push(neighbour);
        return [at];
      }
      case "set-interface":
      case "settle":
        this.#find(operation.val.link);
        return [operation.val.link];
      case "enable-forwarding":
        return [];
      case "add-bond":
      case "add-vxlan":
      case "add-ipoib":
      case "take-device":
      case "give-back":
      case "set-vf":
        throw new Refusal(`${operation.tag} is not supported by this version of Plexus`);
      default:
        return operation satisfies never;
    }
  }

  #find(name: LinksLinkName): KnownLink {
    const known = this.#table.known.get(this.#keyOf(name));
    if (known === undefined) throw new Refusal(`the ${name.place} has no link ${name.name}`);
    return known;
  }

  #new(
    name: LinksLinkName,
    kind: string,
    settings: { readonly mac?: string | undefined; readonly mtu?: number | undefined },
  ): KnownLink {
    if (this.#table.known.has(this.#keyOf(name))) throw new Refusal(`the ${name.place} already has a link ${name.name}`);
    const known = this.#make(name, kind);
    Object.assign(known.link, defined({ mac: settings.mac, mtu: settings.mtu }));
    return known;
  }

  #make({ place, name }: LinksLinkName, kind: string): KnownLink {
    this.#table.made += 1;
    const known: KnownLink = {
      link: {
        place,
        name,
        index: this.#table.made,
        kind,
        mac: `0a:58:00:00:00:${this.#table.made.toString(16).padStart(2, "0")}`,
        mtu: 1500,
        up: false,
        running: false,
        promiscuous: false,
        allMulticast: false,
        txQueueLength: 1000,
        alternativeNames: [],
        portVlans: [],
        addresses: [],
        members: [],
        carrier: false,
      },
      routes: [],
      neighbours: [],
    };
    this.#table.known.set(this.#keyOf({ place, name }), known);
    return known;
  }

  #linksAt(place: LinksPlace): readonly KnownLink[] {
    return this.#table.linksAt(place === "pod" ? this.#pod : place);
  }

  #keyOf({ place, name }: { readonly place: LinksPlace; readonly name: string }): string {
    return `${place === "pod" ? this.#pod : place} ${name}`;
  }

  #delete(name: LinksLinkName): void {
    const known = this.#table.known.get(this.#keyOf(name));
    if (known === undefined) return;
    this.#table.known.delete(this.#keyOf(name));
    const { peer } = known.link;
    const other = peer === undefined ? undefined : this.#keyOf({ place: name.place === "pod" ? "host" : "pod", name: peer });
    const peerKey = known.peerKey ?? other;
    if (peerKey !== undefined) this.#table.known.delete(peerKey);
  }
}

/** Adds links to a table, without a call. */
export function addLinks(state: LinksState, table: LinkTable, pod: string): MemoryLinks {
  return new MemoryLinks(state, table, pod);
}

/** The fault of the first malformed operation: a node refuses it before the first change. */
function requestMistake(operations: readonly LinksOperation[]): HostFault | undefined {
  for (const [number, operation] of operations.entries()) {
    const mistake = operationMistake(operation);
    if (mistake !== undefined) return misused(`${operationText(number, operation.tag)}: ${mistake}`);
  }
  return undefined;
}

/** The table of routes that name none is `main`. */
function tableOf({ table = MAIN_TABLE }: { readonly table?: number | undefined }): number {
  return table;
}

function inHost(name: string): LinksLinkName {
  return { place: "host", name };
}

function settled(address: string): LinksLink["addresses"][number] {
  return { address, tentative: false, dadFailed: false };
}

/**
 * Whether an existing address excludes another one on its link: in IPv4 any address does, in IPv6 one with an overlapping
 * network.
 */
function excludes(existing: string, added: string): boolean {
  const [a, b] = [readCidr(existing), readCidr(added)];
  if (a === undefined || b === undefined || a.address.family !== b.address.family) return false;
  return a.address.family === 4 || cidrContains(a, b.address) || cidrContains(b, a.address);
}

function sameVlans(a: LinksPortVlan, b: LinksPortVlan): boolean {
  return a.first === b.first && a.last === b.last;
}

/** Without the members that are undefined. */
function defined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
