// Netlink messages as bytes (linux/netlink.h, linux/rtnetlink.h): written, taken apart, and the kernel's verdict on each read. No I/O. What
// is read comes from the kernel, but is bounded as if it did not.

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
  /** Besides REQUEST, and ACK unless it is `quiet`. */
  readonly flags: number;
  /** Not acknowledged, only refused: the beginning and the end of a batch, which older kernels never acknowledge. */
  readonly quiet?: boolean;
  readonly body: Uint8Array;
}

/** What became of one request. */
export interface NetlinkAnswer {
  /** Bodies of the messages that came, in their order; a dump's are many. */
  readonly messages: readonly { readonly type: number; readonly body: Uint8Array }[];
  /** 0: acknowledged, or the dump is whole. Else what the kernel refused it with. */
  readonly errno: number;
  /** The kernel's own words on an error; often it has none. */
  readonly words: string;
  /** Where in the request the attribute is that the kernel means; undefined where it names none. */
  readonly offset: number | undefined;
  /** Whether a dump was disturbed by a change and may lack something. */
  readonly interrupted: boolean;
}

/** The bytes of requests; each is numbered by its place, from 1, and asks to be acknowledged unless it is `quiet`. */
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

/** What the kernel answered to each of `count` requests; undefined where one has had no end. */
export function decodeAnswers(reply: Uint8Array, count: number): readonly (NetlinkAnswer | undefined)[] {
  const answers: (NetlinkAnswer | undefined)[] = [];
  const coming: Coming[] = [];
  for (let index = 0; index < count; index++) {
    answers.push(undefined);
    coming.push({ messages: [], interrupted: false });
  }
  for (let at = 0; at + HEADER <= reply.length;) {
    const length = u32At(reply, at);
    if (length < HEADER || length > reply.length - at) break;
    const type = u16At(reply, at + 4);
    const flags = u16At(reply, at + 6);
    const index = u32At(reply, at + 8) - 1;
    const body = reply.subarray(at + HEADER, at + length);
    at += aligned(length);
    const own = coming[index];
    if (own === undefined) continue;
    if ((flags & NLM_F_DUMP_INTR) !== 0) own.interrupted = true;
    if (type === NLMSG_ERROR || type === NLMSG_DONE) answers[index] = verdict(own, type, flags, body);
    else own.messages.push({ type, body });
  }
  return answers;
}

interface Coming {
  readonly messages: { readonly type: number; readonly body: Uint8Array }[];
  interrupted: boolean;
}

/** An ERROR has the errno, negative, then the request's header and, unless capped, its body; a DONE has the errno alone. */
function verdict({ messages, interrupted }: Coming, type: number, flags: number, body: Uint8Array): NetlinkAnswer {
  const errno = Math.max(0, -i32At(body, 0));
  if ((flags & NLM_F_ACK_TLVS) === 0) return { messages, errno, words: "", offset: undefined, interrupted };
  const capped = (flags & NLM_F_CAPPED) !== 0;
  const tail = type === NLMSG_DONE ? 4 : 4 + (capped ? HEADER : aligned(u32At(body, 4)));
  const told = new Attributes(body, tail);
  return { messages, errno, words: told.text(NLMSGERR_ATTR_MSG), offset: told.u32(NLMSGERR_ATTR_OFFS), interrupted };
}
