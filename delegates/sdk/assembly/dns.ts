// The configuration's `dns`, which takes precedence over IPAM's.

import { Dns } from "./abi/types";
import { Config } from "./config";
import { foldedMember } from "./folded";

const dnsKeys: StaticArray<string> = ["nameservers", "domain", "search", "options"];

/** The settings; null if the configuration has none. */
export function readDns(config: Config): Dns | null {
  const dnsConfig = foldedMember(config, "dns", dnsKeys);
  if (dnsConfig === null) return null;
  const nameservers = dnsConfig.strings("nameservers");
  const search = dnsConfig.strings("search");
  const options = dnsConfig.strings("options");
  const domain = dnsConfig.string("domain");
  if (nameservers === null && search === null && options === null && (domain === null || domain == "")) return null;
  const dns = new Dns();
  if (nameservers !== null) dns.nameservers = nameservers;
  if (search !== null) dns.search = search;
  if (options !== null) dns.options = options;
  if (domain !== null && domain != "") dns.domain = domain;
  return dns;
}
