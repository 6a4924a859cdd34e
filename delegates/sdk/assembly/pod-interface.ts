// The pod's interface after IPAM: what the reference main plugins do to it with IPAM's result, to bring it into service.

import { Family, InterfaceSetting, Change, AddressChange, LinkName, Operation, Place, RouteChange, Settling } from "./abi/links";
import { Fault, IpConfig, Route } from "./abi/types";
import { Cidr } from "./cidr";
import { notDecoded } from "./faults";
import { Ip } from "./ip";
import { Some } from "./some";

/** How long a new IPv6 address may be tentative, in milliseconds. */
const settleMilliseconds: u32 = 5000;

/**
 * Gives the interface the addresses and the routes, and brings it up. A route without a gateway gets the first one of its family among the
 * addresses'. With an IPv6 address, IPv6 is switched on for it and for `lo`, and the address outlives the link's going down; with an IPv6
 * gateway, its addresses are waited for. Answers what is wrong with an address or a destination; null: all operations were appended.
 */
export function configureInterface(
  ifname: string,
  ips: Array<IpConfig>,
  routes: Array<Route>,
  operations: Array<Operation>,
): Fault | null {
  const link = new LinkName(Place.Pod, ifname);
  let gateway4: string | null = null;
  let gateway6: string | null = null;
  let hasIpv6 = false;
  // Settings first, so that addresses and routes can travel together.
  for (let i = 0; i < ips.length; i++) {
    const address = Cidr.parse(ips[i].address);
    if (address === null) return notDecoded(`ips[${i}]: ${ips[i].address} is no address with a prefix length`);
    if (address.ip.family != 6 || hasIpv6) continue;
    hasIpv6 = true;
    switchOn(new LinkName(Place.Pod, "lo"), operations);
    switchOn(link, operations);
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
    if (dst === null) return notDecoded(`routes[${i}]: ${routes[i].dst} is no network`);
    const given = routes[i];
    const route = given.gw === null ? withGateway(given, dst.ip.family == 4 ? gateway4 : gateway6) : given;
    const change = new RouteChange(Place.Pod, route, false);
    change.link = link;
    operations.push(Operation.addRoute(change));
  }
  // Last, so that all before it can travel together.
  if (gateway6 !== null) operations.push(Operation.settle(new Settling(link, settleMilliseconds)));
  return null;
}

/** The change that brings a link up. */
export function broughtUp(link: LinkName): Change {
  const change = new Change(link);
  change.up = new Some<bool>(true);
  return change;
}

function switchOn(link: LinkName, operations: Array<Operation>): void {
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
