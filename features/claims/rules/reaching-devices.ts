// The devices that a PodNetwork names: entries of the node's settings whose links reach the network (spec.devices).

import { readParts } from "../../../src/kube/object-parts.ts";
import { attributeOf, type DeviceSettings, maxNetworks, maxNetworkAttribute } from "./device-settings.ts";

/** A PodNetwork, and the entries that reach it. */
export interface ReachedNetwork {
  readonly name: string;
  readonly devices: readonly string[];
}

/** Reads a PodNetwork; undefined for another object. */
export function readReachedNetwork(object: unknown): ReachedNetwork | undefined {
  const parts = readParts(object);
  if (!parts.ok) return undefined;
  const { devices } = parts.value.spec;
  const names = Array.isArray(devices) ? devices.filter((each) => typeof each === "string") : [];
  return { name: parts.value.metadata.name, devices: names };
}

/** The entries with the PodNetworks that name them, by name, and why a network is left out: a device publishes a bounded number of attributes. */
export function withReachedNetworks(
  settings: readonly DeviceSettings[],
  networks: readonly ReachedNetwork[],
): { readonly settings: readonly DeviceSettings[]; readonly problems: readonly string[] } {
  const problems: string[] = [];
  const sorted = networks.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const extended = settings.map((entry) => {
    const reached = [...entry.networks];
    for (const { name, devices } of sorted) {
      if (!devices.includes(entry.name) || reached.includes(name)) continue;
      const attribute = attributeOf(name);
      const same = reached.find((each) => attributeOf(each) === attribute);
      if (!/^\w+$/.test(attribute) || attribute.length > maxNetworkAttribute)
        problems.push(
          `PodNetwork ${name} has no attribute of device ${entry.name}: its name needs the form of a label with at most 32 characters`,
        );
      else if (same !== undefined) problems.push(`PodNetwork ${name} has the attribute of ${same} at device ${entry.name}`);
      else if (reached.length >= maxNetworks)
        problems.push(`PodNetwork ${name}: device ${entry.name} publishes at most ${maxNetworks} networks`);
      else reached.push(name);
    }
    return reached.length === entry.networks.length ? entry : { ...entry, networks: reached };
  });
  return { settings: extended, problems };
}
