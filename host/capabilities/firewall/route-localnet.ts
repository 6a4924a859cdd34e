// Lets connections from the node's own 127.0.0.1 leave it towards a pod: the kernel keeps such addresses on the loopback unless the link
// that they leave by has `route_localnet`.

import { failed, ok, type Result } from "../../src/fault/result.ts";
import { formatAddress, type IpAddress } from "../../src/net/ip.ts";
import { attribute, Attributes, u32Attribute } from "../netlink/attributes.ts";
import { concat, u32 } from "../netlink/bytes.ts";
import type { NetlinkRequest } from "../netlink/message.ts";
import { addressBytes } from "./expressions.ts";
import { ask, type Asks, failure, systemError } from "./kernel.ts";
import type { PortMapping } from "./rules.ts";

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

/** Switches `route_localnet` on for the links over which pods are reached that have mappings for 127.0.0.1. */
export async function leadLocalhostOut(hands: Asks, mappings: readonly PortMapping[]): Promise<Result<void>> {
  const pods = new Map(mappings.filter(isReachedByLocalhost).map(({ pod: { address } }) => [address.value, address]));
  for (const pod of pods.values()) {
    const link = await linkTowards(hands, pod);
    if (!link.ok) return link;
    if (link.value === undefined) continue; // nothing leads there: nor will anything from 127.0.0.1
    const what = `switching route_localnet on for the link to ${formatAddress(pod)}`;
    const answers = await ask(hands, [routeLocalnet(link.value)], what, "route");
    if (!answers.ok) return answers;
    const refused = answers.value.find(({ errno }) => errno !== 0);
    if (refused !== undefined) return failed(failure(what, systemError(refused.errno)));
  }
  return ok(undefined);
}

function isReachedByLocalhost({ pod, hostAddress, masquerading }: PortMapping): boolean {
  const loopback = hostAddress === undefined || (hostAddress.family === 4 && hostAddress.value >> 24n === 127n);
  return pod.address.family === 4 && masquerading !== "none" && loopback;
}

async function linkTowards(hands: Asks, address: IpAddress): Promise<Result<number | undefined>> {
  const fixed = Uint8Array.of(AF_INET, 32, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0);
  const request = { type: RTM_GETROUTE, flags: 0, body: concat([fixed, attribute(RTA_DST, addressBytes(address))]) };
  const answers = await ask(hands, [request], `looking up the route to ${formatAddress(address)}`, "route");
  if (!answers.ok) return answers;
  const [route] = answers.value.flatMap(({ messages }) => messages.filter(({ type }) => type === RTM_NEWROUTE));
  return ok(route && new Attributes(route.body, RTMSG).u32(RTA_OIF));
}

/** Of IPv4's settings, for one link, without /proc. */
function routeLocalnet(index: number): NetlinkRequest {
  const settings = attribute(IFLA_INET_CONF, u32Attribute(ROUTE_LOCALNET, 1));
  const body = concat([u32(0), u32(index), u32(0), u32(0), attribute(IFLA_AF_SPEC, attribute(AF_INET, settings))]);
  return { type: RTM_SETLINK, flags: 0, body };
}
