// The shim of a one-shot engine: effects on a blocking stream, and nested calls served while a plugin runs.

import { NESTED_CHANNEL_BIT, protocolFault } from "./frames.ts";
import {
  ShimGone,
  type ExecEffect,
  type FindEffect,
  type Shim,
  type NestedCallHandler,
  type NetlinkEffect,
  type PacketEffect,
  type ReadEffect,
  type SyncShim,
  type SysctlEffect,
  type TapEffect,
} from "./shim.ts";
import type { EngineMessage, Content, Done, Executed, Found, ShimMessage, Reply, Request, AgentGreeting } from "./messages.ts";
import type { OneShotStream } from "./one-shot-stream.ts";

interface NestedCall {
  readonly channel: number;
  readonly request: Request;
}

type Answer = Exclude<ShimMessage, Request | AgentGreeting>;

/**
 * Sends effects immediately and reads the stream until their answers arrive. Answers to other effects are kept for their callers, nested
 * calls for the `exec` under way.
 */
export class OneShotShim implements Shim, SyncShim {
  readonly #stream: OneShotStream;
  readonly #serve: NestedCallHandler;
  readonly #answers = new Map<number, Answer>();
  #nested: NestedCall[] = [];
  #lastChannel = 0;

  constructor(stream: OneShotStream, serve: NestedCallHandler) {
    this.#stream = stream;
    this.#serve = serve;
  }

  /** Answers the call for which this engine was started. The shim prints the reply and exits. */
  reply(reply: Omit<Reply, "kind">): void {
    this.#stream.send(0, { kind: "reply", ...reply });
  }

  /** Passes nested calls to the handler one after the other, also those of other plugins. */
  async exec(effect: ExecEffect): Promise<Executed> {
    const channel = this.#newChannel();
    this.#stream.send(channel, { kind: "exec", ...effect });
    for (;;) {
      const executed = this.#answerOn(channel, "executed");
      if (executed !== undefined) {
        this.#nested = this.#nested.filter((call) => call.request.under !== channel); // their callers have ended
        return executed;
      }
      const call = this.#nested.shift();
      if (call === undefined) this.#receive();
      else this.#stream.send(call.channel, { kind: "reply", ...(await this.#serve(call.request)) });
    }
  }

  findSync(effect: FindEffect): Found {
    const channel = this.#newChannel();
    this.#stream.send(channel, { kind: "find", ...effect });
    return this.#awaitAnswer(channel, "found");
  }

  readSync(effect: ReadEffect): Content {
    const channel = this.#newChannel();
    this.#stream.send(channel, { kind: "read", ...effect });
    return this.#awaitAnswer(channel, "content");
  }

  async netlink(effect: NetlinkEffect): Promise<Done> {
    return this.#inNamespace({ kind: "netlink", ...effect });
  }

  async sysctl(effect: SysctlEffect): Promise<Done> {
    return this.#inNamespace({ kind: "sysctl", ...effect });
  }

  async packet(effect: PacketEffect): Promise<Done> {
    return this.#inNamespace({ kind: "packet", ...effect });
  }

  async tap(effect: TapEffect): Promise<Done> {
    return this.#inNamespace({ kind: "tap", ...effect });
  }

  ensureConnected(): void {
    this.#stream.ensureOpen();
  }

  async find(effect: FindEffect): Promise<Found> {
    return this.findSync(effect);
  }

  async read(effect: ReadEffect): Promise<Content> {
    return this.readSync(effect);
  }

  #inNamespace(effect: EngineMessage): Done {
    const channel = this.#newChannel();
    this.#stream.send(channel, effect);
    return this.#awaitAnswer(channel, "done");
  }

  #newChannel(): number {
    this.#lastChannel += 1;
    return this.#lastChannel;
  }

  #awaitAnswer<K extends Answer["kind"]>(channel: number, kind: K): Extract<Answer, { kind: K }> {
    for (;;) {
      const answer = this.#answerOn(channel, kind);
      if (answer !== undefined) return answer;
      this.#receive();
    }
  }

  #answerOn<K extends Answer["kind"]>(channel: number, kind: K): Extract<Answer, { kind: K }> | undefined {
    const answer = this.#answers.get(channel);
    if (answer === undefined) return undefined;
    this.#answers.delete(channel);
    if (isKind(answer, kind)) return answer;
    throw new ShimGone(protocolFault(`channel ${channel} was answered with ${answer.kind}, not ${kind}`));
  }

  #receive(): void {
    const { channel, message } = this.#stream.receive();
    const nested = channel >= NESTED_CHANNEL_BIT;
    if (nested !== (message.kind === "request") || message.kind === "agent" || channel === 0) {
      throw new ShimGone(protocolFault(`${message.kind} on channel ${channel}`));
    }
    if (message.kind === "request") this.#nested.push({ channel, request: message });
    else if (channel > this.#lastChannel || this.#answers.has(channel))
      throw new ShimGone(protocolFault(`an answer on channel ${channel}, on which no effect waits`));
    else this.#answers.set(channel, message);
  }
}

function isKind<K extends Answer["kind"]>(answer: Answer, kind: K): answer is Extract<Answer, { kind: K }> {
  return answer.kind === kind;
}
