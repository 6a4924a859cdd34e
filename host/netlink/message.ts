// rtnetlink messages and their attributes as bytes (linux/netlink.h, linux/rtnetlink.h): written, taken apart, and the kernel's
// verdict on each read. No I/O. What is read comes from the kernel, but is bounded as if it did not.

/** Netlink speaks the machine's own byte order. */
const littleEndian = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1;

const HEADER = 16;
const ATTRIBUTE_HEADER = 4;
const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const NLM_F_REQUEST = 0x1;
const NLM_F_ACK = 0x4;
const NLM_F_DUMP_INTR = 0x10;
const NLM_F_CAPPED = 0x100;
const NLM_F_ACK_TLVS = 0x200;
const NLMSGERR_ATTR_MSG = 1;
const NLMSGERR_ATTR_OFFS = 2;
/** The upper bits of an attribute's type are flags (nested, byte order). */
const TYPE_MASK = 0x3fff;
const NLA_F_NESTED = 0x8000;

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

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Two bytes as a number; 0 where there are none. Without destructuring, here and below: it makes arrays, thousands in an attach. */
function u16At(bytes: Uint8Array, at: number): number {
  const first = bytes[at] ?? 0;
  const second = bytes[at + 1] ?? 0;
  if (at + 2 > bytes.length) return 0;
  return littleEndian ? first | (second << 8) : second | (first << 8);
}

function u32At(bytes: Uint8Array, at: number): number {
  if (at + 4 > bytes.length) return 0;
  const first = u16At(bytes, at);
  const second = u16At(bytes, at + 2);
  return littleEndian ? first + second * 0x1_0000 : second + first * 0x1_0000;
}

function putU16(bytes: Uint8Array, at: number, value: number): void {
  bytes[littleEndian ? at : at + 1] = value & 0xff;
  bytes[littleEndian ? at + 1 : at] = (value >>> 8) & 0xff;
}

function putU32(bytes: Uint8Array, at: number, value: number): void {
  putU16(bytes, littleEndian ? at : at + 2, value & 0xffff);
  putU16(bytes, littleEndian ? at + 2 : at, value >>> 16);
}

/** Reads numbers in the machine's byte order; 0 where the bytes have ended. */
export function viewOf(bytes: Uint8Array): { u16(at: number): number; u32(at: number): number; i32(at: number): number } {
  return { u16: (at) => u16At(bytes, at), u32: (at) => u32At(bytes, at), i32: (at) => u32At(bytes, at) | 0 };
}

/** Four bytes of a number. */
export function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  putU32(bytes, 0, value);
  return bytes;
}

/** Four bytes of a number that may be negative, as an index is. */
export function i32(value: number): Uint8Array {
  return u32(value >>> 0);
}

/** Two bytes of a number. */
export function u16(value: number): Uint8Array {
  const bytes = new Uint8Array(2);
  putU16(bytes, 0, value);
  return bytes;
}

/** One byte of a number. */
export function u8(value: number): Uint8Array {
  return Uint8Array.of(value);
}

/** UTF-8 with a NUL at its end, as the kernel wants names. */
export function cString(text: string): Uint8Array {
  return encoder.encode(`${text}\0`);
}

export function concat(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** One attribute, with the padding after it. */
export function attribute(type: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(ATTRIBUTE_HEADER + aligned(value.length));
  putU16(bytes, 0, ATTRIBUTE_HEADER + value.length);
  putU16(bytes, 2, type);
  bytes.set(value, ATTRIBUTE_HEADER);
  return bytes;
}

/** An attribute made of attributes. */
export function nested(type: number, attributes: readonly Uint8Array[]): Uint8Array {
  return attribute(type | NLA_F_NESTED, concat(attributes));
}

/** All attributes, in their order; what is cut or malformed ends the list. */
export function attributeList(bytes: Uint8Array): readonly (readonly [type: number, value: Uint8Array])[] {
  const found: (readonly [type: number, value: Uint8Array])[] = [];
  for (let at = 0; at + ATTRIBUTE_HEADER <= bytes.length;) {
    const length = u16At(bytes, at);
    if (length < ATTRIBUTE_HEADER || at + length > bytes.length) break;
    found.push([u16At(bytes, at + 2) & TYPE_MASK, bytes.subarray(at + ATTRIBUTE_HEADER, at + length)]);
    at += aligned(length);
  }
  return found;
}

/** Attributes by type, the last one of each; what is cut or malformed ends the list. */
export function attributesIn(bytes: Uint8Array): ReadonlyMap<number, Uint8Array> {
  return new Map(attributeList(bytes));
}

/** Text that ends with a NUL or with the bytes. */
export function textIn(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return "";
  const end = bytes.indexOf(0);
  return decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

/** The bytes of requests; each is numbered by its place, from 1, and asks to be acknowledged unless it is `quiet`. */
export function encodeRequests(requests: readonly NetlinkRequest[]): Uint8Array {
  const whole = new Uint8Array(requests.reduce((size, { body }) => size + HEADER + aligned(body.length), 0));
  let at = 0;
  for (const [index, { type, flags, body, quiet = false }] of requests.entries()) {
    putU32(whole, at, HEADER + body.length);
    putU16(whole, at + 4, type);
    putU16(whole, at + 6, flags | NLM_F_REQUEST | (quiet ? 0 : NLM_F_ACK));
    putU32(whole, at + 8, index + 1);
    whole.set(body, at + HEADER);
    at += HEADER + aligned(body.length);
  }
  return whole;
}

/** What the kernel answered to each of `count` requests; undefined where one has had no end. */
export function decodeAnswers(reply: Uint8Array, count: number): readonly (NetlinkAnswer | undefined)[] {
  const messages = Array.from({ length: count }, (): { type: number; body: Uint8Array }[] => []);
  const interrupted = new Set<number>();
  const answers = Array.from<NetlinkAnswer | undefined>({ length: count });
  for (let at = 0; at + HEADER <= reply.length;) {
    const length = u32At(reply, at);
    if (length < HEADER || length > reply.length - at) break;
    const type = u16At(reply, at + 4);
    const flags = u16At(reply, at + 6);
    const index = u32At(reply, at + 8) - 1;
    const body = reply.subarray(at + HEADER, at + length);
    at += aligned(length);
    const own = messages[index];
    if (own === undefined) continue;
    if ((flags & NLM_F_DUMP_INTR) !== 0) interrupted.add(index);
    if (type !== NLMSG_ERROR && type !== NLMSG_DONE) own.push({ type, body });
    else answers[index] = { messages: own, interrupted: interrupted.has(index), ...verdict(type, flags, body) };
  }
  return answers;
}

/** An ERROR has the errno, negative, then the request's header and, unless capped, its body; a DONE has the errno alone. */
function verdict(type: number, flags: number, body: Uint8Array): Pick<NetlinkAnswer, "errno" | "words" | "offset"> {
  const view = viewOf(body);
  const errno = Math.max(0, -view.i32(0));
  if ((flags & NLM_F_ACK_TLVS) === 0) return { errno, words: "", offset: undefined };
  const capped = (flags & NLM_F_CAPPED) !== 0;
  const tail = type === NLMSG_DONE ? 4 : 4 + (capped ? HEADER : aligned(view.u32(4)));
  const attributes = attributesIn(body.subarray(tail));
  const offset = attributes.get(NLMSGERR_ATTR_OFFS);
  return {
    errno,
    words: textIn(attributes.get(NLMSGERR_ATTR_MSG)),
    offset: offset === undefined ? undefined : viewOf(offset).u32(0),
  };
}

function aligned(length: number): number {
  return (length + 3) & ~3;
}
