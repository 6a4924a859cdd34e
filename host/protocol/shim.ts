// The effects that an engine can ask of the shim.

import type { Fault } from "../../src/fault/fault.ts";
import type {
  Ask,
  CallAnswer,
  Changes,
  Content,
  Done,
  Exec,
  Executed,
  Find,
  Found,
  Netlink,
  Packet,
  Read,
  Request,
  Sysctl,
  Tap,
  Zone,
} from "./messages.ts";

/** The parameters of EXEC; the types below are those of the other effects. */
export type ExecEffect = Omit<Exec, "kind">;
export type FindEffect = Omit<Find, "kind">;
export type ReadEffect = Omit<Read, "kind">;
export type NetlinkEffect = Omit<Netlink, "kind">;
export type SysctlEffect = Omit<Sysctl, "kind">;
export type PacketEffect = Omit<Packet, "kind">;
/** With a context the effect is a LABELLED_TAP, which earlier shims lack. */
export type TapEffect = Omit<Tap, "kind"> & { readonly selinuxContext?: string };
export type AskEffect = Omit<Ask, "kind">;
export type ChangesEffect = Omit<Changes, "kind">;
export type ZoneEffect = Omit<Zone, "kind">;

/** Looks for plugins. */
export interface FindEffects {
  /** Looks a type up on the CNI_PATH of the call or of the agent. */
  find(effect: FindEffect): Promise<Found>;
}

/** Talks to the kernel by netlink. */
export interface NetlinkEffects {
  /** Sends netlink messages in a network namespace. */
  netlink(effect: NetlinkEffect): Promise<Done>;
}

/** Reads and writes sysctls. */
export interface SysctlEffects {
  /** Reads and writes settings under `net` of a network namespace. */
  sysctl(effect: SysctlEffect): Promise<Done>;
}

/** Makes taps. */
export interface TapEffects {
  /** Makes a persistent tap in a network namespace. */
  tap(effect: TapEffect): Promise<Done>;
}

/** Reads links, and sends and receives packets. */
export interface PacketEffects extends NetlinkEffects {
  /** Sends packets from a link of a network namespace. */
  packet(effect: PacketEffect): Promise<Done>;
  /** Sends packets from a link of a network namespace, and collects answers of one kind; `reply` has them as `packetsIn` reads them. */
  ask(effect: AskEffect): Promise<Done>;
}

/** Follows the node's links. */
export interface ChangeEffects {
  /**
   * Waits for changes of the node's links; `reply` has the kernel's messages since the last such effect. `sent` false: the shim begins to listen now, so the
   * caller lists the links. An errno: messages were lost, or nothing is listened to.
   */
  changes(effect: ChangesEffect): Promise<Done>;
}

/** Changes and reads the sources of firewalld's zones. */
export interface ZoneEffects {
  /** Calls a method of firewalld on the node's system bus. */
  zone(effect: ZoneEffect): Promise<Done>;
}

/** Whether the shim is there. */
export interface ShimPresence {
  /** Throws ShimGone if the shim has gone; otherwise does nothing. */
  ensureConnected(): void;
}

/** The effects by which the daemon itself looks at the node and at pods. */
export interface AgentEffects extends PacketEffects, ChangeEffects, ShimPresence {}

/** All effects. Each throws ShimGone when the stream to the shim ends or is malformed. */
export interface Shim extends AgentEffects, FindEffects, SysctlEffects, TapEffects, ZoneEffects {
  /** Runs a native plugin to its end and serves its nested calls meanwhile. */
  exec(effect: ExecEffect): Promise<Executed>;
  /** Reads a component at a path that `find` answered, or the file with its signatures. */
  read(effect: ReadEffect): Promise<Content>;
}

/** Answers a nested call of a running plugin; `request.under` is the channel of the plugin's EXEC. Must not reject. */
export type NestedCallHandler = (request: Request) => Promise<CallAnswer>;

/** The shim is gone: this call can have no more effects, and no caller waits for its answer. */
export class ShimGone extends Error {
  override readonly name = "ShimGone";
  /** SHIM_GONE, or SHIM_PROTOCOL if the shim sent a message that the protocol does not allow. */
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.msg);
    this.fault = fault;
  }
}
