// `dns` of a network's configuration (section 1 of the specification).

import { Dns } from "./abi/types";
import { Config } from "./config";
import { foldedMember } from "./folded";

const dnsKeys: StaticArray<string> = ["nameservers", "domain", "search", "options"];

/** The network's own `dns`; null if it is absent. */
export function readDns(root: Config): Dns | null {
  const config = foldedMember(root, "dns", dnsKeys);
  if (config === null) return null;
  const dns = new Dns();
  const nameservers = config.strings("nameservers");
  if (nameservers !== null) dns.nameservers = nameservers;
  const domain = config.string("domain");
  if (domain !== null && domain != "") dns.domain = domain;
  const search = config.strings("search");
  if (search !== null) dns.search = search;
  const options = config.strings("options");
  if (options !== null) dns.options = options;
  return dns;
}

/** As `readDns`, for plugins whose result keeps IPAM's `dns` unless the network sets a member of its own: null also if it sets none. */
export function readSetDns(root: Config): Dns | null {
  const config = foldedMember(root, "dns", dnsKeys);
  if (config === null) return null;
  const domain = config.string("domain");
  const isSet = config.has("nameservers") || config.has("search") || config.has("options") || (domain !== null && domain != "");
  return isSet ? readDns(root) : null;
}
