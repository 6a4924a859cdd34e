// DHCP messages (RFC 2131) with their options (RFC 2132): made for a server, and read from one that may be hostile. Pure.

/** Message types (option 53). */
export const MESSAGE = { discover: 1, offer: 2, request: 3, decline: 4, ack: 5, nak: 6, release: 7 } as const;

/** Numbers of options. */
export const OPTION = {
  subnetMask: 1,
  router: 3,
  dnsServers: 6,
  domainName: 15,
  mtu: 26,
  staticRoutes: 33,
  requestedAddress: 50,
  leaseTime: 51,
  overload: 52,
  messageType: 53,
  serverId: 54,
  parameterList: 55,
  maxMessageSize: 57,
  renewalTime: 58,
  rebindingTime: 59,
  clientId: 61,
  classlessRoutes: 121,
} as const;

/** One option with its value. */
export interface DhcpOption {
  readonly number: number;
  readonly value: Uint8Array;
}

/** A client's message. */
export interface ClientMessage {
  readonly type: number;
  /** Four bytes. */
  readonly xid: Uint8Array;
  /** The interface's Ethernet address. */
  readonly mac: Uint8Array;
  /** The client's own address, four bytes; zeros if it has none. */
  readonly clientAddress: Uint8Array;
  /** Whether the server is to broadcast its answers: the interface has no address yet. */
  readonly broadcast: boolean;
  /** Further options. */
  readonly options: readonly DhcpOption[];
}

/** A server's message. */
export interface ServerMessage {
  readonly type: number;
  readonly mac: Uint8Array;
  /** The address that the server gives, four bytes. */
  readonly yourAddress: Uint8Array;
  /** Values by number; those of an option that occurs several times are joined (RFC 3396). */
  readonly options: ReadonlyMap<number, Uint8Array>;
}

const HEADER_BYTES = 240;
const COOKIE = [99, 130, 83, 99];
const PAD = 0;
const END = 255;
const FLAGS_BROADCAST = 0x80;
const BOOTREQUEST = 1;
const BOOTREPLY = 2;
/** Relays drop shorter messages (RFC 1542 section 2.1). */
const MIN_BYTES = 300;
const SNAME = { at: 44, size: 64 };
const FILE = { at: 108, size: 128 };

/** The maximum length of one option's value. */
export const maxOptionBytes = 255;

/** Encodes a client's message. Each value has at most 255 bytes; the caller has checked them. */
export function encodeClientMessage(message: ClientMessage): Uint8Array {
  const options = [{ number: OPTION.messageType, value: Uint8Array.of(message.type) }, ...message.options];
  const size = options.reduce((sum, { value }) => sum + 2 + value.length, HEADER_BYTES + 1);
  const bytes = new Uint8Array(Math.max(MIN_BYTES, size));
  bytes.set([BOOTREQUEST, 1, 6, 0]);
  bytes.set(message.xid, 4);
  bytes[10] = message.broadcast ? FLAGS_BROADCAST : 0;
  bytes.set(message.clientAddress, 12);
  bytes.set(message.mac, 28);
  bytes.set(COOKIE, HEADER_BYTES - COOKIE.length);
  let at = HEADER_BYTES;
  for (const { number, value } of options) {
    bytes.set([number, value.length], at);
    bytes.set(value, at + 2);
    at += 2 + value.length;
  }
  bytes[at] = END;
  return bytes;
}

/** Reads a server's message; undefined if it is malformed or has no message type. */
export function readServerMessage(bytes: Uint8Array): ServerMessage | undefined {
  if (bytes.length < HEADER_BYTES || bytes[0] !== BOOTREPLY || bytes[1] !== 1 || bytes[2] !== 6) return undefined;
  if (COOKIE.some((byte, index) => bytes[HEADER_BYTES - COOKIE.length + index] !== byte)) return undefined;
  const options = new Map<number, Uint8Array>();
  if (!readOptions(bytes.subarray(HEADER_BYTES), options)) return undefined;
  // RFC 2132 section 9.3: 1 means the field `file`, 2 the field `sname`, 3 both.
  const overload = options.get(OPTION.overload)?.[0] ?? 0;
  for (const { at, size } of [...((overload & 1) === 0 ? [] : [FILE]), ...((overload & 2) === 0 ? [] : [SNAME])])
    if (!readOptions(bytes.subarray(at, at + size), options)) return undefined;
  const [type] = options.get(OPTION.messageType) ?? [];
  if (type === undefined) return undefined;
  return { type, mac: bytes.slice(28, 34), yourAddress: bytes.slice(16, 20), options };
}

/** Adds the options of a field. False: an option is longer than the field. */
function readOptions(field: Uint8Array, into: Map<number, Uint8Array>): boolean {
  for (let at = 0; at < field.length;) {
    const number = field[at] ?? END;
    if (number === END) return true;
    if (number === PAD) {
      at += 1;
      continue;
    }
    const size = field[at + 1];
    if (size === undefined || at + 2 + size > field.length) return false;
    into.set(number, joined(into.get(number), field.slice(at + 2, at + 2 + size)));
    at += 2 + size;
  }
  return true;
}

function joined(before: Uint8Array | undefined, more: Uint8Array): Uint8Array {
  if (before === undefined) return more;
  const bytes = new Uint8Array(before.length + more.length);
  bytes.set(before);
  bytes.set(more, before.length);
  return bytes;
}
