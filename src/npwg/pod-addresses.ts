// The addresses of a pod by network, from the annotations that Plexus writes.

import { isJsonObject } from "../json/document.ts";
import { boundedJson } from "../json/bounded-json.ts";
import { type IpAddress, readAddress } from "../net/ip.ts";
import { networkStatusAnnotation } from "./network-status.ts";
import { podNetworkPrefix } from "./network-name.ts";

/** The status of PodNetworks, which the feature for PodNetworks writes. */
export const podNetworkStatusAnnotation = "plexus.dev/network-status";

/** Maximum entries of a status, and addresses of an entry. */
const maxEntries = 64;
const maxAddresses = 64;
/** Maximum addresses of a pod in one network, and in all: an author of a forged status must not take memory of the controller. */
const maxOfNetwork = 100;
const maxOfPod = 256;

/** The pod's addresses by the name of their network. An unreadable annotation has none. */
export function podAddresses(annotation: (key: string) => string | undefined): ReadonlyMap<string, readonly IpAddress[]> {
  const found = new Map<string, IpAddress[]>();
  const byInterface = new Map<string, readonly IpAddress[]>();
  let count = 0;
  const add = (network: string, addresses: readonly IpAddress[]): void => {
    const known = found.get(network) ?? [];
    const added = addresses.slice(0, Math.max(0, Math.min(maxOfNetwork - known.length, maxOfPod - count)));
    found.set(network, [...known, ...added]);
    count += added.length;
  };
  for (const entry of entriesIn(annotation(networkStatusAnnotation))) {
    const addresses = addressesIn(entry["ips"]);
    const { name, interface: link } = entry;
    if (typeof link === "string") byInterface.set(link, addresses);
    if (typeof name === "string" && name !== "") add(name, addresses);
  }
  for (const entry of entriesIn(annotation(podNetworkStatusAnnotation))) {
    const { name, interfaceName } = entry;
    if (typeof name !== "string") continue;
    // The entry itself has one address of each family only.
    const whole = typeof interfaceName === "string" ? byInterface.get(interfaceName) : undefined;
    add(`${podNetworkPrefix}${name}`, whole ?? addressesIn(entry["ips"]));
  }
  return new Map([...found].filter(([, addresses]) => addresses.length > 0));
}

/** The network and all others that the pod's statuses name for the same interfaces: definitions first, then PodNetworks. */
export function interfaceNames(annotation: (key: string) => string | undefined, network: string): readonly string[] {
  const byInterface = new Map<string, string[]>();
  const add = (link: unknown, name: string): void => {
    if (typeof link === "string") byInterface.set(link, [...(byInterface.get(link) ?? []), name]);
  };
  for (const { name, interface: link } of entriesIn(annotation(networkStatusAnnotation)))
    if (typeof name === "string" && name !== "") add(link, name);
  for (const { name, interfaceName } of entriesIn(annotation(podNetworkStatusAnnotation)))
    if (typeof name === "string") add(interfaceName, `${podNetworkPrefix}${name}`);
  const names = [...byInterface.values()].filter((each) => each.includes(network)).flat();
  const [podNetworks, definitions] = [true, false].map((isPodNetwork) =>
    [...names, network].filter((name) => name.startsWith(podNetworkPrefix) === isPodNetwork),
  );
  return [...new Set([...(definitions ?? []), ...(podNetworks ?? [])])];
}

function entriesIn(text: string | undefined): readonly Readonly<Record<string, unknown>>[] {
  const list = text === undefined ? undefined : boundedJson(text);
  return Array.isArray(list) ? list.slice(0, maxEntries).filter(isJsonObject) : [];
}

function addressesIn(ips: unknown): readonly IpAddress[] {
  if (!Array.isArray(ips)) return [];
  return ips.slice(0, maxAddresses).flatMap((each) => {
    const address = typeof each === "string" ? readAddress(each.replace(/\/\d+$/, "")) : undefined;
    return address ?? [];
  });
}
