// What IPAM's result means for the gateways: their addresses on the bridge, and the default routes.

import { Fault, Route, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Ip } from "plexus/ip";
import { unusable } from "./faults";
import { Settings } from "./settings";

/** Where the result has the node's end of the veth. */
export const nodesEnd: i32 = 1;
/** Where the result has the pod's interface. */
export const podInterface: i32 = 2;

@final
export class Gateways {
  /** The gateways' addresses with the prefix lengths of their networks, in the order of the result. */
  readonly addresses: Array<Cidr> = new Array<Cidr>();
  fault: Fault | null = null;

  /**
   * Completes the result's addresses and routes: each address belongs to the pod's interface; without a gateway it gets its network's first
   * address where the bridge is one; a default gateway gets a default route in each family, unless there is one with a gateway.
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
      this.fault = unusable(settings, `ips[${index}]: ${config.address} is no address with a prefix length`);
      return;
    }
    if (!settings.isGateway) return;
    const text = config.gateway;
    const gateway = text !== null ? Ip.parse(text) : address.network.next();
    if (gateway === null || gateway.family != address.ip.family) {
      const found =
        text === null ? `there is no gateway in the network of ${config.address}` : `${text} is no gateway of ${config.address}`;
      this.fault = unusable(settings, `ips[${index}]: ${found}`);
      return;
    }
    config.gateway = gateway.toString();
    this.addresses.push(new Cidr(gateway, address.prefix));
    if (!settings.isDefaultGateway) return;
    const everything = gateway.family == 4 ? "0.0.0.0/0" : "::/0";
    for (let i = 0; i < success.routes.length; i++) {
      if (success.routes[i].gw !== null && isSame(success.routes[i].dst, everything)) return;
    }
    const route = new Route(everything);
    route.gw = config.gateway;
    success.routes.push(route);
  }

  has(family: i32): bool {
    for (let i = 0; i < this.addresses.length; i++) if (this.addresses[i].ip.family == family) return true;
    return false;
  }
}

function isSame(dst: string, everything: string): bool {
  const cidr = Cidr.parse(dst);
  return cidr !== null && cidr.masked().toString() == everything;
}
