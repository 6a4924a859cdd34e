// Configures the pod's interface with IPAM's result, like the reference main plugins.

import { Family, InterfaceSetting, Change, AddressChange, LinkName, Operation, Place, RouteChange, Settling } from "./abi/links";
import { Fault, IpConfig, Route } from "./abi/types";
import { Cidr } from "./cidr";
import { notDecoded } from "./faults";
import { Ip } from "./ip";
import { Some } from "./some";
import { waitWithin } from "./waits";

/** Maximum time for a new IPv6 address to be tentative, in milliseconds. */
const settleMilliseconds: u32 = 5000;

/**
 * Appends operations that give the interface its addresses and routes, and bring it up. A route without a gateway gets the first
 * gateway of its family among the addresses. With an IPv6 address, IPv6 is enabled for the interface and for `lo`, and the
 * address survives a link that goes down. With an IPv6 gateway, the addresses are waited for, at most half of `remainingMs` of the
 * call; a link that has no carrier by then is no fault. Answers a mistake in an address or
 * destination; null: all operations were appended.
 */
export function configureInterface(
  ifname: string,
  ips: Array<IpConfig>,
  routes: Array<Route>,
  operations: Array<Operation>,
  remainingMs: u32 = u32.MAX_VALUE,
): Fault | null {
  const link = new LinkName(Place.Pod, ifname);
  let gateway4: string | null = null;
  let gateway6: string | null = null;
  let hasIpv6 = false;
  // Settings first, so that addresses and routes can be sent together.
  for (let i = 0; i < ips.length; i++) {
    const address = Cidr.parse(ips[i].address);
    if (address === null) return notDecoded(`ips[${i}]: ${ips[i].address} is not an address with a prefix length`);
    if (address.ip.family != 6 || hasIpv6) continue;
    hasIpv6 = true;
    enableIpv6(new LinkName(Place.Pod, "lo"), operations);
    enableIpv6(link, operations);
    operations.push(Operation.setInterface(new InterfaceSetting(link, Family.Ipv6, "keep_addr_on_down", "1", false)));
  }
  for (let i = 0; i < ips.length; i++) {
    const ip = ips[i];
    operations.push(Operation.addAddress(new AddressChange(link, ip.address, false)));
    const gateway: Ip | null = ip.gateway === null ? null : Ip.parse(ip.gateway as string);
    if (gateway === null) continue;
    if (gateway.family == 4 && gateway4 === null) gateway4 = ip.gateway;
    else if (gateway.family == 6 && gateway6 === null) gateway6 = ip.gateway;
  }
  operations.push(Operation.changeLink(broughtUp(link)));
  for (let i = 0; i < routes.length; i++) {
    const dst = Cidr.parse(routes[i].dst);
    if (dst === null) return notDecoded(`routes[${i}]: ${routes[i].dst} is not a network in CIDR notation`);
    const configured = routes[i];
    const gateway = dst.ip.family == 4 ? gateway4 : gateway6;
    const route = configured.gw === null ? withGateway(configured, gateway) : configured;
    const change = new RouteChange(Place.Pod, route, false);
    change.link = link;
    operations.push(Operation.addRoute(change));
  }
  // Last, so that all earlier operations can be sent together.
  if (gateway6 !== null) operations.push(Operation.settle(new Settling(link, waitWithin(remainingMs, settleMilliseconds))));
  return null;
}

/** The change that sets a link up. */
export function broughtUp(link: LinkName): Change {
  const change = new Change(link);
  change.up = new Some<bool>(true);
  return change;
}

function enableIpv6(link: LinkName, operations: Array<Operation>): void {
  operations.push(Operation.setInterface(new InterfaceSetting(link, Family.Ipv6, "disable_ipv6", "0", false)));
}

/** The route with another gateway. */
function withGateway(route: Route, gateway: string | null): Route {
  const copy = new Route(route.dst);
  copy.gw = gateway;
  copy.mtu = route.mtu;
  copy.advmss = route.advmss;
  copy.priority = route.priority;
  copy.table = route.table;
  copy.scope = route.scope;
  return copy;
}
