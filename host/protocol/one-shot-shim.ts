// The hands as a one-shot brain has them: effects on a blocking stream, and nested calls served while a plugin runs.

import { NESTED_CHANNEL_BIT, protocolFault } from "./frames.ts";
import {
  HandsGone,
  type ExecEffect,
  type FindEffect,
  type Hands,
  type NestedCallHandler,
  type NetlinkEffect,
  type PacketEffect,
  type ReadEffect,
  type SyncHands,
  type SysctlEffect,
  type TapEffect,
} from "./hands.ts";
import type { BrainMessage, Content, Done, Executed, Found, HandsMessage, Reply, Request, Resident } from "./messages.ts";
import type { OneShotStream } from "./one-shot-stream.ts";

interface NestedCall {
  readonly channel: number;
  readonly request: Request;
}

type Answer = Exclude<HandsMessage, Request | Resident>;

/**
 * Effects are written at once and their answers awaited by reading the stream. While one waits, answers to others and
 * nested calls may arrive: answers are kept for who waits for them, nested calls for the `exec` that is under way.
 */
export class OneShotHands implements Hands, SyncHands {
  readonly #stream: OneShotStream;
  readonly #serve: NestedCallHandler;
  readonly #answers = new Map<number, Answer>();
  #nested: NestedCall[] = [];
  #lastChannel = 0;

  constructor(stream: OneShotStream, serve: NestedCallHandler) {
    this.#stream = stream;
    this.#serve = serve;
  }

  /** Answers the call that this brain was started for; the hands print it and end. */
  reply(reply: Omit<Reply, "kind">): void {
    this.#stream.send(0, { kind: "reply", ...reply });
  }

  /** Nested calls made by the plugin are given to the handler one after the other, those of other plugins too. */
  async exec(effect: ExecEffect): Promise<Executed> {
    const channel = this.#newChannel();
    this.#stream.send(channel, { kind: "exec", ...effect });
    for (;;) {
      const executed = this.#answerOn(channel, "executed");
      if (executed !== undefined) {
        this.#nested = this.#nested.filter((call) => call.request.under !== channel); // their callers are gone
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

  ensureThere(): void {
    this.#stream.ensureOpen();
  }

  async find(effect: FindEffect): Promise<Found> {
    return this.findSync(effect);
  }

  async read(effect: ReadEffect): Promise<Content> {
    return this.readSync(effect);
  }

  #inNamespace(effect: BrainMessage): Done {
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
    throw new HandsGone(protocolFault(`channel ${channel} was answered with ${answer.kind}, not ${kind}`));
  }

  #receive(): void {
    const { channel, message } = this.#stream.receive();
    const nested = channel >= NESTED_CHANNEL_BIT;
    if (nested !== (message.kind === "request") || message.kind === "resident" || channel === 0) {
      throw new HandsGone(protocolFault(`${message.kind} on channel ${channel}`));
    }
    if (message.kind === "request") this.#nested.push({ channel, request: message });
    else if (channel > this.#lastChannel || this.#answers.has(channel))
      throw new HandsGone(protocolFault(`an answer on channel ${channel} to nothing`));
    else this.#answers.set(channel, message);
  }
}

function isKind<K extends Answer["kind"]>(answer: Answer, kind: K): answer is Extract<Answer, { kind: K }> {
  return answer.kind === kind;
}
