// Which rules the mappings come to, with the addresses that the pod has.

import { Masquerading, PortMapping, Rules } from "plexus/abi/firewall";
import { Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Settings } from "./settings";

/** One mapping for each family of which the interface has an address and the mapping's own address is. */
export function rulesOf(settings: Settings, result: Success, ifname: string): Rules {
  const rules = new Rules();
  const masquerading = !settings.snat ? Masquerading.None : settings.masqueradeAll ? Masquerading.All : Masquerading.Local;
  for (let family = 4; family <= 6; family += 2) {
    const pod = firstAddress(result, ifname, family);
    if (pod === null) continue;
    for (let i = 0; i < settings.mappings.length; i++) {
      const asked = settings.mappings[i];
      const hostIp = asked.hostIp;
      if (hostIp !== null && hostIp.family != family) continue;
      const mapping = new PortMapping(asked.protocol, asked.hostPort, pod.toString(), asked.containerPort, masquerading);
      // Zeros stand for any address of their family.
      if (hostIp !== null && (hostIp.hi != 0 || hostIp.lo != 0)) mapping.hostAddress = hostIp.toString();
      rules.portMappings.push(mapping);
    }
  }
  return rules;
}

/** The first address of the family that is not told to be on another interface. */
function firstAddress(result: Success, ifname: string, family: i32): Cidr | null {
  for (let i = 0; i < result.ips.length; i++) {
    const address = Cidr.parse(result.ips[i].address);
    if (address === null || address.ip.family != family) continue;
    const at = result.ips[i].interface_;
    if (at !== null && at.value >= 0 && at.value < result.interfaces.length) {
      const link = result.interfaces[at.value];
      if (link.name != ifname || link.sandbox === null || link.sandbox == "") continue;
    }
    return address;
  }
  return null;
}
