// Deletes flows from the connection tracking (linux/netfilter/nfnetlink_conntrack.h). The kernel looks at NAT rules only for a flow's first packet: a UDP
// flow that began before its mapping would bypass the mapping, and a flow through a removed mapping would still lead to the pod's address.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { cidrContains, formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import { attribute, Attributes, u32Attribute, type NetlinkRequest } from "../../system/netlink/message.ts";
import { concat } from "../../system/netlink/bytes.ts";
import { numberIn, u16be } from "./big-endian.ts";
import { addressBytes, addressOf } from "./packet-values.ts";
import { ENOENT } from "../../system/errno.ts";
import { refusalText } from "./installed-rules.ts";
import { ask, failure, type NetlinkShim } from "./kernel.ts";
import type { PortMapping } from "./mappings.ts";
import { protocolNumbers } from "./rules.ts";

const CONNTRACK = 1;
const IPCTNL_MSG_CT_NEW = CONNTRACK << 8;
const IPCTNL_MSG_CT_GET = (CONNTRACK << 8) | 1;
const IPCTNL_MSG_CT_DELETE = (CONNTRACK << 8) | 2;
const IPCTNL_MSG_CT_GET_STATS = (CONNTRACK << 8) | 5;
const NLM_F_DUMP = 0x300;
const AF = { 4: 2, 6: 10 } as const;
const GENERIC_HEADER = 4;
const CTA_TUPLE_ORIG = 1;
const CTA_TUPLE_REPLY = 2;
const CTA_ID = 12;
const CTA_ZONE = 18;
/** With NLA_F_NESTED. */
const CTA_FILTER = 25 | 0x8000;
/** The types of the filter's flags are those of the tuples. */
const CTA_FILTER_FLAGS = { [CTA_TUPLE_ORIG]: 1, [CTA_TUPLE_REPLY]: 2 } as const;
const CTA_TUPLE_IP = 1;
const CTA_TUPLE_PROTO = 2;
const CTA_PROTO_NUM = 1;
const CTA_PROTO_SRC_PORT = 2;
const CTA_PROTO_DST_PORT = 3;
const ADDRESS = { 4: { source: 1, destination: 2 }, 6: { source: 3, destination: 4 } } as const;
/** Flags of the parts by which the kernel compares tuples. */
const BY = { source: 1 << 0, destination: 1 << 1, protocol: 1 << 3, port: 1 << 5 } as const;

/** Maximum number of deletions in one send: acknowledgements of more overflow the socket's receive buffer. */
const maxTogether = 500;
/** Maximum number of addresses with lists of their own. */
const maxFiltered = 8;

/** A flow: its first packet, and the source of the answers, which is the server after all changes of the destination. */
export interface Flow {
  readonly protocol: number;
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  readonly port: number;
  readonly server: Uint8Array;
  readonly serverPort: number;
  /** The ends of the first packet and of the answers. */
  readonly ends: readonly FlowEnd[];
}

/** An end of a flow: an address as its bytes, and a port. */
export interface FlowEnd {
  readonly address: Uint8Array;
  readonly port: number;
}

/**
 * Deletes UDP flows to the mappings' ports that do not lead to their pods. Errors are ignored: the rules are in force without it, and idle flows end by
 * themselves.
 */
export async function deleteEarlierFlows(shim: NetlinkShim, mappings: readonly PortMapping[]): Promise<void> {
  for (const mapping of mappings) {
    if (mapping.protocol !== "udp") continue;
    await deleteListed(shim, flowsToPort(mapping), (flow) => isTo(flow, mapping) && !leadsToPod(flow, mapping));
  }
}

/** Deletes the flows of all protocols that lead to pods through these removed mappings. Errors are ignored: idle flows end by themselves. */
export async function deleteFlowsThrough(shim: NetlinkShim, mappings: readonly PortMapping[]): Promise<void> {
  const requests = new Map<string, NetlinkRequest>();
  for (const mapping of mappings) {
    const { protocol, hostPort, pod } = mapping;
    // Kernels compare IPv6 addresses of a filter the wrong way round.
    if (pod.address.family === 6) requests.set(`${protocol} ${hostPort}`, flowsToPort({ ...mapping, hostAddress: undefined }));
    else requests.set(formatAddress(pod.address), flowsFromPod(pod.address));
  }
  const isThrough = (flow: Flow): boolean => mappings.some((mapping) => isTo(flow, mapping) && leadsToPod(flow, mapping));
  for (const request of requests.values()) await deleteListed(shim, request, isThrough);
}

/** Deletes the flows with an end that `isWanted` accepts, of these addresses, and answers their number. Fault: FIREWALL_FAILED. */
export async function forgetFlows(
  shim: NetlinkShim,
  addresses: readonly IpAddress[],
  isWanted: (protocol: number, end: FlowEnd) => boolean,
): Promise<Result<number>> {
  const deletions = new Map<string, NetlinkRequest>();
  for (const request of flowsWith(addresses)) {
    const found = await ask(shim, [request], "listing flows");
    if (!found.ok) return found;
    const [answer] = found.value;
    if (answer !== undefined && answer.errno !== 0) return failed(failure("listing flows", refusalText(answer)));
    for (const message of answer?.messages ?? []) {
      const flow = flowIn(message);
      if (flow === undefined || !flow.ends.some((end) => isWanted(flow.protocol, end))) continue;
      const removal = deletion(message);
      deletions.set(removal.body.join("."), removal);
    }
  }
  const removed = await deleteFlows(shim, [...deletions.values()]);
  return removed.ok ? ok(deletions.size) : removed;
}

/** Sends deletions of listed flows, in as many sends as the socket's buffers need. `path`: as for `ask`. Fault: FIREWALL_FAILED. */
export async function deleteFlows(
  shim: NetlinkShim,
  deletions: readonly NetlinkRequest[],
  path = "",
): Promise<Result<undefined>> {
  for (let at = 0; at < deletions.length; at += maxTogether) {
    const removed = await ask(shim, deletions.slice(at, at + maxTogether), "deleting flows", "netfilter", path);
    if (!removed.ok) return removed;
    // ENOENT: the flow ended meanwhile.
    const refusal = removed.value.find(({ errno }) => errno !== 0 && errno !== ENOENT);
    if (refusal !== undefined) return failed(failure("deleting flows", refusalText(refusal)));
  }
  return ok(undefined);
}

/**
 * Lists the flows of which an address is an end; for IPv6 all flows, because kernels compare its addresses of a filter the wrong way round, and all flows
 * for many addresses: each list costs the kernel a look at every flow of the node.
 */
function flowsWith(addresses: readonly IpAddress[]): readonly NetlinkRequest[] {
  const [four, six] = ([4, 6] as const).map((family) => addresses.filter((each) => each.family === family));
  const byAddress = four !== undefined && four.length <= maxFiltered ? four : [];
  const families = [...(byAddress.length === (four?.length ?? 0) ? [] : [AF[4]]), ...(six?.length === 0 ? [] : [AF[6]])];
  return [
    ...byAddress.flatMap((address) =>
      ([CTA_TUPLE_ORIG, CTA_TUPLE_REPLY] as const).flatMap((tuple) =>
        (["source", "destination"] as const).map((side) => {
          const part = attribute(CTA_TUPLE_IP, attribute(ADDRESS[4][side], addressBytes(address)));
          return flowsRequest(4, tuple, [part], BY[side]);
        }),
      ),
    ),
    ...families.map((family) => ({ type: IPCTNL_MSG_CT_GET, flags: NLM_F_DUMP, body: Uint8Array.of(family, 0, 0, 0) })),
  ];
}

/** Requests the number of flows. A kernel without connection tracking refuses. */
export function flowCountRequest(): NetlinkRequest {
  return { type: IPCTNL_MSG_CT_GET_STATS, flags: 0, body: new Uint8Array(GENERIC_HEADER) };
}

/** Lists the flows whose first packet had the mapping's destination. */
function flowsToPort({ protocol, hostPort, hostAddress, pod }: PortMapping): NetlinkRequest {
  const { family } = pod.address;
  const address =
    hostAddress === undefined || family === 6 ? [] : [attribute(ADDRESS[family].destination, addressBytes(hostAddress))];
  const port = [
    attribute(CTA_PROTO_NUM, Uint8Array.of(protocolNumbers[protocol])),
    attribute(CTA_PROTO_DST_PORT, u16be(hostPort)),
  ];
  const tuple = [...address.map((each) => attribute(CTA_TUPLE_IP, each)), attribute(CTA_TUPLE_PROTO, concat(port))];
  return flowsRequest(family, CTA_TUPLE_ORIG, tuple, BY.protocol | BY.port | (address.length === 0 ? 0 : BY.destination));
}

/** Lists the flows whose answers come from the pod. */
function flowsFromPod(pod: IpAddress): NetlinkRequest {
  const tuple = attribute(CTA_TUPLE_IP, attribute(ADDRESS[pod.family].source, addressBytes(pod)));
  return flowsRequest(pod.family, CTA_TUPLE_REPLY, [tuple], BY.source);
}

async function deleteListed(shim: NetlinkShim, request: NetlinkRequest, isWanted: (flow: Flow) => boolean): Promise<void> {
  const found = await ask(shim, [request], "listing flows");
  if (!found.ok) return;
  const deletions = found.value.flatMap(({ messages }) =>
    messages.flatMap((message) => {
      const flow = flowIn(message);
      return flow !== undefined && isWanted(flow) ? [deletion(message)] : [];
    }),
  );
  await deleteFlows(shim, deletions);
}

/** Kernels before 5.8 ignore the filter and list all flows. */
function flowsRequest(
  family: 4 | 6,
  tuple: typeof CTA_TUPLE_ORIG | typeof CTA_TUPLE_REPLY,
  parts: readonly Uint8Array[],
  flags: number,
): NetlinkRequest {
  const body = concat([
    Uint8Array.of(AF[family], 0, 0, 0),
    attribute(tuple, concat(parts)),
    attribute(CTA_FILTER, u32Attribute(CTA_FILTER_FLAGS[tuple], flags)),
  ]);
  return { type: IPCTNL_MSG_CT_GET, flags: NLM_F_DUMP, body };
}

interface Message {
  readonly type: number;
  readonly body: Uint8Array;
}

/** The flow in a message; undefined for a message of another type or family. */
export function flowIn({ type, body }: Message): Flow | undefined {
  const family = ([4, 6] as const).find((each) => body[0] === AF[each]);
  if (type !== IPCTNL_MSG_CT_NEW || family === undefined) return undefined;
  const attributes = new Attributes(body, GENERIC_HEADER);
  const [first, answer] = [attributes.within(CTA_TUPLE_ORIG), attributes.within(CTA_TUPLE_REPLY)];
  const [ports, answerPorts] = [first.within(CTA_TUPLE_PROTO), answer.within(CTA_TUPLE_PROTO)];
  const nothing = new Uint8Array(0);
  return {
    protocol: numberIn(ports.get(CTA_PROTO_NUM)),
    source: first.within(CTA_TUPLE_IP).get(ADDRESS[family].source) ?? nothing,
    destination: first.within(CTA_TUPLE_IP).get(ADDRESS[family].destination) ?? nothing,
    port: numberIn(ports.get(CTA_PROTO_DST_PORT)),
    server: answer.within(CTA_TUPLE_IP).get(ADDRESS[family].source) ?? nothing,
    serverPort: numberIn(answerPorts.get(CTA_PROTO_SRC_PORT)),
    ends: [first, answer].flatMap((tuple) => endsIn(tuple, family)),
  };
}

function endsIn(tuple: Attributes, family: 4 | 6): readonly FlowEnd[] {
  const [addresses, ports] = [tuple.within(CTA_TUPLE_IP), tuple.within(CTA_TUPLE_PROTO)];
  return (["source", "destination"] as const).map((side) => ({
    address: addresses.get(ADDRESS[family][side]) ?? new Uint8Array(0),
    port: numberIn(ports.get(side === "source" ? CTA_PROTO_SRC_PORT : CTA_PROTO_DST_PORT)),
  }));
}

const isAddress = (bytes: Uint8Array, address: IpAddress): boolean => Buffer.compare(bytes, addressBytes(address)) === 0;

/** Whether the mapping's rule matches the flow's first packet, if that went to an address of the node. */
function isTo(flow: Flow, { protocol, hostAddress, hostPort, pod, conditions }: PortMapping): boolean {
  return (
    flow.destination.length === addressBytes(pod.address).length &&
    flow.protocol === protocolNumbers[protocol] &&
    flow.port === hostPort &&
    (hostAddress === undefined || isAddress(flow.destination, hostAddress)) &&
    conditions.every(({ which, operation, network }) => cidrContains(network, addressOf(flow[which])) === (operation === "is"))
  );
}

/** Whether the flow's packets reach the mapping's pod. */
function leadsToPod({ server, serverPort }: Flow, { pod, podPort }: PortMapping): boolean {
  return isAddress(server, pod.address) && serverPort === podPort;
}

/** The request to delete exactly the listed flow: a newer flow of the same tuple has another ID. */
export function deletion({ body }: Message): NetlinkRequest {
  const attributes = new Attributes(body, GENERIC_HEADER);
  const identity = [CTA_TUPLE_ORIG, CTA_ID, CTA_ZONE].flatMap((type) => {
    const value = attributes.get(type);
    return value === undefined ? [] : [attribute(type, value)];
  });
  return { type: IPCTNL_MSG_CT_DELETE, flags: 0, body: concat([body.subarray(0, GENERIC_HEADER), ...identity]) };
}
