// The gateways from IPAM's result: their addresses on the bridge, and the default routes.

import { Fault, Route, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Ip } from "plexus/ip";
import { unusableIpamResult } from "./faults";
import { Settings } from "./settings";

/** Index of the veth's node end in the result's interfaces. */
export const nodeEndIndex: i32 = 1;
/** Index of the pod's interface in the result's interfaces. */
export const podInterfaceIndex: i32 = 2;

/** The gateways of one result. */
@final
export class Gateways {
  /** The gateways' addresses with the prefix lengths of their networks, in the result's order. */
  readonly addresses: Array<Cidr> = new Array<Cidr>();
  fault: Fault | null = null;

  /**
   * Completes the result's addresses and routes. Each address belongs to the pod's interface. If the bridge is a gateway, an
   * address without a gateway gets its network's first address. A default gateway gets a default route in each family that lacks
   * one with a gateway.
   */
  static complete(success: Success, settings: Settings): Gateways {
    const gateways = new Gateways();
    for (let i = 0; i < success.ips.length && gateways.fault === null; i++) gateways.completeOne(success, i, settings);
    return gateways;
  }

  private completeOne(success: Success, index: i32, settings: Settings): void {
    const config = success.ips[index];
    const address = Cidr.parse(config.address);
    if (address === null) {
      this.fault = unusableIpamResult(settings, `ips[${index}]: ${config.address} is not an address with a prefix length`);
      return;
    }
    if (!settings.isGateway) return;
    const text = config.gateway;
    const gateway = text !== null ? Ip.parse(text) : address.network.next();
    if (gateway === null || gateway.family != address.ip.family) {
      const mistake =
        text === null
          ? `the network of ${config.address} has no address for a gateway`
          : `the gateway ${text} is not an IPv${address.ip.family} address`;
      this.fault = unusableIpamResult(settings, `ips[${index}]: ${mistake}`);
      return;
    }
    config.gateway = gateway.toString();
    this.addresses.push(new Cidr(gateway, address.prefix));
    if (!settings.isDefaultGateway) return;
    const defaultDst = gateway.family == 4 ? "0.0.0.0/0" : "::/0";
    for (let i = 0; i < success.routes.length; i++) {
      if (success.routes[i].gw !== null && isDestination(success.routes[i].dst, defaultDst)) return;
    }
    const route = new Route(defaultDst);
    route.gw = config.gateway;
    success.routes.push(route);
  }

  has(family: i32): bool {
    for (let i = 0; i < this.addresses.length; i++) if (this.addresses[i].ip.family == family) return true;
    return false;
  }
}

function isDestination(dst: string, defaultDst: string): bool {
  const cidr = Cidr.parse(dst);
  return cidr !== null && cidr.masked().toString() == defaultDst;
}
