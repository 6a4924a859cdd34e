// A DHCP client of one interface in a pod (RFC 2131), over the effects ASK and PACKET of the shim: no socket is opened here.

import { randomBytes } from "node:crypto";
import { clientDatagram, messageInDatagram } from "../../../src/dhcp/datagram.ts";
import { type LeaseTerms, termsOf } from "../../../src/dhcp/lease-terms.ts";
import {
  type DhcpOption,
  encodeClientMessage,
  MESSAGE,
  OPTION,
  readServerMessage,
  type ServerMessage,
} from "../../../src/dhcp/message.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { readAddress } from "../../../src/net/ip.ts";
import type { LinkPacket } from "../../protocol/messages.ts";
import { packetsIn } from "../../protocol/network-fields.ts";
import type { PacketEffects } from "../../protocol/shim.ts";
import { addressBytes, macText } from "../../system/netlink/bytes.ts";
import { systemError } from "../../system/system-error.ts";

/** The interface that has or gets the lease. */
export interface DhcpLink {
  /** Path of the pod's network namespace. */
  readonly netns: string;
  readonly index: number;
  readonly mac: Uint8Array;
}

/** The identity that the client sends in every message. */
export interface DhcpIdentity {
  /** The client identifier (option 61), with its type. */
  readonly clientId: Uint8Array;
  /** Further options to request, by number. */
  readonly requested: readonly number[];
  /** Options to send. */
  readonly provided: readonly DhcpOption[];
}

/** An acknowledged lease. */
export interface Acknowledged {
  readonly terms: LeaseTerms;
  readonly options: ServerMessage["options"];
  /** The link-layer address that sent the acknowledgement: the server's or its router's. */
  readonly serverMac: Uint8Array;
}

type Effects = PacketEffects;

const ETHERTYPE_IPV4 = 0x0800;
const BROADCAST_MAC = new Uint8Array(6).fill(0xff);
const BROADCAST = new Uint8Array(4).fill(0xff);
const NO_ADDRESS = new Uint8Array(4);
/** The longest message that the shim passes on: a server sends no longer one (option 57). */
const MAX_MESSAGE = Uint8Array.of(1500 >> 8, 1500 & 0xff);
/** Milliseconds for an answer before the message is sent again; each window is twice the one before. */
const firstPauseMs = 1000;
const maxPauseMs = 8000;

/** Gets a lease: DISCOVER, the first OFFER, REQUEST, ACK. `milliseconds`: the bound of all waits. Fault DHCP_FAILED. */
export async function acquireLease(
  link: DhcpLink,
  identity: DhcpIdentity,
  milliseconds: number,
  shim: Effects,
  clock: () => number,
): Promise<Result<Acknowledged>> {
  const due = clock() + milliseconds;
  const session = { link, identity, shim, clock, due };
  const offered = await exchange(session, { ...discover, unicast: undefined }, [MESSAGE.offer]);
  if (!offered.ok) return offered;
  const { yourAddress, options } = offered.value.message;
  const server = options.get(OPTION.serverId);
  if (server?.length !== 4) return failed(dhcpFault("the server's offer has no identifier"));
  const chosen = [
    { number: OPTION.requestedAddress, value: yourAddress },
    { number: OPTION.serverId, value: server },
  ];
  return acknowledged(await exchange(session, { type: MESSAGE.request, options: chosen, unicast: undefined, server }, replies));
}

/** A lease that is to be renewed. */
export interface HeldAddress {
  readonly address: string;
  readonly server: string;
  readonly serverMac: Uint8Array;
}

/**
 * Renews a lease with its server, or with any server (`rebinds`). Fault DHCP_FAILED; its `lost` is true if a server has refused the address, which
 * may then no longer be used.
 */
export async function renewLease(
  link: DhcpLink,
  identity: DhcpIdentity,
  held: HeldAddress,
  { rebinds, milliseconds }: { readonly rebinds: boolean; readonly milliseconds: number },
  shim: Effects,
  clock: () => number,
): Promise<Result<Acknowledged> & { readonly lost?: boolean }> {
  const session = { link, identity, shim, clock, due: clock() + milliseconds };
  const unicast = { held, direct: !rebinds };
  const server = rebinds ? undefined : bytesOf(held.server);
  const answered = await exchange(session, { type: MESSAGE.request, options: [], unicast, server }, replies);
  if (answered.ok && answered.value.message.type === MESSAGE.nak) return { ...failed(refusedAddress()), lost: true };
  const renewed = acknowledged(answered);
  if (renewed.ok && renewed.value.terms.address !== held.address)
    return {
      ...failed(dhcpFault(`the server gives ${renewed.value.terms.address} in place of ${held.address}`)),
      lost: true,
    };
  return renewed;
}

/** Tells the server that the address is free. Nothing answers, so a lost packet is no fault. */
export async function releaseLease(link: DhcpLink, clientId: Uint8Array, held: HeldAddress, shim: Effects): Promise<void> {
  const source = bytesOf(held.address);
  const options = [
    { number: OPTION.serverId, value: bytesOf(held.server) },
    { number: OPTION.clientId, value: clientId },
  ];
  const message = encodeClientMessage({
    type: MESSAGE.release,
    xid: randomBytes(4),
    mac: link.mac,
    clientAddress: source,
    broadcast: false,
    options,
  });
  const payload = clientDatagram(source, bytesOf(held.server), message);
  const packets = [{ ethertype: ETHERTYPE_IPV4, destination: held.serverMac, payload }];
  await shim.packet({ path: link.netns, index: link.index, packets });
}

const discover = { type: MESSAGE.discover, options: [], server: undefined } as const;
const replies = [MESSAGE.ack, MESSAGE.nak] as const;

interface Session {
  readonly link: DhcpLink;
  readonly identity: DhcpIdentity;
  readonly shim: Effects;
  readonly clock: () => number;
  /** The end of all waits, on the monotonic clock. */
  readonly due: number;
}

interface Question {
  readonly type: number;
  readonly options: readonly DhcpOption[];
  /** The client's own address; undefined: it has none yet. `direct`: to the lease's server alone. */
  readonly unicast: { readonly held: HeldAddress; readonly direct: boolean } | undefined;
  /** The identifier of the only server that is asked (RFC 2131 sections 4.3.1 and 4.4.5): the answers of others do not count. Undefined: any server may answer. */
  readonly server: Uint8Array | undefined;
}

interface Answered {
  readonly message: ServerMessage;
  readonly serverMac: Uint8Array;
}

/** Sends a message until an answer of one of the types comes, or the time is over. */
async function exchange(session: Session, question: Question, types: readonly number[]): Promise<Result<Answered>> {
  const { link, shim, clock, due } = session;
  const xid = randomBytes(4);
  const packets = [packetOf(session, question, xid)];
  for (let pauseMs = firstPauseMs; clock() < due; pauseMs = Math.min(maxPauseMs, pauseMs * 2)) {
    const windowEnds = Math.min(due, clock() + pauseMs);
    let sent = packets;
    for (let left = windowEnds - clock(); left > 0; left = windowEnds - clock()) {
      const { errno, reply } = await shim.ask({
        path: link.netns,
        index: link.index,
        answers: "dhcp",
        keys: [xid],
        packets: sent,
        deadlineMs: Math.ceil(left),
        maxAnswers: 1,
      });
      if (errno !== 0) return failed(dhcpFault(`asking in the pod's network namespace: ${systemError(errno)}`));
      const found = answerIn(reply, link.mac, types, question.server);
      if (found !== undefined) return ok(found);
      // An answer that is malformed or not for this client ends the effect early; the rest of the time is listened.
      sent = [];
    }
  }
  const whom =
    question.type === MESSAGE.discover ? "no DHCP server offers an address" : "the DHCP server does not answer the request";
  return failed(dhcpFault(`${whom} to the interface with MAC ${macText(link.mac)}`));
}

function packetOf({ link, identity }: Session, { type, options, unicast }: Question, xid: Uint8Array): LinkPacket {
  const source = unicast === undefined ? NO_ADDRESS : bytesOf(unicast.held.address);
  const direct = unicast?.direct === true ? unicast.held : undefined;
  const requested = [...new Set(identity.requested)];
  const own = new Set(identity.provided.map(({ number }) => number));
  const always = [
    { number: OPTION.clientId, value: identity.clientId },
    { number: OPTION.maxMessageSize, value: MAX_MESSAGE },
    ...(requested.length === 0 ? [] : [{ number: OPTION.parameterList, value: Uint8Array.from(requested) }]),
  ].filter(({ number }) => !own.has(number));
  const message = encodeClientMessage({
    type,
    xid,
    mac: link.mac,
    clientAddress: source,
    broadcast: unicast === undefined,
    options: [...options, ...always, ...identity.provided],
  });
  return {
    ethertype: ETHERTYPE_IPV4,
    destination: direct === undefined ? BROADCAST_MAC : direct.serverMac,
    payload: clientDatagram(source, direct === undefined ? BROADCAST : bytesOf(direct.server), message),
  };
}

function answerIn(
  reply: Uint8Array,
  mac: Uint8Array,
  types: readonly number[],
  server: Question["server"],
): Answered | undefined {
  for (const { destination, payload } of packetsIn(reply) ?? []) {
    const datagram = messageInDatagram(payload);
    const message = datagram === undefined ? undefined : readServerMessage(datagram);
    if (message === undefined || !types.includes(message.type) || macText(message.mac) !== macText(mac)) continue;
    if (server !== undefined && Buffer.compare(message.options.get(OPTION.serverId) ?? NO_ADDRESS, server) !== 0) continue;
    return { message, serverMac: destination.slice() };
  }
  return undefined;
}

function acknowledged(answered: Result<Answered>): Result<Acknowledged> {
  if (!answered.ok) return answered;
  const { message, serverMac } = answered.value;
  if (message.type === MESSAGE.nak) return failed(refusedAddress());
  const terms = termsOf(message);
  return terms.ok ? ok({ terms: terms.value, options: message.options, serverMac }) : terms;
}

function refusedAddress(): Fault {
  return dhcpFault("the DHCP server refuses the address (DHCPNAK)");
}

function bytesOf(text: string): Uint8Array {
  const address = readAddress(text);
  return address === undefined ? NO_ADDRESS : addressBytes(address);
}

function dhcpFault(why: string): Fault {
  return fault("DHCP_FAILED", `dhcp: ${why}`);
}
