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

/** The effects. Each throws ShimGone when the stream to the shim ends or is malformed. */
export interface Shim {
  /** Runs a native plugin to its end and serves its nested calls meanwhile. */
  exec(effect: ExecEffect): Promise<Executed>;
  /** Looks a type up on the CNI_PATH of the call or of the agent. */
  find(effect: FindEffect): Promise<Found>;
  /** Reads a component at a path that `find` answered, or the file with its signatures. */
  read(effect: ReadEffect): Promise<Content>;
  /** Sends netlink messages in a network namespace. */
  netlink(effect: NetlinkEffect): Promise<Done>;
  /** Reads and writes settings under `net` of a network namespace. */
  sysctl(effect: SysctlEffect): Promise<Done>;
  /** Sends packets from a link of a network namespace. */
  packet(effect: PacketEffect): Promise<Done>;
  /** Makes a persistent tap in a network namespace. */
  tap(effect: TapEffect): Promise<Done>;
  /** Sends packets from a link of a network namespace, and collects answers of one kind; `reply` has them as `packetsIn` reads them. */
  ask(effect: AskEffect): Promise<Done>;
  /**
   * Waits for changes of the node's links; `reply` has the kernel's messages since the last such effect. `sent` false: the shim begins to listen now, so the
   * caller lists the links. An errno: messages were lost, or nothing is listened to.
   */
  changes(effect: ChangesEffect): Promise<Done>;
  /** Calls a method of firewalld on the node's system bus. */
  zone(effect: ZoneEffect): Promise<Done>;
  /** Throws ShimGone if the shim has gone; otherwise does nothing. */
  ensureConnected(): void;
}

/** The effects by which sysctls are read and written. */
export type SysctlEffects = Pick<Shim, "sysctl">;

/** The effects by which sources of firewalld's zones are changed and read. */
export type ZoneEffects = Pick<Shim, "zone">;

/** The effects by which links are read, and packets sent and received. */
export type PacketEffects = Pick<Shim, "netlink" | "packet" | "ask">;

/** The effects by which the daemon itself looks at the node and at pods. */
export type AgentEffects = PacketEffects & Pick<Shim, "changes" | "ensureConnected">;

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
