// The lower link (master) of a macvlan, an ipvlan or a VLAN, on the node or in the pod.

import { defaultLink, LinkName, Place, read } from "./abi/links";
import { Fault } from "./abi/types";
import { Config } from "./config";
import { CniCode, invalidConfig, ownFault } from "./faults";
import { NO_MASTER } from "./main-codes";

/** `master` and `linkInContainer` of a configuration whose keys are folded. */
@final
export class Master {
  /** "": none is configured. */
  name: string = "";
  /** The master's namespace. */
  place: Place = Place.Host;

  static read(root: Config): Master {
    const master = new Master();
    const name = root.string("master");
    if (name !== null) master.name = name;
    if (root.bool("linkInContainer", false)) master.place = Place.Pod;
    return master;
  }

  get link(): LinkName {
    return new LinkName(this.place, this.name);
  }

  /** Takes the link of the default route if the configuration names none. Answers a fault, or null. */
  find(): Fault | null {
    if (this.name != "") return null;
    const found = defaultLink(this.place);
    if (!found.isOk) return found.error;
    const name = found.value;
    if (name === null) return ownFault(NO_MASTER, "no default route interface found; set master");
    this.name = name;
    return null;
  }

  /** Checks that the master exists and, unless `mtu` is 0, that the MTU does not exceed the master's. */
  check(mtu: i64): Fault | null {
    const found = read([this.link]);
    if (!found.isOk) return found.error;
    if (found.value.length == 0) return this.missing();
    const maxMtu = found.value[0].mtu;
    if (mtu >= 0 && mtu <= <i64>maxMtu) return null;
    return invalidConfig("mtu", `invalid MTU ${mtu}, must be [0, master MTU(${maxMtu})]`);
  }

  /** STATUS: code 50 where the node lacks the master. A master in the pod exists only with its pod, so it is not checked. */
  status(mtu: i64): Fault | null {
    if (this.place == Place.Pod) return null;
    let fault = this.find();
    if (fault === null) fault = this.check(mtu);
    if (fault !== null && fault.code == NO_MASTER) return new Fault(CniCode.NotAvailable, fault.msg);
    return fault;
  }

  private missing(): Fault {
    const where = this.place == Place.Host ? "on the node" : "in the pod";
    return ownFault(NO_MASTER, `failed to lookup master "${this.name}": there is no such link ${where}`);
  }
}
