// Netlink messages as bytes (linux/netlink.h, linux/rtnetlink.h): requests, answers, and the kernel's verdict on each request. No I/O. The
// decoder trusts no length, although the answers come from the kernel.

import { Attributes } from "./attributes.ts";
import { aligned, i32At, putU16, putU32, u16At, u32At } from "./bytes.ts";

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
