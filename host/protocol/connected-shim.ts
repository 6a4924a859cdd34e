// The shim of a daemon: any number of effects at once on one socket, and nested calls served concurrently.

import type { Socket } from "node:net";
import { fault, type Fault } from "../../src/fault/fault.ts";
import type { Result } from "../../src/fault/result.ts";
import { encodeFrame, FrameDecoder, frameParts, NESTED_CHANNEL_BIT, protocolFault } from "./frames.ts";
import {
  type AskEffect,
  type ChangesEffect,
  type ExecEffect,
  type FindEffect,
  type Shim,
  ShimGone,
  type NestedCallHandler,
  type NetlinkEffect,
  type PacketEffect,
  type ReadEffect,
  type SysctlEffect,
  type TapEffect,
  type ZoneEffect,
} from "./shim.ts";
import { decodeShimMessage, encodeMessage } from "./message-codec.ts";
import { readUnbuffered } from "../system/node-internals.ts";
import type {
  AgentGreeting,
  CallAnswer,
  Content,
  Done,
  EngineMessage,
  Executed,
  Found,
  Request,
  ShimMessage,
} from "./messages.ts";

type Answer = Exclude<ShimMessage, Request | AgentGreeting>;

/** Effects use the channels from 1 to this number. */
const lastEffectChannel = NESTED_CHANNEL_BIT - 1;

/** Bytes that are joined for one write(2). */
const maxCopied = 65_536;
const welcome = valueOrGone(encodeFrame(valueOrGone(encodeMessage(0, { kind: "welcome" }))));

interface Waiting {
  readonly kind: Answer["kind"];
  /** Serves the nested calls of an EXEC's plugin. */
  readonly serve: NestedCallHandler | undefined;
  /** The nested calls under way. */
  readonly nested: Promise<void>[];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (gone: ShimGone) => void;
}

/** One connection of a call or an agent. All pending promises reject with ShimGone when it ends. */
export class ConnectedShim {
  /** The first message: a runtime's call, or an agent's greeting. Rejects with ShimGone. */
  readonly purpose: Promise<Request | AgentGreeting>;
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #waiting = new Map<number, Waiting>();
  readonly #begin: (purpose: Request | AgentGreeting) => void;
  readonly #fail: (gone: ShimGone) => void;
  readonly #slackMs: number;
  #unwritten: Uint8Array[] = [];
  #lastChannel = 0;
  #isAgent = false;
  /** Whether the first message has arrived. */
  #begun = false;
  /** The reason for the connection's end. It is not an Error: making one costs some 50 us, and most connections end after their reply. */
  #gone: Fault | undefined;

  /** `slackMs`: the time beyond an effect's own deadline after which a silent agent counts as gone. A call needs no such limit: its runtime kills the shim. */
  constructor(socket: Socket, slackMs = 10_000) {
    this.#socket = socket;
    this.#slackMs = slackMs;
    const { promise, resolve, reject } = Promise.withResolvers<Request | AgentGreeting>();
    // Without this handler a rejection before the first `await purpose` would end the process.
    promise.catch(() => undefined);
    this.purpose = promise;
    this.#begin = resolve;
    this.#fail = reject;
    readUnbuffered(socket, (chunk) => this.#received(chunk));
    socket.on("error", (error) => this.#end(fault("SHIM_GONE", `shim: ${error.message}`)));
    socket.on("close", () => this.#end(fault("SHIM_GONE", "shim: the stream ended")));
  }

  /**
   * Sends WELCOME, the daemon's first message. Resolves when the kernel has taken it. Rejects with ShimGone if the shim has given up: then
   * the call must not be begun, because another engine serves it.
   */
  async welcome(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<Error | null | undefined>();
    this.#socket.write(welcome, resolve);
    const error = await promise;
    if (error) throw new ShimGone(fault("SHIM_GONE", `shim: ${error.message}`));
  }

  /** Answers the call and closes the connection. The shim prints the reply and exits. */
  reply(reply: CallAnswer): void {
    if (this.#gone !== undefined) return;
    this.#send(0, { kind: "reply", ...reply });
    this.#write();
    // The shim gets all that the kernel has taken. Waiting for the shim's end would keep the socket open without need.
    if (this.#socket.writableLength === 0) this.#socket.destroy();
    else this.#socket.end();
  }

  /** The shim's effects for one call. `serve` answers the nested calls of its plugins. */
  serving(serve: NestedCallHandler): Shim {
    return {
      exec: (effect: ExecEffect): Promise<Executed> => this.#effect({ kind: "exec", ...effect }, "executed", serve),
      find: (effect: FindEffect): Promise<Found> => this.#effect({ kind: "find", ...effect }, "found"),
      read: (effect: ReadEffect): Promise<Content> => this.#effect({ kind: "read", ...effect }, "content"),
      netlink: (effect: NetlinkEffect): Promise<Done> => this.#effect({ kind: "netlink", ...effect }, "done"),
      sysctl: (effect: SysctlEffect): Promise<Done> => this.#effect({ kind: "sysctl", ...effect }, "done"),
      packet: (effect: PacketEffect): Promise<Done> => this.#effect({ kind: "packet", ...effect }, "done"),
      tap: ({ selinuxContext, ...tap }: TapEffect): Promise<Done> =>
        this.#effect(
          selinuxContext === undefined ? { kind: "tap", ...tap } : { kind: "labelled-tap", ...tap, selinuxContext },
          "done",
        ),
      ask: (effect: AskEffect): Promise<Done> => this.#effect({ kind: "ask", ...effect }, "done"),
      changes: (effect: ChangesEffect): Promise<Done> => this.#effect({ kind: "changes", ...effect }, "done"),
      zone: (effect: ZoneEffect): Promise<Done> => this.#effect({ kind: "zone", ...effect }, "done"),
      ensureConnected: () => this.#ensureConnected(),
    };
  }

  #ensureConnected(): void {
    if (this.#gone !== undefined) throw new ShimGone(this.#gone);
  }

  async #effect<K extends Answer["kind"]>(
    message: EngineMessage,
    kind: K,
    serve?: NestedCallHandler,
  ): Promise<Extract<Answer, { kind: K }>> {
    this.#ensureConnected();
    const channel = this.#newChannel();
    // Sent before the promise is registered: a message that cannot be encoded throws here.
    this.#send(channel, message);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const nested: Promise<void>[] = [];
    this.#waiting.set(channel, { kind, serve, nested, resolve, reject });
    const timeout = this.#isAgent ? this.#answerTimeout(message) : undefined;
    try {
      const answer = await promise;
      if (isKind(answer, kind)) return answer;
      throw new ShimGone(protocolFault(`channel ${channel} was answered with ${answer.kind}, not ${kind}`));
    } finally {
      clearTimeout(timeout);
      // Nested calls outlive a killed plugin or shim. Waiting for them keeps their effects before the undo of the plugin's step.
      if (nested.length > 0) await Promise.all(nested);
    }
  }

  /** Closes the connection of an agent that does not answer, for example a stopped process. Otherwise the wait would never end. */
  #answerTimeout(message: EngineMessage): NodeJS.Timeout {
    const ms = ("deadlineMs" in message ? message.deadlineMs : 0) + this.#slackMs;
    return setTimeout(() => this.#hangUp(fault("SHIM_GONE", `shim: no answer to ${message.kind} within ${ms} ms`)), ms);
  }

  #newChannel(): number {
    do this.#lastChannel = (this.#lastChannel % lastEffectChannel) + 1;
    while (this.#waiting.has(this.#lastChannel));
    return this.#lastChannel;
  }

  #received(chunk: Uint8Array): void {
    this.#decoder.push(chunk);
    try {
      for (;;) {
        const frame = valueOrGone(this.#decoder.next());
        if (frame === undefined) return;
        this.#take(frame.channel, valueOrGone(decodeShimMessage(frame)));
      }
    } catch (error) {
      if (!(error instanceof ShimGone)) throw error;
      this.#hangUp(error.fault);
    }
  }

  #hangUp(reason: Fault): void {
    this.#end(reason);
    this.#socket.destroy();
  }

  #take(channel: number, message: ShimMessage): void {
    if (!isPurpose(message)) {
      const waiting = this.#waiting.get(channel);
      if (waiting?.kind !== message.kind)
        throw new ShimGone(protocolFault(`${message.kind} on channel ${channel}, which does not wait for this message`));
      this.#waiting.delete(channel);
      waiting.resolve(message);
    } else if (channel === 0 && !this.#begun) {
      this.#begun = true;
      this.#isAgent = message.kind === "agent";
      this.#begin(message);
    } else if (message.kind === "request" && channel >= NESTED_CHANNEL_BIT) {
      const caller = this.#waiting.get(message.under);
      if (caller?.serve === undefined)
        throw new ShimGone(protocolFault(`a nested call under channel ${message.under}, where no plugin runs`));
      caller.nested.push(this.#nested(channel, caller.serve(message)));
    } else throw new ShimGone(protocolFault(`${message.kind} on channel ${channel}`));
  }

  async #nested(channel: number, answer: ReturnType<NestedCallHandler>): Promise<void> {
    try {
      const reply = await answer;
      if (this.#gone === undefined) this.#send(channel, { kind: "reply", ...reply });
    } catch (error) {
      // The nested caller has ended together with the shim.
      if (!(error instanceof ShimGone)) throw error;
    }
  }

  /** Messages sent in one turn of the event loop go out in one write: each write wakes the shim. */
  #send(channel: number, message: EngineMessage): void {
    const parts = valueOrGone(frameParts(valueOrGone(encodeMessage(channel, message))));
    if (this.#unwritten.push(...parts) === parts.length) queueMicrotask(() => this.#write());
  }

  #write(): void {
    const parts = this.#unwritten;
    this.#unwritten = [];
    if (parts.reduce((sum, { length }) => sum + length, 0) <= maxCopied) {
      if (parts.length > 0) this.#socket.write(Buffer.concat(parts));
      return;
    }
    // One writev(2): a copy of a table with thousands of peers would be as large as the table.
    this.#socket.cork();
    for (const part of parts) this.#socket.write(part);
    this.#socket.uncork();
  }

  #end(reason: Fault): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    if (!this.#begun) this.#fail(new ShimGone(reason));
    for (const { reject } of this.#waiting.values()) reject(new ShimGone(reason));
    this.#waiting.clear();
  }
}

function valueOrGone<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new ShimGone(result.fault);
}

function isKind<K extends Answer["kind"]>(answer: Answer, kind: K): answer is Extract<Answer, { kind: K }> {
  return answer.kind === kind;
}

function isPurpose(message: ShimMessage): message is Request | AgentGreeting {
  return message.kind === "request" || message.kind === "agent";
}
