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
  type ReadEffect,
} from "../hands/hands.ts";
import { decodeHandsMessage, encodeMessage } from "../hands/message-frames.ts";
import type { BrainMessage, Content, Executed, Found, HandsMessage, Netlinked, Reply, Request } from "../hands/messages.ts";

type Answer = Exclude<HandsMessage, Request>;

interface Waiting {
  readonly kind: Answer["kind"];
  readonly resolve: (answer: Answer) => void;
  readonly reject: (gone: HandsGone) => void;
}

/** One call's connection. All that waits rejects with HandsGone when it ends. */
export class ConnectedHands implements Hands {
  /** The call for which the hands were started; rejects with HandsGone. */
  readonly call: Promise<Request>;
  readonly #socket: Socket;
  readonly #serve: NestedCallHandler;
  readonly #decoder = new FrameDecoder();
  readonly #waiting = new Map<number, Waiting>();
  readonly #begin: (request: Request) => void;
  readonly #fail: (gone: HandsGone) => void;
  #lastChannel = 0;
  #called = false;
  #gone: HandsGone | undefined;

  constructor(socket: Socket, serve: NestedCallHandler) {
    this.#socket = socket;
    this.#serve = serve;
    const { promise, resolve, reject } = Promise.withResolvers<Request>();
    // Who asks for the call later still gets the rejection.
    promise.catch(() => undefined);
    this.call = promise;
    this.#begin = resolve;
    this.#fail = reject;
    socket.on("data", (chunk: Uint8Array) => this.#received(chunk));
    socket.on("error", (error) => this.#end(fault("HANDS_GONE", `hands: ${error.message}`)));
    socket.on("close", () => this.#end(fault("HANDS_GONE", "hands: the stream ended")));
  }

  /** Tells them that they have come to the right place; the first that they hear. */
  welcome(): void {
    this.#send(0, { kind: "welcome" });
  }

  /** Answers the call; the hands print it and end. */
  reply(reply: Omit<Reply, "kind">): void {
    if (this.#gone === undefined) this.#send(0, { kind: "reply", ...reply });
  }

  exec(effect: ExecEffect): Promise<Executed> {
    return this.#effect({ kind: "exec", ...effect }, "executed");
  }

  find(effect: FindEffect): Promise<Found> {
    return this.#effect({ kind: "find", ...effect }, "found");
  }

  read(effect: ReadEffect): Promise<Content> {
    return this.#effect({ kind: "read", ...effect }, "content");
  }

  netlink(effect: NetlinkEffect): Promise<Netlinked> {
    return this.#effect({ kind: "netlink", ...effect }, "netlinked");
  }

  ensureThere(): void {
    if (this.#gone !== undefined) throw this.#gone;
  }

  async #effect<K extends Answer["kind"]>(message: BrainMessage, kind: K): Promise<Extract<Answer, { kind: K }>> {
    this.ensureThere();
    this.#lastChannel += 1;
    const channel = this.#lastChannel;
    const { promise, resolve, reject } = Promise.withResolvers<Answer>();
    this.#waiting.set(channel, { kind, resolve, reject });
    this.#send(channel, message);
    const answer = await promise;
    if (isKind(answer, kind)) return answer;
    throw new HandsGone(protocolFault(`channel ${channel} was answered with ${answer.kind}, not ${kind}`));
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
      this.#end(error.fault);
      this.#socket.destroy();
    }
  }

  #take(channel: number, message: HandsMessage): void {
    if (message.kind !== "request") {
      const waiting = this.#waiting.get(channel);
      if (waiting?.kind !== message.kind)
        throw new HandsGone(protocolFault(`${message.kind} on channel ${channel}, which waits for nothing like it`));
      this.#waiting.delete(channel);
      waiting.resolve(message);
    } else if (channel === 0 && !this.#called) {
      this.#called = true;
      this.#begin(message);
    } else if (this.#called && channel >= NESTED_CHANNEL_BIT) {
      void this.#nested(channel, message);
    } else throw new HandsGone(protocolFault(`a request on channel ${channel}`));
  }

  async #nested(channel: number, request: Request): Promise<void> {
    const reply = await this.#serve(request);
    if (this.#gone === undefined) this.#send(channel, { kind: "reply", ...reply });
  }

  #send(channel: number, message: BrainMessage): void {
    this.#socket.write(good(encodeFrame(good(encodeMessage(channel, message)))));
  }

  #end(reason: Fault): void {
    if (this.#gone !== undefined) return;
    this.#gone = new HandsGone(reason);
    this.#fail(this.#gone);
    for (const { reject } of this.#waiting.values()) reject(this.#gone);
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
