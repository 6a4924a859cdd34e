// The shim of a shadow: reads pass, and everything else is refused. This bound does not depend on the bound capabilities.

import type { Content, Done, Executed, Found } from "../../protocol/messages.ts";
import type { NetlinkEffect, NetlinkEffects, Shim, ShimPresence, SysctlEffect, SysctlEffects } from "../../protocol/shim.ts";
import { u16At, u32At } from "../../system/netlink/bytes.ts";
import { EPERM } from "../../system/errno.ts";
import type { DryRun } from "./dry-run.ts";

/** A netlink message's header, in bytes, and where its length and type are. */
const headerBytes = 16;
const lengthAt = 0;
const typeAt = 4;
/** rtnetlink's types come in fours from RTM_NEWLINK (16): NEW, DEL, GET, SET. */
const RTM_BASE = 16;
const GET = 2;

const refused: Done = { kind: "done", errno: EPERM, sent: false, reply: new Uint8Array() };

/** The effects of the real shim by which a shadow reads. */
type ReadEffects = NetlinkEffects & SysctlEffects & ShimPresence;

/** The shim for the capabilities of one shadow. */
export class DryShim implements Shim {
  readonly #shim: ReadEffects;
  readonly #run: DryRun;

  constructor(shim: ReadEffects, run: DryRun) {
    this.#shim = shim;
    this.#run = run;
  }

  /** Sends messages that only read links, addresses, routes and neighbours. */
  async netlink(effect: NetlinkEffect): Promise<Done> {
    return !this.#run.ended && onlyReads(effect) ? this.#shim.netlink(effect) : refused;
  }

  /** Reads the settings, also those that a caller would write: the answer has the present values either way. */
  async sysctl({ path, settings }: SysctlEffect): Promise<Done> {
    if (this.#run.ended) return refused;
    return this.#shim.sysctl({ path, settings: settings.map(({ key }) => ({ key, value: "" })) });
  }

  async packet(): Promise<Done> {
    return refused;
  }

  async tap(): Promise<Done> {
    return refused;
  }

  async ask(): Promise<Done> {
    return refused;
  }

  async changes(): Promise<Done> {
    return refused;
  }

  async zone(): Promise<Done> {
    return refused;
  }

  async exec(): Promise<Executed> {
    throw new Error("a shadow executes no plugin");
  }

  async find(): Promise<Found> {
    return { kind: "found", what: "nothing", path: "", identity: "" };
  }

  async read(): Promise<Content> {
    return { kind: "content", errno: EPERM, content: new Uint8Array() };
  }

  ensureConnected(): void {
    this.#shim.ensureConnected();
  }
}

/** Whether the effect is of rtnetlink and all of its messages are requests to read. */
function onlyReads({ protocol, request }: NetlinkEffect): boolean {
  if (protocol !== undefined || request.length < headerBytes) return false;
  for (let at = 0; at < request.length;) {
    const length = at + headerBytes <= request.length ? u32At(request, at + lengthAt) : 0;
    if (length < headerBytes || at + length > request.length) return false;
    const type = u16At(request, at + typeAt);
    if (type < RTM_BASE || (type - RTM_BASE) % 4 !== GET) return false;
    at += (length + 3) & ~3;
  }
  return true;
}
