// The link operations of an ADD, all for one call: those on the node first, then those in the pod.

import {
  AddressWish,
  Bridge,
  Change,
  Family,
  InterfaceSetting,
  LinkName,
  Operation,
  Place,
  Port,
  PortVlanChange,
  Settling,
  Veth,
  VlanGateway,
} from "plexus/abi/links";
import { Level, write } from "plexus/abi/log";
import { AttachmentRequest } from "plexus/abi/plugin";
import { Fault, Success } from "plexus/abi/types";
import { configureInterface } from "plexus/pod-interface";
import { Some } from "plexus/some";
import { waitWithin } from "plexus/waits";
import { Gateways } from "./gateways";
import { Settings } from "./settings";

/** Maximum wait for the port to run, in milliseconds: the reference plugin's total. */
const portMilliseconds: u32 = 2550;

/** The operations of one ADD. */
@final
export class Plan {
  readonly operations: Array<Operation> = new Array<Operation>();
  fault: Fault | null = null;
  /** The node's interface in the VLAN, if the bridge is a gateway there; "" otherwise. */
  vlanGateway: string = "";

  private constructor(
    private readonly settings: Settings,
    private readonly ifname: string,
    private readonly remainingMs: u32,
  ) {}

  /** `success`: IPAM's completed result; without addresses for layer 2 only. `hasPort`: `ofPort` has made the port. */
  static of(settings: Settings, request: AttachmentRequest, success: Success, gateways: Gateways, hasPort: bool): Plan {
    const plan = new Plan(settings, request.attachment.ifname, request.call.remainingMs);
    plan.makeBridge();
    plan.makeGateways(gateways);
    if (!hasPort) plan.makePort(!settings.isLayer3 && !settings.disableContainerInterface);
    plan.makePod(success);
    return plan;
  }

  /** The part that an interface needs to reach its neighbours: the bridge, and the port with the pod's interface up. */
  static ofPort(settings: Settings, request: AttachmentRequest): Plan {
    const plan = new Plan(settings, request.attachment.ifname, request.call.remainingMs);
    plan.makeBridge();
    plan.makePort(true);
    return plan;
  }

  private makeBridge(): void {
    const settings = this.settings;
    const bridge = new Bridge(settings.bridge, settings.vlans.needsFiltering);
    bridge.mtu = settings.mtu;
    this.operations.push(Operation.ensureBridge(bridge));
    if (!settings.promiscuous) return;
    const change = new Change(new LinkName(Place.Host, settings.bridge));
    change.promiscuous = new Some<bool>(true);
    this.operations.push(Operation.changeLink(change));
  }

  private makeGateways(gateways: Gateways): void {
    const settings = this.settings;
    if (gateways.addresses.length == 0) return;
    let link = settings.bridge;
    if (settings.vlans.native != 0) {
      link = `${settings.bridge}.${settings.vlans.native}`;
      const gateway = new VlanGateway(settings.bridge, settings.vlans.native, settings.preserveDefaultVlan);
      this.operations.push(Operation.ensureVlanGateway(gateway));
      this.vlanGateway = link;
    }
    this.ensureAddresses(link, gateways, 4);
    this.ensureAddresses(link, gateways, 6);
  }

  /** The gateways' addresses of one family, and forwarding. IPv4 comes first, so that its faults are reported first. */
  private ensureAddresses(link: string, gateways: Gateways, family: i32): void {
    if (!gateways.has(family)) return;
    for (let i = 0; i < gateways.addresses.length; i++) {
      const address = gateways.addresses[i];
      if (address.ip.family != family) continue;
      const wish = new AddressWish(new LinkName(Place.Host, link), address.toString(), this.settings.forceAddress);
      this.operations.push(Operation.ensureAddress(wish));
    }
    this.operations.push(Operation.enableForwarding(family == 4 ? Family.Ipv4 : Family.Ipv6));
  }

  private makePort(up: bool): void {
    const settings = this.settings;
    const veth = new Veth(this.ifname, settings.preserveDefaultVlan || !settings.vlans.hasPortVlans, up);
    veth.mac = settings.mac;
    veth.mtu = settings.mtu;
    veth.master = settings.bridge;
    if (settings.hairpin || settings.portIsolation) {
      const port = new Port();
      if (settings.hairpin) port.hairpin = new Some<bool>(true);
      if (settings.portIsolation) port.isolated = new Some<bool>(true);
      veth.port = port;
    }
    veth.vlans = settings.vlans.ofPort();
    this.operations.push(Operation.addVeth(veth));
    if (settings.uplink == "") return;
    const vlans = settings.vlans.ofUplink();
    if (vlans.length == 0) write(Level.Warn, "uplinkInterface has no effect: the network has no VLANs");
    for (let i = 0; i < vlans.length; i++)
      this.operations.push(Operation.addPortVlan(new PortVlanChange(settings.uplink, vlans[i])));
  }

  private makePod(success: Success): void {
    const settings = this.settings;
    if (settings.isLayer3) {
      if (settings.enableDad) this.setInterface(Family.Ipv6, "enhanced_dad", "1");
      this.setInterface(Family.Ipv6, "accept_dad", settings.enableDad ? "1" : "0");
      this.setInterface(Family.Ipv4, "arp_notify", "1");
      this.fault = configureInterface(this.ifname, success.ips, success.routes, this.operations, this.remainingMs);
    }
    const last = this.operations[this.operations.length - 1];
    if (!settings.disableContainerInterface && !last.isSettle)
      this.operations.push(Operation.settle(new Settling(this.pod, waitWithin(this.remainingMs, portMilliseconds))));
  }

  private setInterface(family: Family, name: string, value: string): void {
    this.operations.push(Operation.setInterface(new InterfaceSetting(this.pod, family, name, value, false)));
  }

  private get pod(): LinkName {
    return new LinkName(Place.Pod, this.ifname);
  }
}
