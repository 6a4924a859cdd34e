// ADD of a main plugin: IPAM's addresses first, then the pod's link with all its settings in one call.

import { apply, Family, InterfaceSetting, Link, LinkName, Operation, Place } from "./abi/links";
import * as delegation from "./abi/delegation";
import { AttachmentRequest, SuccessOrFault } from "./abi/plugin";
import { Dns, Fault, IpConfig, NetworkInterface, Success } from "./abi/types";
import { AddressCheck } from "./address-check";
import { ownFault } from "./faults";
import { needsInterface } from "./ipam";
import { NO_ADDRESS } from "./main-codes";
import { broughtUp, configureInterface } from "./pod-interface";
import { Some } from "./some";

/** The interface that a main plugin makes. */
@final
export class MainInterface {
  /** Operations that make the link, still down. */
  readonly making: Array<Operation> = [];
  /** Removes what `making` made; null: the link is deleted. */
  unmaking: Operation | null = null;
  /** The interface's `mtu` in the result. */
  reportsMtu: bool = false;
  /** The IPAM plugin; "" for none: the interface is brought up without an address. */
  ipam: string = "";
  /** Whether the kernel announces the addresses when the link comes up: `arp_notify`, `ndisc_notify`. */
  notifiesIpv4: bool = false;
  notifiesIpv6: bool = false;
  /** Null: the interface gets IPAM's addresses unchecked. */
  addressCheck: AddressCheck | null = null;
  /** The result's `dns`. */
  dns: Dns | null = null;
  /** The result's `dns` is IPAM's instead. */
  keepsIpamDns: bool = false;

  constructor(readonly request: AttachmentRequest) {}

  get name(): string {
    return this.request.attachment.ifname;
  }

  /** Makes the interface with IPAM's addresses and routes. After a fault the addresses are released. */
  add(): SuccessOrFault {
    if (this.ipam == "") return this.make(null);
    if (this.addressCheck !== null || needsInterface(this.ipam)) return this.addLinkFirst();
    const answer = delegation.add(this.ipam, null);
    if (!answer.isOk) return answer;
    const made = this.hasAddress(answer) ? this.make(answer.value) : this.withoutAddress();
    // The first fault is reported. If this DEL fails, the runtime's DEL releases the address.
    if (!made.isOk) delegation.del(this.ipam, null);
    return made;
  }

  /** Makes the interface with the addresses and routes of a result; null: without any. */
  make(addresses: Success | null): SuccessOrFault {
    const operations = this.making.slice(0);
    const link = new LinkName(Place.Pod, this.name);
    if (addresses === null) {
      operations.push(Operation.changeLink(broughtUp(link)));
    } else {
      if (this.notifiesIpv4)
        operations.push(Operation.setInterface(new InterfaceSetting(link, Family.Ipv4, "arp_notify", "1", false)));
      if (this.notifiesIpv6)
        operations.push(Operation.setInterface(new InterfaceSetting(link, Family.Ipv6, "ndisc_notify", "1", false)));
      const remainingMs = this.request.call.remainingMs;
      const fault = configureInterface(this.name, addresses.ips, addresses.routes, operations, remainingMs);
      if (fault !== null) return SuccessOrFault.err(fault);
    }
    const applied = apply(operations);
    if (!applied.isOk) return SuccessOrFault.err(applied.error);
    return SuccessOrFault.ok(this.result(applied.value, addresses));
  }

  /** The same with the link first, up and without addresses: IPAM or the check of its addresses works on it. After a fault the link is removed, too. */
  private addLinkFirst(): SuccessOrFault {
    let made = this.make(null);
    if (!made.isOk) return made;
    const check = this.addressCheck;
    made = delegation.add(this.ipam, null);
    const isHeld = made.isOk;
    if (isHeld && !this.hasAddress(made)) made = this.withoutAddress();
    if (made.isOk && check !== null) made = check.settle(this.ipam, made.value);
    if (made.isOk) {
      this.making.length = 0;
      made = this.make(made.value);
    }
    const unannounced: Fault | null = made.isOk && check !== null ? check.announce(made.value.ips) : null;
    if (unannounced !== null) made = SuccessOrFault.err(unannounced);
    if (made.isOk) return made;
    // The first fault is reported. What fails here, the runtime's DEL undoes. IPAM comes first: it may need the link.
    if (isHeld) delegation.del(this.ipam, null);
    const unmaking = this.unmaking;
    apply([unmaking === null ? Operation.deleteLink(new LinkName(Place.Pod, this.name)) : unmaking]);
    return made;
  }

  private hasAddress(answer: SuccessOrFault): bool {
    return answer.value.ips.length > 0;
  }

  private withoutAddress(): SuccessOrFault {
    return SuccessOrFault.err(ownFault(NO_ADDRESS, `IPAM plugin ${this.ipam} returned missing IP config`));
  }

  private result(links: Array<Link>, addresses: Success | null): Success {
    const result = new Success();
    const made = new NetworkInterface(this.name);
    made.sandbox = this.request.attachment.netns;
    for (let i = 0; i < links.length; i++) {
      if (links[i].place != Place.Pod || links[i].name != made.name) continue;
      made.mac = links[i].mac;
      if (this.reportsMtu) made.mtu = new Some<u32>(links[i].mtu);
    }
    result.interfaces.push(made);
    result.dns = this.dns;
    if (addresses === null) return result;
    for (let i = 0; i < addresses.ips.length; i++) {
      const ip = new IpConfig(addresses.ips[i].address);
      ip.gateway = addresses.ips[i].gateway;
      ip.interface_ = new Some<i32>(0);
      result.ips.push(ip);
    }
    result.routes = addresses.routes;
    if (this.keepsIpamDns) result.dns = addresses.dns;
    return result;
  }
}
