// The hands as a resident brain has them: effects on a socket, any number at once, nested calls served side by side.

import type { Socket } from "node:net";
import { fault, type Fault } from "../../src/fault/fault.ts";
import type { Result } from "../../src/fault/result.ts";
import { encodeFrame, FrameDecoder, NESTED_CHANNEL_BIT, protocolFault } from "../hands/frames.ts";
import {
  type ExecEffect,
  type FindEffect,
  type Hands,
  HandsGone,
  type NestedCallHandler,
  type NetlinkEffect,
  type PacketEffect,
  type ReadEffect,
  type SysctlEffect,
  type TapEffect,
} from "../hands/hands.ts";
import { decodeHandsMessage, encodeMessage } from "../hands/message-frames.ts";
import { readStraight } from "../streams/read-straight.ts";
import type { BrainMessage, Content, Done, Executed, Found, HandsMessage, Reply, Request, Resident } from "../hands/messages.ts";

type Answer = Exclude<HandsMessage, Request | Resident>;

/** How long beyond an effect's own deadline resident hands may take to answer, in ms. Calls are bounded by their runtime, who kills the hands. */
const defaultSlackMs = 10_000;
/** Channels of effects go from 1 to this. */
const lastEffectChannel = NESTED_CHANNEL_BIT - 1;

const welcome = good(encodeFrame(good(encodeMessage(0, { kind: "welcome" }))));

interface Waiting {
  readonly kind: Answer["kind"];
  /** Who serves what the plugin of an EXEC calls. */
  readonly serve: NestedCallHandler | undefined;
  /** What is being served of it. */
  readonly nested: Promise<void>[];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (gone: HandsGone) => void;
}

/** One connection: of a call, or of resident hands. All that waits rejects with HandsGone when it ends. */
export class ConnectedHands {
  /** What the hands are there for: the call for which they were started, or to stay; rejects with HandsGone. */
  readonly purpose: Promise<Request | Resident>;
  readonly #socket: Socket;
  readonly #decoder = new FrameDecoder();
  readonly #waiting = new Map<number, Waiting>();
  readonly #begin: (purpose: Request | Resident) => void;
  readonly #fail: (gone: HandsGone) => void;
  readonly #slackMs: number;
  #unwritten: Uint8Array[] = [];
  #lastChannel = 0;
  #stays = false;
  #begun = false;
  /** Why they are. No error yet: making one costs some 50 us, and most have only ended after their reply. */
  #gone: Fault | undefined;

  /** `slackMs`: how long beyond an effect's own deadline resident hands may take, before they count as gone. */
  constructor(socket: Socket, slackMs: number = defaultSlackMs) {
    this.#socket = socket;
    this.#slackMs = slackMs;
    const { promise, resolve, reject } = Promise.withResolvers<Request | Resident>();
    // Who asks for it later still gets the rejection.
    promise.catch(() => undefined);
    this.purpose = promise;
    this.#begin = resolve;
    this.#fail = reject;
    readStraight(socket, (chunk) => this.#received(chunk));
    socket.on("error", (error) => this.#end(fault("HANDS_GONE", `hands: ${error.message}`)));
    socket.on("close", () => this.#end(fault("HANDS_GONE", "hands: the stream ended")));
  }

  /**
   * Tells them that they have come to the right place; the first that they hear. Resolves when the kernel has it for them, rejects with
   * HandsGone where they have given up: nothing that they asked for may be begun then, another brain does it.
   */
  async welcome(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<Error | null | undefined>();
    this.#socket.write(welcome, resolve);
    const error = await promise;
    if (error) throw new HandsGone(fault("HANDS_GONE", `hands: ${error.message}`));
  }

  /** Answers the call, and hangs up; the hands print it and end. */
  reply(reply: Omit<Reply, "kind">): void {
    if (this.#gone !== undefined) return;
    this.#send(0, { kind: "reply", ...reply });
    this.#write();
    // What the kernel has, the hands get. Their end, of which we would be told otherwise, would keep their runtime waiting.
    if (this.#socket.writableLength === 0) this.#socket.destroy();
    else this.#socket.end();
  }

  /** Their effects for one call; what its plugins call meanwhile, `serve` answers. */
  serving(serve: NestedCallHandler): Hands {
    return {
      exec: (effect: ExecEffect): Promise<Executed> => this.#effect({ kind: "exec", ...effect }, "executed", serve),
      find: (effect: FindEffect): Promise<Found> => this.#effect({ kind: "find", ...effect }, "found"),
      read: (effect: ReadEffect): Promise<Content> => this.#effect({ kind: "read", ...effect }, "content"),
      netlink: (effect: NetlinkEffect): Promise<Done> => this.#effect({ kind: "netlink", ...effect }, "done"),
      sysctl: (effect: SysctlEffect): Promise<Done> => this.#effect({ kind: "sysctl", ...effect }, "done"),
      packet: (effect: PacketEffect): Promise<Done> => this.#effect({ kind: "packet", ...effect }, "done"),
      tap: (effect: TapEffect): Promise<Done> => this.#effect({ kind: "tap", ...effect }, "done"),
      ensureThere: () => this.#ensureThere(),
    };
  }

  #ensureThere(): void {
    if (this.#gone !== undefined) throw new HandsGone(this.#gone);
  }

  async #effect<K extends Answer["kind"]>(
    message: BrainMessage,
    kind: K,
    serve?: NestedCallHandler,
  ): Promise<Extract<Answer, { kind: K }>> {
    this.#ensureThere();
    const channel = this.#newChannel();
    // Before anything waits: what can't be said is not said.
    this.#send(channel, message);
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    const nested: Promise<void>[] = [];
    this.#waiting.set(channel, { kind, serve, nested, resolve, reject });
    const late = this.#stays ? this.#patience(message) : undefined;
    try {
      const answer = await promise;
      if (isKind(answer, kind)) return answer;
      throw new HandsGone(protocolFault(`channel ${channel} was answered with ${answer.kind}, not ${kind}`));
    } finally {
      clearTimeout(late);
      // A plugin that was killed, or whose hands were, leaves them under way: what they still make must not come after its undoing.
      if (nested.length > 0) await Promise.all(nested);
    }
  }

  /** Hands that stay and don't answer, stopped for instance, are as good as gone: nobody else would end them. */
  #patience(message: BrainMessage): NodeJS.Timeout {
    const ms = ("deadlineMs" in message ? message.deadlineMs : 0) + this.#slackMs;
    return setTimeout(() => this.#hangUp(fault("HANDS_GONE", `hands: no answer to ${message.kind} within ${ms} ms`)), ms);
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
        const frame = good(this.#decoder.next());
        if (frame === undefined) return;
        this.#take(frame.channel, good(decodeHandsMessage(frame)));
      }
    } catch (error) {
      if (!(error instanceof HandsGone)) throw error;
      this.#hangUp(error.fault);
    }
  }

  #hangUp(reason: Fault): void {
    this.#end(reason);
    this.#socket.destroy();
  }

  #take(channel: number, message: HandsMessage): void {
    if (!isPurpose(message)) {
      const waiting = this.#waiting.get(channel);
      if (waiting?.kind !== message.kind)
        throw new HandsGone(protocolFault(`${message.kind} on channel ${channel}, which waits for nothing like it`));
      this.#waiting.delete(channel);
      waiting.resolve(message);
    } else if (channel === 0 && !this.#begun) {
      this.#begun = true;
      this.#stays = message.kind === "resident";
      this.#begin(message);
    } else if (message.kind === "request" && channel >= NESTED_CHANNEL_BIT) {
      const caller = this.#waiting.get(message.under);
      if (caller?.serve === undefined)
        throw new HandsGone(protocolFault(`a nested call under channel ${message.under}, where no plugin runs`));
      caller.nested.push(this.#nested(channel, caller.serve(message)));
    } else throw new HandsGone(protocolFault(`${message.kind} on channel ${channel}`));
  }

  async #nested(channel: number, answer: ReturnType<NestedCallHandler>): Promise<void> {
    try {
      const reply = await answer;
      if (this.#gone === undefined) this.#send(channel, { kind: "reply", ...reply });
    } catch (error) {
      // Its caller is gone with the hands.
      if (!(error instanceof HandsGone)) throw error;
    }
  }

  /** What is sent in one go is written in one: each write wakes the hands. */
  #send(channel: number, message: BrainMessage): void {
    if (this.#unwritten.push(good(encodeFrame(good(encodeMessage(channel, message))))) === 1) queueMicrotask(() => this.#write());
  }

  #write(): void {
    const [first] = this.#unwritten;
    if (first === undefined) return;
    this.#socket.write(this.#unwritten.length === 1 ? first : Buffer.concat(this.#unwritten));
    this.#unwritten = [];
  }

  #end(reason: Fault): void {
    if (this.#gone !== undefined) return;
    this.#gone = reason;
    if (!this.#begun) this.#fail(new HandsGone(reason));
    for (const { reject } of this.#waiting.values()) reject(new HandsGone(reason));
    this.#waiting.clear();
  }
}

function good<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  throw new HandsGone(result.fault);
}

function isKind<K extends Answer["kind"]>(answer: Answer, kind: K): answer is Extract<Answer, { kind: K }> {
  return answer.kind === kind;
}

function isPurpose(message: HandsMessage): message is Request | Resident {
  return message.kind === "request" || message.kind === "resident";
}
