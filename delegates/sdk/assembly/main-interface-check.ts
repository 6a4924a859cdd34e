// CHECK of a main plugin: the pod's interface still matches the result of ADD.

import { Link, LinkName, Place, read, routes } from "./abi/links";
import { AttachmentRequest } from "./abi/plugin";
import { Fault, IpConfig, NetworkInterface, Success } from "./abi/types";
import { invalidConfig, ownFault } from "./faults";
import { sameMac } from "./mac";
import { DIFFERS } from "./main-codes";
import { missingAddress, missingRoute } from "./pod-interface-check";

/** The pod's interface and its entry in the result. With a fault, the other fields must not be used. */
@final
export class CheckedInterface {
  private constructor(
    readonly fault: Fault | null,
    private readonly result: Success,
    private readonly entry: NetworkInterface,
    private readonly found: Link | null,
  ) {}

  /** Finds the interface of the attachment. `kind`: the kernel's name for its kind; null: any. */
  static find(request: AttachmentRequest, kind: string | null): CheckedInterface {
    const result = request.prevResult;
    if (result === null) return CheckedInterface.failed(invalidConfig("prevResult", "Required prevResult missing"));
    const ifname = request.attachment.ifname;
    const netns = request.attachment.netns;
    const links = read([new LinkName(Place.Pod, ifname)]);
    if (!links.isOk) return CheckedInterface.failed(links.error);
    const entry = entryOf(result, ifname, netns);
    if (entry === null)
      return CheckedInterface.failed(
        differs(`Sandbox in prevResult doesn't match configured netns: ${netns === null ? "" : netns}`),
      );
    if (links.value.length == 0)
      return CheckedInterface.failed(differs(`Container Interface name in prevResult: ${ifname} not found`));
    const link = links.value[0];
    const fault: Fault | null =
      kind === null || link.kind == kind ? null : differs(`Container interface ${ifname} not of type ${kind}`);
    return new CheckedInterface(fault, result, entry, link);
  }

  get link(): Link {
    return this.found as Link;
  }

  /** Compares the MAC, the addresses and the routes with the result: code 102 with the first difference, or null. */
  compare(): Fault | null {
    const link = this.link;
    const mac = this.entry.mac;
    const currentMac = link.mac;
    if (mac !== null && mac != "" && (currentMac === null || !sameMac(mac, currentMac)))
      return differs(`Interface ${link.name} Mac ${mac} doesn't match container Mac: ${currentMac === null ? "" : currentMac}`);
    const existing = routes(null);
    if (!existing.isOk) return existing.error;
    let why = missingAddress(link.name, this.ips(), link.addresses, existing.value);
    if (why === null) why = missingRoute(this.result.routes, existing.value);
    return why === null ? null : differs(why);
  }

  /** As `compare`, with a configured MTU; 0: none is configured. */
  compareWithMtu(mtu: i64): Fault | null {
    const current = this.link.mtu;
    if (mtu != 0 && mtu != <i64>current)
      return differs(`Interface ${this.link.name} has the MTU ${current}, the configuration says ${mtu}`);
    return this.compare();
  }

  /** The result's addresses, except those of other interfaces. */
  ips(): Array<IpConfig> {
    const ips = this.result.ips;
    const interfaces = this.result.interfaces;
    const found: Array<IpConfig> = [];
    for (let i = 0; i < ips.length; i++) {
      const at = ips[i].interface_;
      if (at !== null && at.value >= 0 && at.value < interfaces.length && interfaces[at.value] !== this.entry) continue;
      found.push(ips[i]);
    }
    return found;
  }

  private static failed(fault: Fault): CheckedInterface {
    return new CheckedInterface(fault, new Success(), new NetworkInterface(""), null);
  }
}

/** The fault of an interface that differs from the result. */
export function differs(what: string): Fault {
  return ownFault(DIFFERS, what);
}

/** The result's entry for the interface; null if it is missing or of another namespace. */
function entryOf(result: Success, ifname: string, netns: string | null): NetworkInterface | null {
  for (let i = result.interfaces.length - 1; i >= 0; i--) {
    const one = result.interfaces[i];
    if (one.name == ifname && one.sandbox !== null && one.sandbox == netns) return one;
  }
  return null;
}
