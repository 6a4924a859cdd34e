// The `links` capability in memory, without a kernel: a vector sets the links before the call and shows the effects of a request.
// It simulates names, kinds, MACs, ports and addresses; other refusals of the kernel need a test with a kernel.

import type {
  Fault,
  LinksCapability,
  LinksDeviceFacts,
  LinksDeviceSelector,
  LinksInstalledRoute,
  LinksLink,
  LinksLinkName,
  LinksNeighbour,
  LinksOperation,
  LinksPlace,
  LinksPortVlan,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { misused, operationText } from "../../../host/capabilities/links/link-scope.ts";
import { operationMistake, selectorMistake } from "../../../host/capabilities/links/operation-mistake.ts";
import { refuse, type WitOutcome } from "../../../host/capabilities/outcome.ts";
import type { Fault as HostFault } from "../../../src/fault/fault.ts";
import { cidrContains, formatCidr, readCidr } from "../../../src/net/ip.ts";
import { EveryNode, type HostLink } from "./every-node.ts";
import { type KnownLink, LinkTable } from "./link-table.ts";
import { addRoute, removeRoute } from "./memory-routes.ts";
import type { DelegateCall } from "./records.ts";

/**
 * A link in a vector: a name and the relevant other members. Addresses are text; routes and neighbours are the answers of
 * `links`.
 */
export interface LinkState extends Optional<Omit<LinksLink, "place" | "name" | "addresses">> {
  readonly name: string;
  readonly addresses?: readonly string[] | undefined;
  readonly routes?: readonly LinksInstalledRoute[] | undefined;
  readonly neighbours?: readonly LinksNeighbour[] | undefined;
  /** The name that the device had on the node; only links of the pod have it. */
  readonly takenFrom?: string | undefined;
}

/** The state before a call. */
export interface LinksState {
  readonly host: readonly LinkState[];
  readonly pod: readonly LinkState[];
  /** Devices of the node without a link, because a driver of user space has them. */
  readonly devices?: readonly LinksDeviceFacts[] | undefined;
  /** An operation that fails, by its index within one `apply`. */
  readonly fails?: { readonly operation: number; readonly fault: Fault } | undefined;
}

/** An operation in a vector: its name and its parameters. */
export type ShownOperation = Readonly<Record<string, unknown>>;

/** The call that uses the links: its interface in the pod, and the checks of every node. */
export interface MemoryCall {
  readonly ifname: string | undefined;
  readonly checks: EveryNode;
}

/** The call with the checks of every node. */
export function memoryCall(call: DelegateCall): MemoryCall {
  const { request } = call;
  return { ifname: "attachment" in request ? request.attachment.ifname : undefined, checks: new EveryNode(call) };
}

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };
class Refusal extends Error {}

/** The links of one call. */
export class MemoryLinks {
  readonly #table: LinkTable;
  readonly #pod: string;
  readonly #fails: LinksState["fails"];
  readonly #devices: readonly LinksDeviceFacts[];
  readonly #applied: ShownOperation[][] = [];
  readonly #call: MemoryCall | undefined;

  /**
   * `table`: the links of earlier calls, to which `state` is added. `pod`: the namespace of the call. `call`: refuses what every node refuses
   * in it.
   */
  constructor(state: LinksState = { host: [], pod: [] }, table = new LinkTable(), pod = "pod", call?: MemoryCall) {
    this.#call = call;
    this.#fails = state.fails;
    this.#devices = state.devices ?? [];
    this.#table = table;
    this.#pod = pod;
    if (!table.known.has(`${pod} lo`)) this.#make({ place: "pod", name: "lo" }, "");
    for (const place of ["host", "pod"] as const) {
      for (const { addresses, routes, neighbours, takenFrom, ...members } of state[place]) {
        const known = this.#make({ place, name: members.name }, members.kind ?? "");
        Object.assign(known.link, defined(members), { addresses: (addresses ?? []).map(settled) });
        known.routes.push(...(routes ?? []).map((route) => ({ ...route, link: known.link.name })));
        known.neighbours.push(...(neighbours ?? []));
        const { mac, mtu, name } = known.link;
        if (takenFrom === undefined) continue;
        known.taken = { pod, podName: name, before: { name: takenFrom, mac, mtu, up: false, addresses: [] } };
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

  /** The node's end of the veth that the attachment's interface is; undefined if it is none. */
  nodeEnd(): string | undefined {
    const links = [...this.#table.known.values()].flatMap(({ link }) => (link.place === "host" ? [link.name] : []));
    return links.find((name) => this.#hostLink(name)?.isNodeEnd === true);
  }

  readonly functions: LinksCapability = {
    apply: (operations) => {
      this.#applied.push(operations.map(({ tag, val }) => ({ [tag]: val })));
      const mistake = requestMistake(operations) ?? this.#call?.checks.applyRefusal(operations, (name) => this.#hostLink(name));
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
      return { ok: this.#read([...named.values()]) };
    },
    findDevice: (selector) => {
      const mistake = selectorMistake(selector);
      if (mistake !== undefined) return refuse(misused(`find-device: ${mistake}`));
      const found = this.#device(selector)?.link;
      if (found !== undefined) return { ok: { link: found.name, mac: found.mac, facts: found.device ?? { rdmaDevices: [] } } };
      const facts = this.#devices.find(({ pciAddress }) => pciAddress !== undefined && pciAddress === selector.deviceId);
      return { ok: facts && { facts } };
    },
    retainDevices: () => ({ ok: 0 }),
    read: (names) => this.#unlessRefused("read", names, () => this.#read(names)),
    routes: (name) => this.#unlessRefused("routes", name && [name], () => this.routesAt(name?.place ?? "pod", name?.name)),
    defaultLink: (place) =>
      this.#unlessRefused(
        "default-link",
        place === "pod" ? undefined : [],
        () =>
          this.#linksAt(place).find(({ routes }) => routes.some(({ dst }) => dst === "0.0.0.0/0" || dst === "::/0"))?.link.name,
      ),
    neighbours: (name) =>
      this.#unlessRefused("neighbours", [name], () => this.#table.known.get(this.#keyOf(name))?.neighbours ?? []),
  };

  #read(names: readonly LinksLinkName[]): LinksLink[] {
    return names.flatMap((name) => this.#shown(name));
  }

  #unlessRefused<T>(action: string, names: readonly LinksLinkName[] | undefined, read: () => T): WitOutcome<T> {
    const refusal = this.#call?.checks.readRefusal(action, names, (name) => this.#hostLink(name));
    return refusal === undefined ? { ok: read() } : refuse(refusal);
  }

  /** A link of the node with what its roles depend on. A vector names the ends of a veth by their `peer`. */
  #hostLink(name: string): HostLink | undefined {
    const key = this.#keyOf(inHost(name));
    const known = this.#table.known.get(key);
    if (known === undefined) return undefined;
    const { kind, master } = known.link;
    const podKey = this.#keyOf({ place: "pod", name: this.#call?.ifname ?? "" });
    const podEnd = this.#table.known.get(podKey);
    const isPeer = known.peerKey === podKey || podEnd?.peerKey === key;
    const isNamed = known.peerKey === undefined && (known.link.peer === podEnd?.link.name || podEnd?.link.peer === name);
    const isNodeEnd = kind === "veth" && podEnd !== undefined && (isPeer || isNamed);
    const isInNode = known.peerKey?.startsWith("host ") ?? !isNodeEnd;
    return { kind, isNodeEnd, isPort: master !== undefined, linkNamespace: isInNode ? undefined : 0 };
  }

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
        this.#table.removeLink(this.#keyOf(operation.val));
        return [];
      case "change-link": {
        const { link: at, alternativeNames, ...change } = operation.val;
        const known = this.#find(at);
        const { link } = known;
        if (change.master !== undefined && change.master !== "") this.#find({ ...at, name: change.master });
        // The kernel sets a link down and up when it joins or leaves a VRF (drivers/net/vrf.c, cycle_netdev).
        const masters = change.master === link.master ? [] : [link.master, change.master];
        const isCycled = change.master !== undefined && masters.some((name) => name && this.#kindOf({ ...at, name }) === "vrf");
        if (isCycled && this.#table.strict) known.routes = [];
        for (const [key, value] of Object.entries(change)) {
          if (value !== undefined) Object.assign(link, { [key]: key === "master" && value === "" ? undefined : value });
        }
        link.alternativeNames = [...new Set([...link.alternativeNames, ...alternativeNames])];
        this.#table.settleRoutes(known);
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
        if (hasAddress(link, address)) throw new Refusal(`${at.name} already has ${address}`);
        link.addresses = [...link.addresses, settled(canonical(address))];
        return [at];
      }
      case "ensure-address": {
        const { link: at, address, replace } = operation.val;
        const { link } = this.#find(at);
        if (hasAddress(link, address)) return [at];
        const conflicting = link.addresses.filter((each) => excludes(each.address, address));
        if (conflicting[0] !== undefined && !replace) throw new Refusal(`${at.name} has ${conflicting[0].address}`);
        link.addresses = [...link.addresses.filter((each) => !conflicting.includes(each)), settled(canonical(address))];
        return [at];
      }
      case "delete-address": {
        const { link: at, address } = operation.val;
        const known = this.#find(at);
        this.#table.removeAddress(known, canonical(address));
        this.#table.settleRoutes(known);
        return [at];
      }
      case "add-route":
      case "delete-route": {
        const { link: at, place, route, onLink, source } = operation.val;
        const links = this.#linksAt(at?.place ?? place);
        const named = at === undefined ? undefined : this.#find(at);
        if (operation.tag === "delete-route") {
          removeRoute(this.#table, named === undefined ? links : [named], route);
          return at === undefined ? [] : [at];
        }
        const known = named ?? this.#linkTo(route.gw ?? "");
        if (known === undefined) return [];
        const refused = this.#table.refusalOf(known, route, onLink);
        if (refused !== undefined) throw new Refusal(refused);
        addRoute(this.#table, links, known, { ...route, source });
        return at === undefined ? [] : [at];
      }
      case "add-neighbour":
      case "delete-neighbour": {
        const { link: at, neighbour } = operation.val;
        const known = this.#find(at);
        const others = known.neighbours.filter((each) => each.address !== neighbour.address || each.proxy !== neighbour.proxy);
        // The kernel replaces a proxy entry, and refuses a second neighbour.
        if (operation.tag === "add-neighbour" && !neighbour.proxy && others.length < known.neighbours.length)
          throw new Refusal(`${at.name} already has the neighbour ${neighbour.address}`);
        known.neighbours = operation.tag === "add-neighbour" ? [...others, neighbour] : others;
        return [at];
      }
      case "set-interface":
      case "settle":
        this.#find(operation.val.link);
        return [operation.val.link];
      case "enable-forwarding":
        return [];
      case "add-bond": {
        const at = { place: "pod", name: operation.val.name } as const;
        this.#new(at, "bond", operation.val).link.mode = operation.val.mode;
        return [at];
      }
      case "take-device": {
        const { device, name, keepAddresses } = operation.val;
        const known = this.#device(device);
        if (known === undefined) throw new Refusal("the node has no such device");
        const at = { place: "pod", name } as const;
        if (this.#table.known.has(this.#keyOf(at))) throw new Refusal(`the pod already has a link ${name}`);
        const { name: before, mac, mtu, up, addresses } = known.link;
        this.#table.known.delete(this.#keyOf(inHost(before)));
        known.taken = { pod: this.#pod, podName: name, before: { name: before, mac, mtu, up, addresses } };
        Object.assign(known.link, { place: "pod", name, up: false, running: false }, keepAddresses ? {} : { addresses: [] });
        this.#table.known.set(this.#keyOf(at), known);
        return [at];
      }
      case "give-back": {
        const name = operation.val;
        const entry = [...this.#table.known].find(([, { taken }]) => taken?.pod === this.#pod && taken.podName === name);
        const [key, known] = entry ?? [];
        if (key === undefined || known?.taken === undefined) return [];
        this.#table.known.delete(key);
        Object.assign(known.link, known.taken.before, { place: "host" });
        Object.assign(known, { routes: [], neighbours: [], taken: undefined });
        this.#table.known.set(this.#keyOf(inHost(known.link.name)), known);
        return [];
      }
      case "set-vf":
        throw new Refusal(`${operation.tag} is not supported by this version of Plexus`);
      default:
        return operation satisfies never;
    }
  }

  /** The device of the node that the selector means. */
  #device({ name, mac, deviceId, kernelPath }: LinksDeviceSelector): KnownLink | undefined {
    return this.#table.linksAt("host").find(({ link }) => {
      const pci = link.device?.pciAddress;
      return (
        (name === undefined || link.name === name || link.alternativeNames.includes(name)) &&
        (mac === undefined || link.mac === mac.toLowerCase()) &&
        (deviceId === undefined || pci === deviceId) &&
        (kernelPath === undefined || (pci !== undefined && kernelPath.endsWith(`/${pci}`)))
      );
    });
  }

  /** A link as `read` answers it; none if it does not exist. */
  #shown(name: LinksLinkName): readonly LinksLink[] {
    const known = this.#table.known.get(this.#keyOf(name));
    if (known === undefined) return [];
    const hasMembers = name.place === "pod" && (known.link.kind === "vrf" || known.link.kind === "bond");
    if (!hasMembers) return [known.link];
    const members = this.#linksAt(name.place).filter(({ link }) => link.master === name.name);
    return [{ ...known.link, members: members.map(({ link }) => link.name) }];
  }

  /** The link of the pod that reaches the gateway. A vector need not list the addresses of all links. */
  #linkTo(gateway: string): KnownLink | undefined {
    const known = this.#table.linkTo(this.#pod, gateway);
    if (known === undefined && this.#table.strict) throw new Refusal(`the pod reaches no gateway ${gateway}`);
    return known;
  }

  #kindOf(name: LinksLinkName): string | undefined {
    return this.#table.known.get(this.#keyOf(name))?.link.kind;
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

function inHost(name: string): LinksLinkName {
  return { place: "host", name };
}

/** An address in the kernel's spelling. */
function canonical(address: string): string {
  const cidr = readCidr(address);
  return cidr === undefined ? address : formatCidr(cidr);
}

function hasAddress({ addresses }: LinksLink, address: string): boolean {
  return addresses.some((each) => canonical(each.address) === canonical(address));
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
