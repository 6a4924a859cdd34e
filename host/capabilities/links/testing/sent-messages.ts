// For tests: a decoder of sent netlink messages. It shares no code with the encoder that it checks.

import type { RecordedEffect } from "./link-tests.ts";

/** A decoded message. */
export interface SentMessage {
  readonly place: "host" | "pod";
  readonly type: number;
  /** The message does more than read. */
  readonly changes: boolean;
  /** NEWLINK with CREATE. */
  readonly creates: boolean;
  /** Index of the message's link; 0 where it names none by index. */
  readonly index: number;
  readonly master: number | undefined;
  /** The MAC address that the message gives to the link: lower case with colons. */
  readonly mac: string | undefined;
  /** Index of the new link's lower link. */
  readonly parent: number | undefined;
  /** Types of its attributes. */
  readonly attributes: readonly number[];
  /** The message sets flags of a link. */
  readonly hasFlags: boolean;
  /** The message names another namespace, for its link or for a veth's peer. */
  readonly namesNamespace: boolean;
  /** Attributes that act in another namespace: NET_NS_PID, NEW_NETNSID, TARGET_NETNSID, LINK_NETNSID. */
  readonly forbidden: readonly number[];
}

const FORBIDDEN = new Set([19, 37, 45, 46]);
const NET_NS_FD = 28;
const IFLA_ADDRESS = 1;
const LINK_TYPES = new Set([16, 17, 18, 19, 108, 109]);

/** The messages of a netlink effect; none for another effect. */
export function messagesOf({ effect, path }: RecordedEffect): readonly SentMessage[] {
  if (!("request" in effect)) return [];
  const bytes = Buffer.from(effect.request);
  const messages: SentMessage[] = [];
  for (let at = 0; at + 16 <= bytes.length;) {
    const length = bytes.readUInt32LE(at);
    const type = bytes.readUInt16LE(at + 4);
    const flags = bytes.readUInt16LE(at + 6);
    const body = bytes.subarray(at + 16, at + length);
    at += (length + 3) & ~3;
    const isLink = LINK_TYPES.has(type);
    const all = attributes(
      body.subarray(isLink ? 16 : type === 90 ? 4 : type >= 28 && type <= 30 ? 12 : type >= 24 && type <= 26 ? 12 : 8),
    );
    const number = (id: number): number | undefined => all.find(([each]) => each === id)?.[1].readUInt32LE(0);
    const inLink = isLink ? [...all, ...peer(all)] : [];
    const route = type === 24 || type === 25;
    messages.push({
      place: path === "" ? "host" : "pod",
      type,
      changes: (type & 3) !== 2,
      creates: type === 16 && (flags & 0x400) !== 0,
      index: route ? (number(4) ?? 0) : body.readInt32LE(4),
      master: isLink ? number(10) : undefined,
      mac: isLink ? macOf(all) : undefined,
      parent: isLink ? number(5) : undefined,
      attributes: all.map(([each]) => each),
      hasFlags: isLink && (body.readUInt32LE(12) !== 0 || body.readUInt32LE(8) !== 0),
      namesNamespace: inLink.some(([each]) => each === NET_NS_FD),
      forbidden: inLink.map(([each]) => each).filter((each) => FORBIDDEN.has(each)),
    });
  }
  return messages;
}

function macOf(all: readonly [number, Buffer][]): string | undefined {
  const mac = all.find(([each]) => each === IFLA_ADDRESS)?.[1];
  return mac === undefined ? undefined : [...mac].map((byte) => byte.toString(16).padStart(2, "0")).join(":");
}

function attributes(bytes: Buffer): [number, Buffer][] {
  const found: [number, Buffer][] = [];
  for (let at = 0; at + 4 <= bytes.length;) {
    const length = bytes.readUInt16LE(at);
    if (length < 4) break;
    found.push([bytes.readUInt16LE(at + 2) & 0x3fff, bytes.subarray(at + 4, at + length)]);
    at += (length + 3) & ~3;
  }
  return found;
}

/** The attributes of a veth's peer: LINKINFO, DATA, PEER, behind its header. */
function peer(all: readonly [number, Buffer][]): [number, Buffer][] {
  const info = attributes(nested(all, 18));
  if (nested(info, 1).toString("latin1") !== "veth\0") return [];
  return attributes(nested(attributes(nested(info, 2)), 1).subarray(16));
}

function nested(from: readonly [number, Buffer][], which: number): Buffer {
  return from.find(([each]) => each === which)?.[1] ?? Buffer.alloc(0);
}
