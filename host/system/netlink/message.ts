// Netlink messages as bytes (linux/netlink.h, linux/rtnetlink.h): requests, answers, the kernel's verdict on each request, and the attributes in them: type, length and
// value, padded, one within another. No I/O. The decoder trusts no length, although the answers come from the kernel.

import { aligned, concat, i32At, putU16, putU32, u16At, u32At } from "./bytes.ts";

const ATTRIBUTE_HEADER = 4;
/** The upper bits of an attribute's type are flags (nested, byte order). */
const TYPE_MASK = 0x3fff;
const NLA_F_NESTED = 0x8000;

const decoder = new TextDecoder();
const nothing = new Uint8Array(0);

/** One attribute, with the padding after it. */
export function attribute(type: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(ATTRIBUTE_HEADER + aligned(value.length));
  putU16(bytes, 0, ATTRIBUTE_HEADER + value.length);
  putU16(bytes, 2, type);
  bytes.set(value, ATTRIBUTE_HEADER);
  return bytes;
}

/** An attribute with a number of four bytes. */
export function u32Attribute(type: number, value: number): Uint8Array {
  const bytes = new Uint8Array(ATTRIBUTE_HEADER + 4);
  putU16(bytes, 0, ATTRIBUTE_HEADER + 4);
  putU16(bytes, 2, type);
  putU32(bytes, ATTRIBUTE_HEADER, value);
  return bytes;
}

/** A nested attribute. */
export function nested(type: number, attributes: readonly Uint8Array[]): Uint8Array {
  return attribute(type | NLA_F_NESTED, concat(attributes));
}

/**
 * Attributes of a message. A malformed or cut attribute ends them. Of several attributes of one type the last one counts. Values are decoded
 * on request: a link has some sixty attributes, and a reader needs a dozen.
 */
export class Attributes {
  readonly #bytes: Uint8Array;
  /** In order: type, begin and end of the value. */
  readonly #types: number[] = [];
  readonly #from: number[] = [];
  readonly #to: number[] = [];

  /** The attributes in `bytes` between two offsets. */
  constructor(bytes: Uint8Array, from = 0, to = bytes.length) {
    this.#bytes = bytes;
    for (let at = from; at + ATTRIBUTE_HEADER <= to;) {
      const length = u16At(bytes, at);
      if (length < ATTRIBUTE_HEADER || at + length > to) break;
      this.#types.push(u16At(bytes, at + 2) & TYPE_MASK);
      this.#from.push(at + ATTRIBUTE_HEADER);
      this.#to.push(at + length);
      at += aligned(length);
    }
  }

  has(type: number): boolean {
    return this.#types.includes(type);
  }

  get(type: number): Uint8Array | undefined {
    const found = this.#types.lastIndexOf(type);
    return found < 0 ? undefined : this.#bytes.subarray(this.#from[found], this.#to[found]);
  }

  /** The attributes in a nested attribute; none where it is absent. */
  within(type: number): Attributes {
    const found = this.#types.lastIndexOf(type);
    return found < 0 ? new Attributes(nothing) : new Attributes(this.#bytes, this.#from[found], this.#to[found]);
  }

  /** A number of one byte; undefined where it is absent. */
  u8(type: number): number | undefined {
    const at = this.#place(type, 1);
    return at === undefined ? undefined : this.#bytes[at];
  }

  /** A number of two bytes; undefined where it is absent. */
  u16(type: number): number | undefined {
    const at = this.#place(type, 2);
    return at === undefined ? undefined : u16At(this.#bytes, at);
  }

  /** A number of four bytes; undefined where it is absent. */
  u32(type: number): number | undefined {
    const at = this.#place(type, 4);
    return at === undefined ? undefined : u32At(this.#bytes, at);
  }

  /** A signed number of four bytes; undefined where it is absent. */
  i32(type: number): number | undefined {
    const at = this.#place(type, 4);
    return at === undefined ? undefined : i32At(this.#bytes, at);
  }

  /** Text up to a NUL or the end of the value; empty where it is absent. */
  text(type: number): string {
    return textIn(this.get(type));
  }

  /** All attributes in order, one of each type. */
  [Symbol.iterator](): IterableIterator<readonly [type: number, value: Uint8Array]> {
    return new Map(this.list()).entries();
  }

  /** All attributes in order, also several of one type. */
  list(): readonly (readonly [type: number, value: Uint8Array])[] {
    return this.#types.map((type, index) => [type, this.#bytes.subarray(this.#from[index], this.#to[index])]);
  }

  /** The offset of a value that has at least so many bytes. */
  #place(type: number, size: number): number | undefined {
    const found = this.#types.lastIndexOf(type);
    const from = this.#from[found];
    return from === undefined || (this.#to[found] ?? 0) - from < size ? undefined : from;
  }
}

/** The attributes in `bytes`. */
export function attributesIn(bytes: Uint8Array | undefined): Attributes {
  return new Attributes(bytes ?? nothing);
}

/** Text up to a NUL or the end of the bytes. */
export function textIn(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return "";
  const end = bytes.indexOf(0);
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

const HEADER = 16;
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const NLM_F_REQUEST = 0x1;
const NLM_F_ACK = 0x4;
const NLM_F_DUMP_INTR = 0x10;
const NLM_F_CAPPED = 0x100;
const NLM_F_ACK_TLVS = 0x200;
const NLMSGERR_ATTR_MSG = 1;
const NLMSGERR_ATTR_OFFS = 2;

/** A message to the kernel: its body is the fixed part of its type, then attributes. */
export interface NetlinkRequest {
  readonly type: number;
  /** Flags besides REQUEST, which is always set, and ACK, which is set unless the request is `quiet`. */
  readonly flags: number;
  /** The kernel answers with refusals alone. Older kernels never acknowledge the beginning and the end of a batch. */
  readonly quiet?: boolean;
  readonly body: Uint8Array;
}

/** The kernel's answer to one request. */
export interface NetlinkAnswer {
  /** Bodies of the messages in order; a dump has many. */
  readonly messages: readonly { readonly type: number; readonly body: Uint8Array }[];
  /** 0: acknowledged, or the dump is whole. Otherwise the errno of the refusal. */
  readonly errno: number;
  /** The kernel's error text (NLMSGERR_ATTR_MSG); often empty. */
  readonly errorText: string;
  /** Offset in the request of the attribute that the kernel refuses; undefined where it names none. */
  readonly offset: number | undefined;
  /** Whether a change disturbed the dump, so that it may be incomplete. */
  readonly interrupted: boolean;
}

/** Encodes requests. Their sequence numbers count from 1. Each asks for an acknowledgement unless it is `quiet`. */
export function encodeRequests(requests: readonly NetlinkRequest[]): Uint8Array {
  let size = 0;
  for (const { body } of requests) size += HEADER + aligned(body.length);
  const whole = new Uint8Array(size);
  let at = 0;
  let number = 0;
  for (const { type, flags, body, quiet = false } of requests) {
    number++;
    putU32(whole, at, HEADER + body.length);
    putU16(whole, at + 4, type);
    putU16(whole, at + 6, flags | NLM_F_REQUEST | (quiet ? 0 : NLM_F_ACK));
    putU32(whole, at + 8, number);
    whole.set(body, at + HEADER);
    at += HEADER + aligned(body.length);
  }
  return whole;
}

/** Decodes the answers to `count` requests; undefined for a request without a final answer. */
export function decodeAnswers(reply: Uint8Array, count: number): readonly (NetlinkAnswer | undefined)[] {
  const answers: (NetlinkAnswer | undefined)[] = [];
  const pending: PendingAnswer[] = [];
  for (let index = 0; index < count; index++) {
    answers.push(undefined);
    pending.push({ messages: [], interrupted: false });
  }
  for (let at = 0; at + HEADER <= reply.length;) {
    const length = u32At(reply, at);
    if (length < HEADER || length > reply.length - at) break;
    const type = u16At(reply, at + 4);
    const flags = u16At(reply, at + 6);
    const index = u32At(reply, at + 8) - 1;
    const body = reply.subarray(at + HEADER, at + length);
    at += aligned(length);
    const answer = pending[index];
    if (answer === undefined) continue;
    if ((flags & NLM_F_DUMP_INTR) !== 0) answer.interrupted = true;
    if (type === NLMSG_ERROR || type === NLMSG_DONE) answers[index] = verdict(answer, type, flags, body);
    else answer.messages.push({ type, body });
  }
  return answers;
}

/** The reason of a fault after so many dumps of which none was whole. */
export function interruptedText(dumps: number): string {
  return `concurrent changes interrupted the list ${dumps} times`;
}

interface PendingAnswer {
  readonly messages: { readonly type: number; readonly body: Uint8Array }[];
  interrupted: boolean;
}

/** An ERROR has the errno, negative, then the request's header and, unless capped, its body; a DONE has the errno alone. */
function verdict({ messages, interrupted }: PendingAnswer, type: number, flags: number, body: Uint8Array): NetlinkAnswer {
  const errno = Math.max(0, -i32At(body, 0));
  if ((flags & NLM_F_ACK_TLVS) === 0) return { messages, errno, errorText: "", offset: undefined, interrupted };
  const capped = (flags & NLM_F_CAPPED) !== 0;
  const tailAt = type === NLMSG_DONE ? 4 : 4 + (capped ? HEADER : aligned(u32At(body, 4)));
  const tail = new Attributes(body, tailAt);
  return { messages, errno, errorText: tail.text(NLMSGERR_ATTR_MSG), offset: tail.u32(NLMSGERR_ATTR_OFFS), interrupted };
}
