// Deletes UDP flows to newly mapped ports from the connection tracking (linux/netfilter/nfnetlink_conntrack.h). The kernel looks at NAT rules
// only for a flow's first packet. A flow that began before its mapping would bypass the mapping for as long as packets come.

import { attribute, Attributes, u32Attribute } from "../../system/netlink/attributes.ts";
import { concat } from "../../system/netlink/bytes.ts";
import type { NetlinkRequest } from "../../system/netlink/message.ts";
import { numberIn, u16be } from "./big-endian.ts";
import { addressBytes } from "./expressions.ts";
import { ask, type NetlinkShim } from "./kernel.ts";
import { type PortMapping, protocolNumbers } from "./rules.ts";

const CONNTRACK = 1;
const IPCTNL_MSG_CT_NEW = CONNTRACK << 8;
const IPCTNL_MSG_CT_GET = (CONNTRACK << 8) | 1;
const IPCTNL_MSG_CT_DELETE = (CONNTRACK << 8) | 2;
const NLM_F_DUMP = 0x300;
const AF = { 4: 2, 6: 10 } as const;
const GENERIC_HEADER = 4;
const CTA_TUPLE_ORIG = 1;
const CTA_ID = 12;
const CTA_ZONE = 18;
/** With NLA_F_NESTED. */
const CTA_FILTER = 25 | 0x8000;
const CTA_FILTER_ORIG_FLAGS = 1;
const CTA_TUPLE_IP = 1;
const CTA_TUPLE_PROTO = 2;
const CTA_PROTO_NUM = 1;
const CTA_PROTO_DST_PORT = 3;
const DESTINATION = { 4: 2, 6: 4 } as const;
/** Flags of the parts by which the kernel compares tuples: protocol, destination port, destination address. */
const [BY_PROTOCOL, BY_PORT, BY_ADDRESS] = [1 << 3, 1 << 5, 1 << 1];

/** Deletes the flows to the mappings' UDP ports. Errors are ignored: the rules are in force without it, and flows end by themselves. */
export async function deleteFlows(shim: NetlinkShim, mappings: readonly PortMapping[]): Promise<void> {
  for (const mapping of mappings) {
    if (mapping.protocol !== "udp") continue;
    const found = await ask(shim, [flowsRequest(mapping)], "listing flows");
    const flows = found.ok ? found.value.flatMap(({ messages }) => messages.filter((message) => isFlowTo(message, mapping))) : [];
    if (flows.length > 0) await ask(shim, flows.map(deletion), "deleting flows");
  }
}

/** Kernels before 5.8 ignore the filter and list all flows. */
function flowsRequest(mapping: PortMapping): NetlinkRequest {
  const { hostAddress, hostPort, pod } = mapping;
  const address = hostAddress === undefined ? [] : [attribute(DESTINATION[hostAddress.family], addressBytes(hostAddress))];
  const port = [attribute(CTA_PROTO_NUM, Uint8Array.of(protocolNumbers.udp)), attribute(CTA_PROTO_DST_PORT, u16be(hostPort))];
  const tuple = [...address.map((each) => attribute(CTA_TUPLE_IP, each)), attribute(CTA_TUPLE_PROTO, concat(port))];
  const flags = BY_PROTOCOL | BY_PORT | (hostAddress === undefined ? 0 : BY_ADDRESS);
  const body = concat([
    Uint8Array.of(AF[pod.address.family], 0, 0, 0),
    attribute(CTA_TUPLE_ORIG, concat(tuple)),
    attribute(CTA_FILTER, u32Attribute(CTA_FILTER_ORIG_FLAGS, flags)),
  ]);
  return { type: IPCTNL_MSG_CT_GET, flags: NLM_F_DUMP, body };
}

interface Message {
  readonly type: number;
  readonly body: Uint8Array;
}

function isFlowTo({ type, body }: Message, { hostAddress, hostPort, pod }: PortMapping): boolean {
  if (type !== IPCTNL_MSG_CT_NEW || body[0] !== AF[pod.address.family]) return false;
  const tuple = new Attributes(body, GENERIC_HEADER).within(CTA_TUPLE_ORIG);
  const port = tuple.within(CTA_TUPLE_PROTO);
  const to = tuple.within(CTA_TUPLE_IP).get(DESTINATION[pod.address.family]);
  return (
    numberIn(port.get(CTA_PROTO_NUM)) === protocolNumbers.udp &&
    numberIn(port.get(CTA_PROTO_DST_PORT)) === hostPort &&
    (hostAddress === undefined || Buffer.compare(addressBytes(hostAddress), to ?? new Uint8Array(0)) === 0)
  );
}

/** The request to delete exactly the listed flow: a newer flow of the same tuple has another ID. */
function deletion({ body }: Message): NetlinkRequest {
  const attributes = new Attributes(body, GENERIC_HEADER);
  const identity = [CTA_TUPLE_ORIG, CTA_ID, CTA_ZONE].flatMap((type) => {
    const value = attributes.get(type);
    return value === undefined ? [] : [attribute(type, value)];
  });
  return { type: IPCTNL_MSG_CT_DELETE, flags: 0, body: concat([body.subarray(0, GENERIC_HEADER), ...identity]) };
}
