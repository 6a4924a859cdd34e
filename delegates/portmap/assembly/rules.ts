// The firewall rules for the mappings, with the pod's addresses.

import { Condition, Masquerading, PortMapping, Rules } from "plexus/abi/firewall";
import { Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Ip } from "plexus/ip";
import { Settings } from "./settings";

/** One rule for each mapping and each family of which both the interface and the mapping have an address. */
export function rulesOf(settings: Settings, result: Success, ifname: string): Rules {
  const rules = new Rules();
  const masquerading = !settings.snat ? Masquerading.None : settings.masqueradeAll ? Masquerading.All : Masquerading.Local;
  for (let family = 4; family <= 6; family += 2) {
    const pod = firstAddress(result, ifname, family);
    if (pod === null) continue;
    const conditionAddress = family == 4 ? settings.conditionsV4.address : settings.conditionsV6.address;
    for (let i = 0; i < settings.mappings.length; i++) {
      const requested = settings.mappings[i];
      const hostIp = requested.hostIp;
      if (hostIp !== null && hostIp.family != family) continue;
      const mapping = new PortMapping(
        requested.protocol,
        requested.hostPort,
        pod.toString(),
        requested.containerPort,
        masquerading,
      );
      // An all-zero address means any address of its family.
      const mappedAddress: Ip | null = hostIp !== null && (hostIp.hi != 0 || hostIp.lo != 0) ? hostIp : null;
      // Both conditions must hold: a mapping with another address matches nothing.
      if (
        mappedAddress !== null &&
        conditionAddress !== null &&
        (mappedAddress.hi != conditionAddress.hi || mappedAddress.lo != conditionAddress.lo)
      )
        continue;
      const address = mappedAddress === null ? conditionAddress : mappedAddress;
      if (address !== null) mapping.hostAddress = address.toString();
      rules.portMappings.push(mapping);
    }
  }
  return rules;
}

/** The conditions of both families that are not part of a mapping. */
export function conditionsOf(settings: Settings): Array<Condition> {
  return settings.conditionsV4.others.concat(settings.conditionsV6.others);
}

/** The first address of the family, except those of other interfaces. */
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
