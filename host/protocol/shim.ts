// What a brain can have done by the hands, whichever way it is connected to them.

import type { Fault } from "../../src/fault/fault.ts";
import type {
  Content,
  Done,
  Exec,
  Executed,
  Find,
  Found,
  Netlink,
  Packet,
  Read,
  Reply,
  Request,
  Sysctl,
  Tap,
} from "./messages.ts";

export type ExecEffect = Omit<Exec, "kind">;
export type FindEffect = Omit<Find, "kind">;
export type ReadEffect = Omit<Read, "kind">;
export type NetlinkEffect = Omit<Netlink, "kind">;
export type SysctlEffect = Omit<Sysctl, "kind">;
export type PacketEffect = Omit<Packet, "kind">;
export type TapEffect = Omit<Tap, "kind">;

/** The effects. All throw HandsGone when the stream to the hands ends or breaks. */
export interface Hands {
  /** Runs a native plugin to its end; nested calls of it are served meanwhile. */
  exec(effect: ExecEffect): Promise<Executed>;
  /** Looks a type up on the call's CNI_PATH; on their own, where no runtime called the hands. */
  find(effect: FindEffect): Promise<Found>;
  /** Reads a component that `find` gave. */
  read(effect: ReadEffect): Promise<Content>;
  /** Sends netlink messages in a network namespace. */
  netlink(effect: NetlinkEffect): Promise<Done>;
  /** Reads and writes settings under `net` of a network namespace. */
  sysctl(effect: SysctlEffect): Promise<Done>;
  /** Sends packets from a link of a network namespace. */
  packet(effect: PacketEffect): Promise<Done>;
  /** Makes a tap that stays, in a network namespace. */
  tap(effect: TapEffect): Promise<Done>;
  /** Does nothing but throw if they have gone. */
  ensureThere(): void;
}

/** The same where the caller can't wait: imports of a guest are answered on the spot. Nested calls wait meanwhile. */
export interface SyncHands {
  findSync(effect: FindEffect): Found;
  readSync(effect: ReadEffect): Content;
}

/** Answers a call that a running plugin made through its nest. `request.under` is the plugin's EXEC. Must not reject. */
export type NestedCallHandler = (request: Request) => Promise<Omit<Reply, "kind">>;

/** The hands are gone: nothing can be done on this call any more, and nobody waits for its answer. */
export class HandsGone extends Error {
  override readonly name = "HandsGone";
  /** HANDS_GONE, or HANDS_PROTOCOL where they said something that the protocol does not have. */
  readonly fault: Fault;

  constructor(fault: Fault) {
    super(fault.msg);
    this.fault = fault;
  }
}
