// The `links` capability in memory, without a kernel: a vector sets the links before the call and shows the effects of a request.
// The simulation has names, kinds, MACs, ports and addresses; other refusals of the kernel need a test with a kernel.

import type {
  Fault,
  LinksCapability,
  LinksDeviceFacts,
  LinksInstalledRoute,
  LinksLink,
  LinksLinkName,
  LinksNeighbour,
  LinksOperation,
  LinksPlace,
  LinksVrf,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { misused, operationText } from "../../../host/capabilities/links/link-scope.ts";
import { operationMistake, selectorMistake } from "../../../host/capabilities/links/operation-mistake.ts";
import { refuse, type WitOutcome } from "../../../host/capabilities/outcome.ts";
import type { Fault as HostFault } from "../../../src/fault/fault.ts";
import { EveryNode, type HostLink } from "./every-node.ts";
import { LinkTable } from "./link-table.ts";
import { giveBack, selectedDevice, setVf, takeDevice } from "./memory-devices.ts";
import { makeLink } from "./memory-link-kinds.ts";
import { changeLink, settled } from "./memory-link-settings.ts";
import { changeRoute } from "./memory-routes.ts";
import type { DelegateCall } from "./records.ts";
import { Refusal } from "./refusal.ts";
import { defined, inHost, VisibleLinks } from "./visible-links.ts";

/**
 * A link in a vector: a name and the relevant other members. Addresses are text; routes and neighbours are the answers of
 * `links`.
 */
export interface LinkState extends Optional<Omit<LinksLink, "place" | "name" | "addresses">> {
  readonly name: string;
  readonly addresses?: readonly string[] | undefined;
  readonly routes?: readonly LinksInstalledRoute[] | undefined;
  readonly neighbours?: readonly LinksNeighbour[] | undefined;
  /** The table of a VRF, which every VRF has. */
  readonly vrfTable?: number | undefined;
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

/** `RT_TABLE_LOCAL`, whose routes no function answers. */
const localTable = 255;

type Optional<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The links of one call. */
export class MemoryLinks {
  readonly #links: VisibleLinks;
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
    this.#links = new VisibleLinks(table, pod);
    if (!table.known.has(`${pod} lo`)) this.#links.make({ place: "pod", name: "lo" }, "");
    for (const place of ["host", "pod"] as const) {
      for (const { addresses, routes, neighbours, takenFrom, vrfTable, ...members } of state[place]) {
        if (members.kind === "vrf" && vrfTable === undefined)
          throw new Error(`links.${place}: "${members.name}" is a VRF, so it needs its table: add vrfTable`);
        const known = this.#links.make({ place, name: members.name }, members.kind ?? "");
        Object.assign(known.link, defined(members), { addresses: (addresses ?? []).map(settled) });
        known.routes.push(...(routes ?? []).map((route) => ({ ...route, link: known.link.name })));
        known.neighbours.push(...(neighbours ?? []));
        known.vrfTable = vrfTable;
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
    return this.#links
      .at(place)
      .filter(({ link }) => name === undefined || link.name === name)
      .flatMap((known) => this.#links.table.routesOver(known))
      .filter(({ table }) => table !== localTable);
  }

  /** The node's end of the veth that the attachment's interface is; undefined if it is none. */
  nodeEnd(): string | undefined {
    const links = [...this.#links.table.known.values()].flatMap(({ link }) => (link.place === "host" ? [link.name] : []));
    return links.find((name) => this.#hostLink(name)?.isNodeEnd === true);
  }

  readonly functions: LinksCapability = {
    apply: (operations) => {
      this.#applied.push(operations.map(({ tag, val }) => ({ [tag]: val })));
      const mistake = requestMistake(operations) ?? this.#call?.checks.applyRefusal(operations, (name) => this.#hostLink(name));
      if (mistake !== undefined) return refuse(mistake);
      const before = structuredClone(this.#links.table.known);
      const named = new Map<string, LinksLinkName>();
      for (const [at, operation] of operations.entries()) {
        try {
          if (this.#fails?.operation === at) throw new Refusal(this.#fails.fault.msg);
          for (const name of this.#do(operation)) named.set(this.#links.keyOf(name), name);
        } catch (thrown) {
          if (!(thrown instanceof Refusal)) throw thrown;
          this.#links.table.known = before;
          // A removed link cannot be made again.
          for (const each of operations.slice(0, at))
            if (each.tag === "delete-link") this.#links.table.removeLink(this.#links.keyOf(each.val));
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
      const found = selectedDevice(this.#links, selector)?.link;
      if (found !== undefined) return { ok: { link: found.name, mac: found.mac, facts: found.device ?? { rdmaDevices: [] } } };
      const facts = this.#devices.find(({ pciAddress }) => pciAddress !== undefined && pciAddress === selector.deviceId);
      return { ok: facts && { facts } };
    },
    retainDevices: () => ({ ok: 0 }),
    read: (names) => this.#unlessRefused("read", names, () => this.#read(names)),
    routes: (name) => this.#unlessRefused("routes", name && [name], () => this.routesAt(name?.place ?? "pod", name?.name)),
    vrfs: () => this.#unlessRefused("vrfs", undefined, () => this.vrfs()),
    defaultLink: (place) =>
      this.#unlessRefused(
        "default-link",
        place === "pod" ? undefined : [],
        () =>
          this.#links.at(place).find(({ routes }) => routes.some(({ dst }) => dst === "0.0.0.0/0" || dst === "::/0"))?.link.name,
      ),
    neighbours: (name) => this.#unlessRefused("neighbours", [name], () => this.#links.get(name)?.neighbours ?? []),
  };

  #read(names: readonly LinksLinkName[]): LinksLink[] {
    return names.flatMap((name) => this.#links.shown(name));
  }

  /** The VRFs of the pod with their tables. */
  vrfs(): readonly LinksVrf[] {
    return this.#links
      .at("pod")
      .flatMap(({ link, vrfTable }) => (vrfTable === undefined ? [] : [{ name: link.name, table: vrfTable }]));
  }

  #unlessRefused<T>(action: string, names: readonly LinksLinkName[] | undefined, read: () => T): WitOutcome<T> {
    const refusal = this.#call?.checks.readRefusal(action, names, (name) => this.#hostLink(name));
    return refusal === undefined ? { ok: read() } : refuse(refusal);
  }

  /** A link of the node with what its roles depend on. A vector names the ends of a veth by their `peer`. */
  #hostLink(name: string): HostLink | undefined {
    const key = this.#links.keyOf(inHost(name));
    const known = this.#links.table.known.get(key);
    if (known === undefined) return undefined;
    const { kind, master } = known.link;
    const podKey = this.#links.keyOf({ place: "pod", name: this.#call?.ifname ?? "" });
    const podEnd = this.#links.table.known.get(podKey);
    const isPeer = known.peerKey === podKey || podEnd?.peerKey === key;
    const isNamed = known.peerKey === undefined && (known.link.peer === podEnd?.link.name || podEnd?.link.peer === name);
    const isNodeEnd = kind === "veth" && podEnd !== undefined && (isPeer || isNamed);
    const isInNode = known.peerKey?.startsWith("host ") ?? !isNodeEnd;
    return { kind, isNodeEnd, isPort: master !== undefined, linkNamespace: isInNode ? undefined : 0 };
  }

  /** Answers the links that the operation created or named. */
  #do(operation: LinksOperation): readonly LinksLinkName[] {
    switch (operation.tag) {
      case "ensure-bridge":
      case "ensure-vlan-gateway":
      case "add-veth":
      case "add-macvlan":
      case "add-ipvlan":
      case "add-vlan":
      case "add-dummy":
      case "add-tap":
      case "add-vrf":
      case "add-bond":
        return makeLink(this.#links, operation);
      case "change-link":
      case "change-port":
      case "add-port-vlan":
      case "delete-port-vlan":
      case "add-address":
      case "ensure-address":
      case "delete-address":
      case "add-neighbour":
      case "delete-neighbour":
        return changeLink(this.#links, operation);
      case "delete-link":
        this.#links.table.removeLink(this.#links.keyOf(operation.val));
        return [];
      case "add-route":
      case "delete-route":
        return changeRoute(this.#links, operation);
      case "take-device":
        return takeDevice(this.#links, operation);
      case "give-back":
        return giveBack(this.#links, operation.val);
      case "set-interface": {
        const known = this.#links.find(operation.val.link);
        if (operation.val.family === "ipv6" && operation.val.name === "disable_ipv6") {
          known.ipv6Disabled = operation.val.value !== "0";
          this.#links.table.settle(known);
        }
        return [operation.val.link];
      }
      case "settle":
        this.#links.find(operation.val.link);
        return [operation.val.link];
      case "enable-forwarding":
        return [];
      case "set-vf":
        return setVf(this.#links, this.#devices, operation.val);
      default:
        return operation satisfies never;
    }
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
