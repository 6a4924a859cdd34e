// The check of IPAM's addresses by a main plugin, before the pod's interface has them. The file stands alone, because the contract 1.0.0 has no probes.

import { SuccessOrFault } from "./abi/plugin";
import { Fault, IpConfig, Success } from "./abi/types";

/** A check of IPAM's addresses on the pod's interface, which is up and has none of them yet. */
export abstract class AddressCheck {
  /** IPAM's result that passes, perhaps a later one than `first`. After a fault IPAM holds a result for the attachment. */
  abstract settle(ipam: string, first: Success): SuccessOrFault;

  /** Called when the interface has the addresses. */
  abstract announce(ips: Array<IpConfig>): Fault | null;
}
