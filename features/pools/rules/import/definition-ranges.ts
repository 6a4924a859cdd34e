// Definitions whose networks still take addresses from whereabouts: an import while they hand out addresses would miss some.

import { isJsonObject } from "../../../../src/json/document.ts";
import { type Cidr, cidrContains, readCidr } from "../../../../src/net/ip.ts";

/** The subnets that a network's configuration takes from whereabouts; none for other plugins. `config`: a definition's spec.config. */
export function whereaboutsSubnets(config: unknown): readonly Cidr[] {
  const list = parsed(config);
  if (!isJsonObject(list)) return [];
  const plugins: readonly unknown[] = Array.isArray(list["plugins"]) ? list["plugins"] : [list];
  return plugins.flatMap((plugin) => {
    const ipam = isJsonObject(plugin) ? plugin["ipam"] : undefined;
    if (!isJsonObject(ipam) || ipam["type"] !== "whereabouts") return [];
    const further: readonly unknown[] = Array.isArray(ipam["ipRanges"]) ? ipam["ipRanges"] : [];
    return [ipam, ...further].flatMap((each) => {
      const range = isJsonObject(each) ? each["range"] : undefined;
      // whereabouts also takes FIRST-LAST/PREFIX.
      const cidr = typeof range === "string" ? readCidr(range.slice(range.indexOf("-") + 1)) : undefined;
      return cidr === undefined ? [] : [cidr];
    });
  });
}

/** Whether two subnets have a common address. */
export function subnetsOverlap(one: Cidr, other: Cidr): boolean {
  return cidrContains(one, other.address) || cidrContains(other, one.address);
}

function parsed(config: unknown): unknown {
  if (typeof config !== "string" || config.length > 1_572_864) return undefined;
  try {
    return JSON.parse(config);
  } catch {
    return undefined;
  }
}
