// The `ovs` capability in memory: a vector sets the bridges and ports before the call and shows the ports after it. ovs-agrees.test.ts compares it with a
// real Open vSwitch.

import type { AttachmentFacts } from "../../../host/capabilities/call-facts.ts";
import type {
  AttachmentId,
  Fault,
  OvsCapability,
  OvsNewPort,
  OvsPortState,
} from "../../../host/sandbox/abi/generated/delegate-1.0.0.ts";
import { matchesPattern } from "../../../src/configuration/grant-patterns.ts";
import { isLinkName, normalMac, providedInterfaceId, requestProblem } from "../../../src/ovsdb/port-request.ts";
import type { DelegateCall } from "./records.ts";

/** A port of a bridge. */
export interface MemoryPort {
  readonly bridge: string;
  readonly interfaceId?: string | undefined;
  readonly mac?: string | undefined;
  /** `containerId ifname`; absent for a port that no delegate of this network made. */
  readonly owner?: string | undefined;
  /** The reason why ovs-vswitchd cannot take the port. */
  readonly error?: string | undefined;
}

/** A vector's state. */
export interface OvsState {
  /** The granted bridges, which exist. */
  readonly bridges?: readonly string[] | undefined;
  /** The granted interface IDs besides that of the configuration's external port; `*` is a wildcard. */
  readonly interfaceIds?: readonly string[] | undefined;
  readonly ports?: Readonly<Record<string, MemoryPort>> | undefined;
  /** Reasons why ovs-vswitchd will not take the ports of these links. */
  readonly refuses?: Readonly<Record<string, string>> | undefined;
  /** All functions answer this fault. */
  readonly fault?: Fault | undefined;
}

/** The call that uses the ports. */
export interface OvsCall {
  readonly verb: DelegateCall["verb"];
  /** Undefined for GC and STATUS. */
  readonly attachment: AttachmentId | undefined;
  readonly facts: Pick<AttachmentFacts, "hostVeths">;
  /** The delegate's configuration as JSON text. */
  readonly config: string;
}

type Outcome<T> = { readonly ok: T } | { readonly err: Fault };

/** The bridge of a vector that names none. */
const defaultBridges = ["br-int"];

/** The ports of one call. */
export class MemoryOvs {
  readonly #state: OvsState;
  readonly #call: OvsCall;
  readonly #ports: Map<string, MemoryPort>;

  /** `ports`: the ports of earlier calls. */
  constructor(state: OvsState = {}, call: OvsCall, ports = new Map(Object.entries(state.ports ?? {}))) {
    this.#state = state;
    this.#call = call;
    this.#ports = ports;
  }

  /** The current ports, by link. */
  ports(): Readonly<Record<string, MemoryPort>> {
    return Object.fromEntries(this.#ports);
  }

  readonly functions: OvsCapability = {
    addPort: (port) => this.#act(["add"], () => this.#mistakeIn(port) ?? this.#add(port)),
    settle: (link) =>
      this.#onLink(["add", "check"], link, () => {
        const state = this.#own(link);
        if (state === undefined) return refuse(999, `the attachment has no port ${link}`);
        return state.error === undefined ? { ok: state } : refuse(5, `ovs-vswitchd cannot take port ${link}: ${state.error}`);
      }),
    port: (link) => this.#onLink(["add", "del", "check"], link, () => ({ ok: this.#own(link) })),
    ports: () => this.#act(["add", "del", "check"], () => ({ ok: this.#owned() })),
    removePort: (link) =>
      this.#onLink(["add", "del"], link, () => ({ ok: this.#own(link) !== undefined && this.#ports.delete(link) })),
    removePorts: () => this.#act(["add", "del"], () => ({ ok: this.#remove(this.#owned().map(({ link }) => link)) })),
    retain: (valid) =>
      this.#act(["gc"], () => {
        const kept = new Set(valid.map(ownerOf));
        const stale = [...this.#ports].filter(([, { owner }]) => owner !== undefined && !kept.has(owner));
        return { ok: this.#remove(stale.map(([link]) => link)) };
      }),
    probe: () =>
      this.#act(["add", "del", "check", "gc", "status"], () =>
        this.#bridges.length > 0 ? { ok: undefined } : refuse(11, "Open vSwitch has no granted bridge"),
      ),
  };

  get #bridges(): readonly string[] {
    return this.#state.bridges ?? defaultBridges;
  }

  #act<T>(verbs: readonly OvsCall["verb"][], act: () => Outcome<T>): Outcome<T> {
    if (!verbs.includes(this.#call.verb)) return refuse(999, `${this.#call.verb} may not do this; allowed: ${verbs.join(", ")}`);
    return this.#state.fault === undefined ? act() : { err: this.#state.fault };
  }

  #onLink<T>(verbs: readonly OvsCall["verb"][], link: string, act: () => Outcome<T>): Outcome<T> {
    return this.#act(verbs, () => (isLinkName(link) ? act() : refuse(999, `${link} is not the name of a link`)));
  }

  #mistakeIn(port: OvsNewPort): { readonly err: Fault } | undefined {
    const { facts, config } = this.#call;
    const problem = requestProblem(port);
    if (problem !== undefined) return refuse(999, problem);
    if (!this.#bridges.includes(port.bridge)) return refuse(7, `bridge ${port.bridge} is not granted`);
    if (!facts.hostVeths.includes(port.link)) {
      return refuse(999, `${port.link} is not the node's end of a veth that this call made`);
    }
    const isGranted = (this.#state.interfaceIds ?? []).some((pattern) => matchesPattern(pattern, port.interfaceId));
    if (isGranted || port.interfaceId === providedInterfaceId(JSON.parse(config))) return undefined;
    return refuse(7, `interface ID ${port.interfaceId} is not granted`);
  }

  #add({ bridge, link, interfaceId, mac }: OvsNewPort): Outcome<undefined> {
    const port = { bridge, interfaceId, mac: normalMac(mac), owner: this.#owner };
    const existing = this.#ports.get(link);
    if (existing === undefined) {
      const error = this.#state.refuses?.[link];
      this.#ports.set(link, error === undefined ? port : { ...port, error });
      return { ok: undefined };
    }
    const { error: _, ...members } = existing;
    const isSame = Object.entries(port).every(([key, value]) => Reflect.get(members, key) === value);
    return isSame ? { ok: undefined } : refuse(11, `bridge ${existing.bridge} already has a port ${link}`);
  }

  #remove(links: readonly string[]): number {
    for (const link of links) this.#ports.delete(link);
    return links.length;
  }

  get #owner(): string {
    return this.#call.attachment === undefined ? "" : ownerOf(this.#call.attachment);
  }

  #owned(): OvsPortState[] {
    return [...this.#ports.keys()].flatMap((link) => this.#own(link) ?? []);
  }

  #own(link: string): OvsPortState | undefined {
    const port = this.#ports.get(link);
    if (port === undefined || port.owner !== this.#owner) return undefined;
    const { bridge, interfaceId = "", mac = "", error } = port;
    const number = error === undefined ? [...this.#ports.keys()].indexOf(link) + 1 : undefined;
    return { bridge, link, interfaceId, mac, number, error, linkUp: error === undefined, installed: false };
  }
}

function ownerOf({ containerId, ifname }: AttachmentId): string {
  return `${containerId} ${ifname}`;
}

function refuse(code: number, msg: string): { readonly err: Fault } {
  return { err: { code, msg } };
}
