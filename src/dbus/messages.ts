// Messages of D-Bus, as far as answers with a text or a boolean need them (https://dbus.freedesktop.org/doc/dbus-specification.html). No I/O.

/** A message of the bus: the answer to the call with the serial number `serial`, or another message. */
export type BusMessage =
  | { readonly kind: "answer"; readonly serial: number; readonly value: string | boolean | undefined }
  | { readonly kind: "error"; readonly serial: number; readonly name: string; readonly text: string }
  | { readonly kind: "other" };

/** The messages in the bytes received so far, and the bytes of an incomplete one. */
export type Received =
  | { readonly ok: true; readonly messages: readonly BusMessage[]; readonly rest: Uint8Array }
  | { readonly ok: false; readonly problem: string };

const METHOD_RETURN = 2;
const ERROR = 3;
const ERROR_NAME = 4;
const REPLY_SERIAL = 5;
const SIGNATURE = 8;
/** Bytes before the header's fields: byte order, type, flags, version, sizes and serial number. */
const FIXED_BYTES = 16;
/** More than any answer that a client of this file asks for. */
const maxMessageBytes = 65_536;

/** Splits received bytes into messages. A message that is too large or malformed is a problem, because the next one cannot be found. */
export function receivedMessages(bytes: Uint8Array): Received {
  const messages: BusMessage[] = [];
  let rest = bytes;
  while (rest.length >= FIXED_BYTES) {
    if (rest[0] !== 0x6c) return { ok: false, problem: "has sent a message in another byte order" };
    const view = new DataView(rest.buffer, rest.byteOffset, rest.byteLength);
    const [bodyBytes, fieldBytes] = [view.getUint32(4, true), view.getUint32(12, true)];
    const bodyAt = aligned(FIXED_BYTES + fieldBytes, 8);
    if (bodyAt + bodyBytes > maxMessageBytes)
      return { ok: false, problem: `has sent a message of more than ${maxMessageBytes} bytes` };
    if (rest.length < bodyAt + bodyBytes) break;
    const message = messageIn(rest.subarray(0, bodyAt + bodyBytes), FIXED_BYTES + fieldBytes, bodyAt);
    if (message === undefined) return { ok: false, problem: "has sent a malformed message" };
    messages.push(message);
    rest = rest.subarray(bodyAt + bodyBytes);
  }
  return { ok: true, messages, rest };
}

/** One message; undefined: it is malformed. */
function messageIn(bytes: Uint8Array, fieldsEnd: number, bodyAt: number): BusMessage | undefined {
  const type = bytes[1];
  if (type !== METHOD_RETURN && type !== ERROR) return { kind: "other" };
  const reader = new Reader(bytes, FIXED_BYTES);
  let [serial, name, signature] = [-1, "", ""];
  while (reader.at < fieldsEnd && !reader.failed) {
    reader.align(8);
    const code = reader.u8();
    const kind = reader.signature();
    const value = reader.value(kind);
    if (code === REPLY_SERIAL && typeof value === "number") serial = value;
    if (code === ERROR_NAME && typeof value === "string") name = value;
    if (code === SIGNATURE && typeof value === "string") signature = value;
  }
  const body = new Reader(bytes, bodyAt);
  const first = signature.slice(0, 1);
  const value = first === "s" || first === "b" ? body.value(first) : undefined;
  if (reader.failed || body.failed || serial < 0) return undefined;
  if (type === ERROR) return { kind: "error", serial, name, text: typeof value === "string" ? value : "" };
  return { kind: "answer", serial, value: typeof value === "number" ? value === 1 : value };
}

const aligned = (at: number, size: number): number => Math.ceil(at / size) * size;

/** Reads within the message. After a read beyond its end `failed` is true, and each value is empty. */
class Reader {
  at: number;
  failed = false;
  readonly #bytes: Uint8Array;

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes;
    this.at = at;
  }

  align(size: number): void {
    this.at = aligned(this.at, size);
  }

  u8(): number {
    return this.#take(1)[0] ?? 0;
  }

  u32(): number {
    this.align(4);
    const [a = 0, b = 0, c = 0, d = 0] = this.#take(4);
    return (a | (b << 8) | (c << 16) | (d << 24)) >>> 0;
  }

  signature(): string {
    return this.#textOf(this.u8());
  }

  /** A value of one of the types in headers and answers; another type fails. */
  value(kind: string): string | number | undefined {
    if (kind === "s" || kind === "o") return this.#textOf(this.u32());
    if (kind === "u" || kind === "b") return this.u32();
    if (kind === "g") return this.signature();
    this.failed = true;
    return undefined;
  }

  #textOf(size: number): string {
    const text = new TextDecoder().decode(this.#take(size));
    this.#take(1);
    return text;
  }

  #take(size: number): Uint8Array {
    const taken = this.#bytes.subarray(this.at, this.at + size);
    if (taken.length < size) this.failed = true;
    this.at += size;
    return taken;
  }
}
