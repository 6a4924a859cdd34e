// ipMasq: packets from the pod that leave its network get the node's address.

import { Masquerade, Rules } from "./abi/firewall";
import { IpConfig } from "./abi/types";

/** The masquerading rules for a pod's addresses. */
export function rulesOf(ips: Array<IpConfig>): Rules {
  const rules = new Rules();
  for (let i = 0; i < ips.length; i++) rules.masquerades.push(new Masquerade(ips[i].address));
  return rules;
}
