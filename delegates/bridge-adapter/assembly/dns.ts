// The configuration's `dns`, which comes before IPAM's.

import { Dns } from "plexus/abi/types";
import { Config } from "plexus/config";
import { foldedMember } from "plexus/folded";

const dnsKeys: StaticArray<string> = ["nameservers", "domain", "search", "options"];

/** The settings; null where none is given. */
export function readDns(config: Config): Dns | null {
  const given = foldedMember(config, "dns", dnsKeys);
  if (given === null) return null;
  const nameservers = given.strings("nameservers");
  const search = given.strings("search");
  const options = given.strings("options");
  const domain = given.string("domain");
  if (nameservers === null && search === null && options === null && (domain === null || domain == "")) return null;
  const dns = new Dns();
  if (nameservers !== null) dns.nameservers = nameservers;
  if (search !== null) dns.search = search;
  if (options !== null) dns.options = options;
  if (domain !== null && domain != "") dns.domain = domain;
  return dns;
}
