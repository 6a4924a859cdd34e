// The operations of an ADD. All traffic of the pod goes through its gateway, which is an address of the node's end: the pod's route to its network
// is replaced by a route to the gateway and one through the gateway.

import { AddressChange, Family, LinkName, Operation, Place, RouteChange, Veth } from "plexus/abi/links";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault, Route, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { ownFault } from "plexus/faults";
import { Ip } from "plexus/ip";
import { NO_ADDRESS } from "plexus/main-codes";
import { configureInterface } from "plexus/pod-interface";
import { Some } from "plexus/some";
import { nodeEndName } from "./node-end";
import { Settings } from "./settings";

/** RT_SCOPE_*: the node's route to a pod leads to the node itself, as `ip route add … scope host`. */
const scopeHost: u32 = 254;
const scopeLink: u32 = 253;

/** The operations of one ADD. With a fault, the operations must not be used. */
@final
export class Plan {
  readonly operations: Array<Operation> = new Array<Operation>();
  fault: Fault | null = null;
  private readonly pod: LinkName;
  private readonly node: LinkName;
  private readonly gateways: Array<Ip> = new Array<Ip>();

  private constructor(request: AttachmentRequest) {
    this.pod = new LinkName(Place.Pod, request.attachment.ifname);
    this.node = new LinkName(Place.Host, nodeEndName(request.attachment));
  }

  static of(settings: Settings, request: AttachmentRequest, ipam: Success): Plan {
    const plan = new Plan(request);
    plan.enableForwarding(ipam);
    const veth = new Veth(plan.pod.name, false, false);
    veth.hostName = plan.node.name;
    veth.mtu = settings.mtu;
    plan.operations.push(Operation.addVeth(veth));
    for (let i = 0; i < ipam.ips.length && plan.fault === null; i++) plan.addNodeSide(ipam, i);
    if (plan.fault !== null) return plan;
    plan.fault = configureInterface(plan.pod.name, ipam.ips, ipam.routes, plan.operations, request.call.remainingMs);
    // After the addresses have settled: an IPv6 route cannot have a tentative address as its source.
    for (let i = 0; i < ipam.ips.length && plan.fault === null; i++) plan.addPodSide(ipam, i);
    return plan;
  }

  private enableForwarding(ipam: Success): void {
    let has4 = false;
    let has6 = false;
    for (let i = 0; i < ipam.ips.length; i++) {
      if (ipam.ips[i].address.includes(":")) has6 = true;
      else has4 = true;
    }
    if (has4) this.operations.push(Operation.enableForwarding(Family.Ipv4));
    if (has6) this.operations.push(Operation.enableForwarding(Family.Ipv6));
  }

  /** The gateway's address on the node's end, and the node's route to the pod. */
  private addNodeSide(ipam: Success, index: i32): void {
    const address = Cidr.parse(ipam.ips[index].address);
    if (address === null) return this.refuse(index, `${ipam.ips[index].address} is not an address with a prefix length`);
    const text = ipam.ips[index].gateway;
    const gateway: Ip | null = text === null ? null : Ip.parse(text);
    if (gateway === null || gateway.family != address.ip.family)
      return this.refuse(
        index,
        `${address.toString()} has no IPv${address.ip.family} gateway, which is the node's end of the veth`,
      );
    if (!this.isKnown(gateway)) {
      this.gateways.push(gateway);
      this.operations.push(Operation.addAddress(new AddressChange(this.node, hostOnly(gateway), false)));
    }
    const toPod = new Route(hostOnly(address.ip));
    toPod.scope = new Some<u32>(scopeHost);
    this.route(this.node, toPod, null);
  }

  private addPodSide(ipam: Success, index: i32): void {
    const address = Cidr.parse(ipam.ips[index].address) as Cidr;
    const gateway = Ip.parse(ipam.ips[index].gateway as string) as Ip;
    const network = address.masked().toString();
    const connected = new RouteChange(Place.Pod, new Route(network), false);
    connected.link = this.pod;
    this.operations.push(Operation.deleteRoute(connected));
    const toGateway = new Route(hostOnly(gateway));
    toGateway.scope = new Some<u32>(scopeLink);
    this.route(this.pod, toGateway, address.ip);
    const throughGateway = new Route(network);
    throughGateway.gw = gateway.toString();
    this.route(this.pod, throughGateway, address.ip);
  }

  private route(link: LinkName, route: Route, source: Ip | null): void {
    const change = new RouteChange(link.place, route, false);
    change.link = link;
    if (source !== null) change.source = source.toString();
    this.operations.push(Operation.addRoute(change));
  }

  private isKnown(gateway: Ip): bool {
    for (let i = 0; i < this.gateways.length; i++) if (this.gateways[i].equals(gateway)) return true;
    return false;
  }

  private refuse(index: i32, what: string): void {
    this.fault = ownFault(NO_ADDRESS, `ips[${index}] of IPAM's result: ${what}`);
  }
}

/** The address with its full prefix length. */
export function hostOnly(ip: Ip): string {
  return new Cidr(ip, ip.bits).toString();
}
