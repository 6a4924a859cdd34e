// `mtu` of a configuration, for a link whose MTU no lower link bounds.

import { Config } from "./config";

const maxMtu: i64 = 0x7fff_ffff;

/** `mtu` of a configuration whose keys are folded; 0 if absent. The kernel refuses what the kind of link cannot have. */
export function readMtu(root: Config): u32 {
  const mtu = root.integer("mtu");
  if (mtu === null) return 0;
  if (mtu.value >= 0 && mtu.value <= maxMtu) return <u32>mtu.value;
  root.refuse("mtu", `invalid MTU ${mtu.value}, must be [0, ${maxMtu}]`);
  return 0;
}
