// Lets connections from the node's 127.0.0.1 reach a pod: the kernel drops packets with such a source unless the outgoing link has
// `route_localnet`.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import { attribute, Attributes, u32Attribute, type NetlinkRequest } from "../../system/netlink/message.ts";
import { concat, u32 } from "../../system/netlink/bytes.ts";
import { addressBytes } from "./packet-values.ts";
import { ask, type NetlinkShim, failure } from "./kernel.ts";
import type { PortMapping } from "./mappings.ts";
import { systemError } from "../../system/system-error.ts";

const RTM_SETLINK = 19;
const RTM_NEWROUTE = 24;
const RTM_GETROUTE = 26;
/** Size of a route message's fixed part. */
const RTMSG = 12;
const AF_INET = 2;
const RTA_DST = 1;
const RTA_OIF = 4;
const IFLA_AF_SPEC = 26;
const IFLA_INET_CONF = 1;
/** IPV4_DEVCONF_ROUTE_LOCALNET of linux/ip.h. */
const ROUTE_LOCALNET = 26;

/** Enables `route_localnet` on the links to pods that have mappings for 127.0.0.1. Fault: FIREWALL_FAILED. */
export async function enableRouteLocalnet(shim: NetlinkShim, mappings: readonly PortMapping[]): Promise<Result<void>> {
  const pods = new Map(mappings.filter(isReachedByLocalhost).map(({ pod: { address } }) => [address.value, address]));
  for (const pod of pods.values()) {
    const link = await linkTowards(shim, pod);
    if (!link.ok) return link;
    if (link.value === undefined) continue; // no route to the pod, so no connection from 127.0.0.1 either
    const action = `enabling route_localnet on the link to ${formatAddress(pod)}`;
    const answers = await ask(shim, [routeLocalnet(link.value)], action, "route");
    if (!answers.ok) return answers;
    const refused = answers.value.find(({ errno }) => errno !== 0);
    if (refused !== undefined) return failed(failure(action, systemError(refused.errno)));
  }
  return ok(undefined);
}

function isReachedByLocalhost({ pod, hostAddress, masquerading }: PortMapping): boolean {
  const loopback = hostAddress === undefined || (hostAddress.family === 4 && hostAddress.value >> 24n === 127n);
  return pod.address.family === 4 && masquerading !== "none" && loopback;
}

async function linkTowards(shim: NetlinkShim, address: IpAddress): Promise<Result<number | undefined>> {
  const fixed = Uint8Array.of(AF_INET, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const request = { type: RTM_GETROUTE, flags: 0, body: concat([fixed, attribute(RTA_DST, addressBytes(address))]) };
  const answers = await ask(shim, [request], `looking up the route to ${formatAddress(address)}`, "route");
  if (!answers.ok) return answers;
  const [route] = answers.value.flatMap(({ messages }) => messages.filter(({ type }) => type === RTM_NEWROUTE));
  return ok(route && new Attributes(route.body, RTMSG).u32(RTA_OIF));
}

/** The request to enable `route_localnet` on one link. rtnetlink needs no /proc. */
function routeLocalnet(index: number): NetlinkRequest {
  const settings = attribute(IFLA_INET_CONF, u32Attribute(ROUTE_LOCALNET, 1));
  const body = concat([u32(0), u32(index), u32(0), u32(0), attribute(IFLA_AF_SPEC, attribute(AF_INET, settings))]);
  return { type: RTM_SETLINK, flags: 0, body };
}
