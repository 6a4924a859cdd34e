// The sysctls of one interface that `set-interface` accepts: those that attachments need.

import type { LinksFamily, LinksInterfaceSetting } from "../../sandbox/abi/generated/delegate-1.1.0.ts";

/** Ids of IPv4 settings (IPV4_DEVCONF_*, linux/ip.h): rtnetlink sets them. */
export const inetSettingIds: ReadonlyMap<string, number> = new Map([
  ["forwarding", 1],
  ["proxy_arp", 3],
  ["rp_filter", 8],
  ["arp_announce", 18],
  ["arp_ignore", 19],
  ["arp_accept", 21],
  ["arp_notify", 22],
]);

const inet6Settings: ReadonlySet<string> = new Set([
  "accept_dad",
  "accept_ra",
  "autoconf",
  "dad_transmits",
  "disable_ipv6",
  "enhanced_dad",
  "forwarding",
  "keep_addr_on_down",
  "ndisc_notify",
  "use_tempaddr",
]);

/** The reason why the setting is not acceptable; undefined where it is. */
export function settingMistake({ family, name, value }: LinksInterfaceSetting): string | undefined {
  const names = namesOf(family);
  if (!names.includes(name))
    return `${JSON.stringify(name.slice(0, 40))} is not an accepted ${family} setting; accepted are ${names.join(", ")}`;
  return /^-?\d{1,9}$/u.test(value) ? undefined : `${name}: ${JSON.stringify(value.slice(0, 40))} is not a number`;
}

function namesOf(family: LinksFamily): readonly string[] {
  return family === "ipv4" ? [...inetSettingIds.keys()] : [...inet6Settings];
}
