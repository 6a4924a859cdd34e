// WIT's kebab-case names as Go identifiers.

import { camel } from "../names.ts";

/** Words that Go writes in capitals. */
const initialisms: Readonly<Record<string, string>> = {
  cni: "CNI",
  dns: "DNS",
  id: "ID",
  ip: "IP",
  ips: "IPs",
  mac: "MAC",
  mtu: "MTU",
  ovs: "OVS",
  pci: "PCI",
  uid: "UID",
  vlan: "VLAN",
  vrf: "VRF",
};

/** Keywords, and names that generated code uses itself. */
const taken = new Set(
  (
    "break case chan const continue default defer else fallthrough for func go goto if import interface map package range return " +
    "select struct switch type var abi plexus args area value err fault string uint8 uint16 uint32 uint64 bool"
  ).split(" "),
);

/** `container-id` → `ContainerID`: a type, a field, a case or a function that authors call. */
export function goName(name: string): string {
  return name
    .split("-")
    .map((part) => initialisms[part.toLowerCase()] ?? part.slice(0, 1).toUpperCase() + part.slice(1).toLowerCase())
    .join("");
}

/** A parameter. `packages`: names of imported packages. */
export function goParameter(name: string, packages: ReadonlySet<string>): string {
  const joined = camel(name);
  return taken.has(joined) || packages.has(joined) ? `${joined}_` : joined;
}

/** The package of an interface: the types that all share are those of the package `plexus` itself. */
export function goPackage(iface: string): string {
  return iface === "types" ? "plexus" : iface.replaceAll("-", "");
}

/** `links.link-name` → `links` and `link-name`. */
export function splitRef(ref: string): readonly [iface: string, name: string] {
  const dot = ref.lastIndexOf(".");
  return [ref.slice(0, dot), ref.slice(dot + 1)];
}
