// The operations that plug a port: its link in the pod, and the addresses and routes of that link.

import { Change, Ipvlan, IpvlanMode, LinkName, Macvlan, MacvlanMode, Operation, Place, Veth, Vlan } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";
import { configureInterface } from "plexus/pod-interface";
import { Binding, Port } from "./port";
import { Settings } from "./settings";

/** The operations that make the port's link in the pod, with its MAC and MTU. The link stays down. */
export function linkOperations(settings: Settings, port: Port, ifname: string): Array<Operation> {
  if (port.binding == Binding.Ovs) {
    const veth = new Veth(ifname, false, false);
    veth.mac = port.mac;
    veth.mtu = port.mtu;
    return [Operation.addVeth(veth)];
  }
  if (port.binding == Binding.Vlan) {
    const vlan = new Vlan(ifname, settings.masterLink, port.vlan);
    vlan.mtu = port.mtu;
    const change = new Change(new LinkName(Place.Pod, ifname));
    change.mac = port.mac;
    return [Operation.addVlan(vlan), Operation.changeLink(change)];
  }
  if (settings.isIpvlan) {
    // An ipvlan has its parent's MAC.
    const ipvlan = new Ipvlan(ifname, settings.masterLink, IpvlanMode.L2);
    ipvlan.mtu = port.mtu;
    return [Operation.addIpvlan(ipvlan)];
  }
  const macvlan = new Macvlan(ifname, settings.masterLink, MacvlanMode.Bridge);
  macvlan.mac = port.mac;
  macvlan.mtu = port.mtu;
  return [Operation.addMacvlan(macvlan)];
}

/** Appends the operations that give the link its addresses and routes, and bring it up. Answers a mistake, or null. */
export function addressOperations(port: Port, ifname: string, operations: Array<Operation>, remainingMs: u32): Fault | null {
  return configureInterface(ifname, port.ips, port.routes, operations, remainingMs);
}
