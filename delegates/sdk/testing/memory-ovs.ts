// The `ovs` capability in memory: a vector sets the bridges and ports before the call and shows the ports after it. ovs-agrees.test.ts compares it with a
// real Open vSwitch.

import {
  attachmentIn,
  attachmentVerbs,
  linkMistake,
  noPortToAwait,
  type OvsCall,
  portDenial,
  retainDenial,
} from "../../../host/capabilities/ovs/requests.ts";
import { refuse, type WitOutcome } from "../../../host/capabilities/outcome.ts";
import type {
  AttachmentId,
  Fault,
  OvsCapability,
  OvsNewPort,
  OvsPortState,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { fault } from "../../../src/fault/fault.ts";
import { normalMac, providedInterfaceId } from "../../../src/ovsdb/port-request.ts";
import { hasVlans, type VlanRange } from "../../../src/ovsdb/port-vlans.ts";
import { cniVerb, type DelegateCall } from "./records.ts";

/** A port of a bridge. */
export interface MemoryPort {
  readonly bridge: string;
  readonly interfaceId?: string | undefined;
  readonly mac?: string | undefined;
  /** `containerId ifname`; absent for a port that no delegate of this network made. */
  readonly owner?: string | undefined;
  /** The VLAN of untagged frames. */
  readonly tag?: number | undefined;
  /** The VLANs of tagged frames. */
  readonly trunks?: readonly VlanRange[] | undefined;
  /** The requested number. */
  readonly number?: number | undefined;
  /** The reason why ovs-vswitchd cannot take the port. */
  readonly error?: string | undefined;
}

/** A vector's state. */
export interface OvsState {
  /** The granted bridges, which exist. */
  readonly bridges?: readonly string[] | undefined;
  /** The granted interface IDs besides that of the configuration's external port; `*` is a wildcard. */
  readonly interfaceIds?: readonly string[] | undefined;
  /** The granted VLANs. */
  readonly vlans?: readonly string[] | undefined;
  readonly ports?: Readonly<Record<string, MemoryPort>> | undefined;
  /** Reasons why ovs-vswitchd will not take the ports of these links. */
  readonly refuses?: Readonly<Record<string, string>> | undefined;
  /** All functions answer this fault. */
  readonly fault?: Fault | undefined;
}

/** The call that uses the ports. */
export interface MemoryOvsCall extends Pick<OvsCall, "attachment" | "facts"> {
  readonly verb: DelegateCall["verb"];
  /** The delegate's configuration as JSON text. */
  readonly config: string;
}

/** The bridge of a vector that names none. */
const defaultBridges = ["br-int"];

/** The ports of one call. */
export class MemoryOvs {
  readonly #state: OvsState;
  readonly #call: OvsCall;
  readonly #ports: Map<string, MemoryPort>;

  /** `ports`: the ports of earlier calls. */
  constructor(state: OvsState = {}, call: MemoryOvsCall, ports = new Map(Object.entries(state.ports ?? {}))) {
    this.#state = state;
    const { verb, attachment, facts, config } = call;
    const parsed: unknown = JSON.parse(config);
    this.#call = {
      type: typeOf(parsed),
      verb: cniVerb(verb),
      attachment,
      facts,
      grant: { bridges: state.bridges ?? defaultBridges, interfaceIds: state.interfaceIds ?? [], vlans: state.vlans ?? [] },
      providedInterfaceId: providedInterfaceId(parsed),
    };
    this.#ports = ports;
  }

  /** The current ports, by link. */
  ports(): Readonly<Record<string, MemoryPort>> {
    return Object.fromEntries(this.#ports);
  }

  readonly functions: OvsCapability = {
    addPort: (port) =>
      this.#ofAttachment(["ADD"], () => {
        const denied = portDenial(this.#call, port);
        return denied === undefined ? this.#add(port) : refuse(denied);
      }),
    settle: (link) =>
      this.#onLink(["ADD", "CHECK"], link, () => {
        const state = this.#own(link);
        if (state === undefined) return refuse(noPortToAwait(link));
        if (state.error === undefined) return { ok: state };
        return refuse(fault("OVS_FAILED", `ovs-vswitchd cannot take port ${link}: ${state.error}`));
      }),
    port: (link) => this.#onLink(attachmentVerbs, link, () => ({ ok: this.#own(link) })),
    ports: () => this.#ofAttachment(attachmentVerbs, () => ({ ok: this.#owned() })),
    removePort: (link) =>
      this.#onLink(["ADD", "DEL"], link, () => ({ ok: this.#own(link) !== undefined && this.#ports.delete(link) })),
    removePorts: () => this.#ofAttachment(["ADD", "DEL"], () => ({ ok: this.#remove(this.#owned().map(({ link }) => link)) })),
    retain: (valid) => {
      const denied = retainDenial(this.#call);
      if (denied !== undefined) return refuse(denied);
      return this.#unlessFailing(() => {
        const kept = new Set(valid.map(ownerOf));
        const stale = [...this.#ports].filter(([, { owner }]) => owner !== undefined && !kept.has(owner));
        return { ok: this.#remove(stale.map(([link]) => link)) };
      });
    },
    probe: () =>
      this.#unlessFailing(() =>
        (this.#call.grant.bridges ?? []).length > 0
          ? { ok: undefined }
          : refuse(fault("OVS_BRIDGE_MISSING", "Open vSwitch has no granted bridge")),
      ),
  };

  #ofAttachment<T>(verbs: readonly OvsCall["verb"][], act: () => WitOutcome<T>): WitOutcome<T> {
    const attachment = attachmentIn(this.#call, verbs);
    return attachment.ok ? this.#unlessFailing(act) : refuse(attachment.fault);
  }

  #onLink<T>(verbs: readonly OvsCall["verb"][], link: string, act: () => WitOutcome<T>): WitOutcome<T> {
    const mistake = linkMistake(link);
    return this.#ofAttachment(verbs, () => (mistake === undefined ? act() : refuse(mistake)));
  }

  #unlessFailing<T>(act: () => WitOutcome<T>): WitOutcome<T> {
    return this.#state.fault === undefined ? act() : { err: this.#state.fault };
  }

  #add({ bridge, link, interfaceId, mac, tag, trunks, number }: OvsNewPort): WitOutcome<undefined> {
    const port = { bridge, interfaceId, mac: normalMac(mac), owner: this.#owner };
    const existing = this.#ports.get(link);
    if (existing === undefined) {
      const error = this.#state.refuses?.[link];
      const asked = { ...(tag === undefined ? {} : { tag }), ...(trunks === undefined ? {} : { trunks }) };
      const requested = number === undefined ? {} : { number };
      this.#ports.set(link, { ...port, ...asked, ...requested, ...(error === undefined ? {} : { error }) });
      return { ok: undefined };
    }
    const hasMembers = Object.entries(port).every(([key, value]) => Reflect.get(existing, key) === value);
    const hasNumber = number === undefined || number === existing.number;
    if (hasMembers && hasNumber && hasVlans(existing, { tag, trunks })) return { ok: undefined };
    return refuse(fault("OVS_PORT_CONFLICT", `bridge ${existing.bridge} already has a port ${link}`));
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
    const { bridge, interfaceId = "", mac = "", tag, trunks = [], error } = port;
    const next = port.number ?? [...this.#ports.keys()].indexOf(link) + 1;
    const number = error === undefined ? next : undefined;
    return {
      bridge,
      link,
      interfaceId,
      mac,
      number,
      error,
      linkUp: error === undefined,
      installed: false,
      tag,
      trunks: [...trunks],
    };
  }
}

function ownerOf({ containerId, ifname }: AttachmentId): string {
  return `${containerId} ${ifname}`;
}

/** The delegate's type in its configuration, which names its grant. */
function typeOf(config: unknown): string {
  const type: unknown = typeof config === "object" && config !== null ? Reflect.get(config, "type") : undefined;
  return typeof type === "string" ? type : "";
}
