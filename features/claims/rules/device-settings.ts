// The devices that a node offers to claims: the file of `plexusd --claims-devices`.

import { describeJson, isJsonObject } from "../../../src/json/document.ts";
import { problem, type Reading } from "../../../src/kube/object-parts.ts";
import { quote } from "../../../src/json/quote.ts";
import { labelProblem } from "../../../src/npwg/object-names.ts";
import { type LinkKind, linkKinds } from "./node-link.ts";

/** The links that a device stands for: those that meet each selector. */
export interface LinkMatch {
  /** The link's name; `*` stands for any characters. */
  readonly name?: string;
  readonly kind?: LinkKind;
  readonly driver?: string;
  readonly pciVendor?: string;
}

/** Effects of a link that is down: a taint with this effect, or no device. */
export const downEffects = ["NoSchedule", "NoExecute", "withdraw"] as const;

/** The capacities of a device that several claims share. */
export interface SharedCapacity {
  /** Attachments at once. */
  readonly attachments?: number;
  /** Bits per second, as a quantity of Kubernetes, such as `10G`. */
  readonly bandwidth?: string;
}

/** One entry of the list. */
export interface DeviceSettings {
  readonly name: string;
  readonly match: LinkMatch;
  /** Undefined: the device is exclusive, and one claim gets the link itself. */
  readonly shared: SharedCapacity | undefined;
  /** The VLAN ids that attachments may have. */
  readonly vlans: { readonly first: number; readonly last: number } | undefined;
  /** The PodNetworks that the device reaches. */
  readonly networks: readonly string[];
  readonly whenDown: (typeof downEffects)[number];
  /** The attribute `k8s.cni.cncf.io/resourceName` of an exclusive device. */
  readonly resourceName: string | undefined;
}

const maxEntries = 64;
/** Networks that one device publishes, at most: a device of the API has 32 attributes and capacities. */
export const maxNetworks = 12;
/** Kubernetes' maximum of an attribute's identifier (DeviceMaxIDLength). */
export const maxNetworkAttribute = 32;
/** Kubernetes' maximum of a device's textual attribute (DeviceAttributeMaxValueLength). */
const maxAttributeText = 64;
const maxBytes = 256 * 1024;
const keys = ["name", "match", "shared", "exclusive", "vlans", "networks", "whenDown", "resourceName"];
const matchKeys = ["name", "kind", "driver", "pciVendor"];
const sharedKeys = ["attachments", "bandwidth"];

/** Reads the file's text. The problem names the field. */
export function readDeviceSettings(text: string): Reading<readonly DeviceSettings[]> {
  if (text.length > maxBytes) return problem(`has ${text.length} characters; at most ${maxBytes} are read`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return problem(`is not JSON: ${error instanceof Error ? error.message : String(error)}`);
  }
  if (!isJsonObject(value)) return problem(`must be an object with the key devices, but is ${describeJson(value)}`);
  const unknown = unknownKey(value, ["devices"], "");
  if (unknown !== undefined) return problem(unknown);
  const list = value["devices"] ?? [];
  if (!Array.isArray(list)) return problem(`devices must be a list, but is ${describeJson(list)}`);
  if (list.length > maxEntries) return problem(`devices has ${list.length} entries; at most ${maxEntries} are read`);
  const entries: DeviceSettings[] = [];
  for (const [index, each] of (list as readonly unknown[]).entries()) {
    const entry = readEntry(each, `devices[${index}]`);
    if (!entry.ok) return entry;
    const earlier = entries.findIndex(({ name }) => name === entry.value.name);
    if (earlier !== -1) return problem(`devices[${index}].name ${quote(entry.value.name, 60)} is that of devices[${earlier}]`);
    entries.push(entry.value);
  }
  return { ok: true, value: entries };
}

function readEntry(entry: unknown, where: string): Reading<DeviceSettings> {
  if (!isJsonObject(entry)) return problem(`${where} must be an object, but is ${describeJson(entry)}`);
  const unknown = unknownKey(entry, keys, `${where}.`);
  if (unknown !== undefined) return problem(unknown);
  const { name, whenDown = "NoSchedule", exclusive = false, resourceName } = entry;
  if (typeof name !== "string" || labelProblem(name) !== undefined || name.length > 40)
    return problem(`${where}.name must be a DNS-1123 label of at most 40 characters, but is ${shown(name)}`);
  if (typeof exclusive !== "boolean")
    return problem(`${where}.exclusive must be true or false, but is ${describeJson(exclusive)}`);
  const effect = downEffects.find((each) => each === whenDown);
  if (effect === undefined)
    return problem(`${where}.whenDown must be one of ${downEffects.join(", ")}, but is ${shown(whenDown)}`);
  const match = readMatch(entry["match"], `${where}.match`);
  if (!match.ok) return match;
  const shared = readShared(entry["shared"], `${where}.shared`);
  if (!shared.ok) return shared;
  if (exclusive === (shared.value !== undefined))
    return problem(`${where} must have either shared, with capacities, or exclusive: true`);
  const vlans = readVlans(entry["vlans"], `${where}.vlans`);
  if (!vlans.ok) return vlans;
  const networks = readNetworks(entry["networks"], `${where}.networks`);
  if (!networks.ok) return networks;
  if (
    resourceName !== undefined &&
    (typeof resourceName !== "string" ||
      !exclusive ||
      resourceName.length > maxAttributeText ||
      !/^[^\s/]+\/[^\s/]+$/.test(resourceName))
  )
    return problem(
      `${where}.resourceName must be a name such as example.com/nic with at most ${maxAttributeText} characters, of an exclusive device, but is ${shown(resourceName)}`,
    );
  return {
    ok: true,
    value: {
      name,
      match: match.value,
      shared: shared.value,
      vlans: vlans.value,
      networks: networks.value,
      whenDown: effect,
      resourceName: typeof resourceName === "string" ? resourceName : undefined,
    },
  };
}

function readMatch(match: unknown, where: string): Reading<LinkMatch> {
  if (!isJsonObject(match))
    return problem(`${where} must be an object with ${matchKeys.join(", ")}, but is ${describeJson(match)}`);
  const unknown = unknownKey(match, matchKeys, `${where}.`);
  if (unknown !== undefined) return problem(unknown);
  const { name, driver, pciVendor, kind } = match;
  for (const [key, value] of Object.entries({ name, driver, pciVendor }))
    if (value !== undefined && (typeof value !== "string" || value === "" || value.length > 64))
      return problem(`${where}.${key} must be a text of 1 to 64 characters, but is ${shown(value)}`);
  const known = linkKinds.find((each) => each === kind);
  if (kind !== undefined && known === undefined)
    return problem(`${where}.kind must be one of ${linkKinds.join(", ")}, but is ${shown(kind)}`);
  // Without a selector the entry would offer loopback and each pod's end of a veth.
  if (name === undefined && driver === undefined && pciVendor === undefined && known === undefined)
    return problem(`${where} needs at least one of ${matchKeys.join(", ")}`);
  return {
    ok: true,
    value: {
      ...(typeof name === "string" ? { name } : {}),
      ...(typeof driver === "string" ? { driver } : {}),
      ...(typeof pciVendor === "string" ? { pciVendor: pciVendor.toLowerCase().replace(/^0x/, "") } : {}),
      ...(known === undefined ? {} : { kind: known }),
    },
  };
}

function readShared(shared: unknown, where: string): Reading<SharedCapacity | undefined> {
  if (shared === undefined) return { ok: true, value: undefined };
  if (!isJsonObject(shared))
    return problem(`${where} must be an object with ${sharedKeys.join(", ")}, but is ${describeJson(shared)}`);
  const unknown = unknownKey(shared, sharedKeys, `${where}.`);
  if (unknown !== undefined) return problem(unknown);
  const { attachments, bandwidth } = shared;
  const isCount =
    typeof attachments === "number" && Number.isInteger(attachments) && attachments >= 1 && attachments <= 1_000_000;
  if (attachments !== undefined && !isCount)
    return problem(`${where}.attachments must be a whole number from 1 to 1000000, but is ${shown(attachments)}`);
  if (bandwidth !== undefined && (typeof bandwidth !== "string" || !/^[1-9]\d{0,14}(?:k|M|G|T)?$/.test(bandwidth)))
    return problem(`${where}.bandwidth must be a quantity of bits per second such as "10G", but is ${shown(bandwidth)}`);
  return {
    ok: true,
    value: {
      ...(isCount ? { attachments } : {}),
      ...(typeof bandwidth === "string" ? { bandwidth } : {}),
    },
  };
}

function readVlans(vlans: unknown, where: string): Reading<DeviceSettings["vlans"]> {
  if (vlans === undefined) return { ok: true, value: undefined };
  const [, from, to] = (typeof vlans === "string" && /^(\d{1,4})-(\d{1,4})$/.exec(vlans)) || [];
  const [first, last] = [Number(from), Number(to)];
  if (from === undefined || first < 1 || last > 4094 || first > last)
    return problem(`${where} must be a range within 1-4094 such as "100-199", but is ${shown(vlans)}`);
  return { ok: true, value: { first, last } };
}

function readNetworks(networks: unknown, where: string): Reading<readonly string[]> {
  const list = networks ?? [];
  if (!Array.isArray(list)) return problem(`${where} must be a list of PodNetworks' names, but is ${describeJson(networks)}`);
  if (list.length > maxNetworks) return problem(`${where} has ${list.length} names; a device publishes at most ${maxNetworks}`);
  const names: string[] = [];
  for (const [index, name] of (list as readonly unknown[]).entries()) {
    if (typeof name !== "string" || labelProblem(name) !== undefined || attributeOf(name).length > maxNetworkAttribute)
      return problem(
        `${where}[${index}] must be a PodNetwork's name of at most 32 characters (31 if it begins with a digit), but is ${shown(name)}`,
      );
    const same = names.find((each) => attributeOf(each) === attributeOf(name));
    if (same !== undefined) return problem(`${where}[${index}] ${quote(name, 40)} has the attribute of ${quote(same, 40)}`);
    names.push(name);
  }
  return { ok: true, value: names };
}

/** The attribute's identifier for a PodNetwork: the API takes identifiers of the language C only, so `-` becomes `_`, and `_` precedes a leading digit. */
export function attributeOf(podNetwork: string): string {
  return podNetwork.replaceAll("-", "_").replace(/^(?=\d)/, "_");
}

function unknownKey(value: Readonly<Record<string, unknown>>, known: readonly string[], where: string): string | undefined {
  const key = Object.keys(value).find((each) => !known.includes(each));
  return key === undefined ? undefined : `${where}${quote(key, 60)} is no key; known are ${known.join(", ")}`;
}

function shown(value: unknown): string {
  return typeof value === "string" ? quote(value, 60) : typeof value === "number" ? String(value) : describeJson(value);
}
