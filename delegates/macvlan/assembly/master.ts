// The macvlan's parent link (master): the configured one, or that of the default route.

import { defaultLink, Place, read } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";
import { invalidConfig, ownFault } from "plexus/faults";
import { NO_MASTER } from "./codes";
import { Settings } from "./settings";

/** Sets `settings.master` if the configuration names none. Answers a fault, or null. */
export function findMaster(settings: Settings): Fault | null {
  if (settings.master != "") return null;
  const found = defaultLink(settings.place);
  if (!found.isOk) return found.error;
  const name = found.value;
  if (name === null) return ownFault(NO_MASTER, "no default route interface found; set master");
  settings.master = name;
  return null;
}

/** Checks that the master exists and allows the requested MTU. */
export function checkMaster(settings: Settings): Fault | null {
  const found = read([settings.masterLink]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0) return missing(settings);
  const maxMtu = found.value[0].mtu;
  if (settings.mtu >= 0 && settings.mtu <= <i64>maxMtu) return null;
  return invalidConfig("mtu", `invalid MTU ${settings.mtu}, must be [0, master MTU(${maxMtu})]`);
}

function missing(settings: Settings): Fault {
  const where = settings.place == Place.Host ? "on the node" : "in the pod";
  return ownFault(NO_MASTER, `failed to lookup master "${settings.master}": there is no such link ${where}`);
}
