// The parent link of a port with the binding `vlan` or `address-only`.

import { read } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { Some } from "plexus/some";
import { NO_MASTER } from "./codes";
import { Settings } from "./settings";

/** Checks that the master exists and allows this MTU. The kernel refuses such an MTU, too, but does not say the master's. */
export function checkMaster(settings: Settings, mtu: Some<u32> | null): Fault | null {
  const found = read([settings.masterLink]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0) return ownFault(NO_MASTER, `master "${settings.master}": there is no such link on the node`);
  const maxMtu = found.value[0].mtu;
  if (mtu === null || mtu.value <= maxMtu) return null;
  const why = `${mtu.value} is more than the ${maxMtu} of master ${settings.master}: raise that link's MTU, or lower the fabric's`;
  return invalidConfig("runtimeConfig.externalPort.mtu", why);
}
