// The devices of a node: the links that the settings name, each as one device of the Kubernetes API (resource.k8s.io/v1, ResourceSlice).

import type { DeviceSettings, LinkMatch } from "./device-settings.ts";
import { attributeOf } from "./device-settings.ts";
import { downTaint, networksDomain } from "./names.ts";
import type { NodeLink } from "./node-link.ts";

/** One device that the node offers. */
export interface OfferedDevice {
  /** The device's name in the node's pool. */
  readonly name: string;
  readonly link: NodeLink;
  readonly settings: DeviceSettings;
}

/** Kubernetes' maximum of a device's name, in characters. */
const maxName = 63;
/** Two slices. A node has a few masters, or the virtual functions of a few NICs. */
export const maxDevices = 128;

/**
 * The devices, in the order of the settings and of the links' names; and why a link is left out. Of links whose devices would have one name none is offered: the
 * scheduler may have allocated the device of one of them, and its claim must not get another link.
 */
export function offeredDevices(
  settings: readonly DeviceSettings[],
  links: readonly NodeLink[],
): { readonly devices: readonly OfferedDevice[]; readonly problems: readonly string[] } {
  const devices: OfferedDevice[] = [];
  const problems: string[] = [];
  const exclusive = new Set<string>();
  const sorted = links.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const candidates = settings.flatMap((entry) =>
    sorted
      .filter((link) => link.name !== "lo" && matches(entry.match, link))
      .map((link) => ({ name: deviceName(entry.name, link.name), link, settings: entry })),
  );
  for (const [name, rivals] of Map.groupBy(candidates, (each) => each.name)) {
    if (rivals.length < 2) continue;
    const names = rivals.map(({ link }) => link.name).join(", ");
    problems.push(`links ${names} would each be device ${name}, so none of them is offered; rename one of them`);
    for (const each of rivals) candidates.splice(candidates.indexOf(each), 1);
  }
  for (const device of candidates) {
    const { link, settings: entry } = device;
    if (exclusive.has(link.name) || (entry.shared === undefined && devices.some((each) => each.link.name === link.name)))
      problems.push(`link ${link.name} matches ${entry.name} and another entry, and one of them is exclusive`);
    else if (devices.length >= maxDevices) problems.push(`link ${link.name}: a node offers at most ${maxDevices} devices`);
    else {
      if (entry.shared === undefined) exclusive.add(link.name);
      devices.push(device);
    }
  }
  return { devices, problems };
}

/** The devices that a slice shows: a device whose link is down is left out if its settings say so. */
export function publishedDevices(devices: readonly OfferedDevice[]): readonly object[] {
  return devices.filter((device) => !isDown(device) || device.settings.whenDown !== "withdraw").map(deviceObject);
}

/** Whether the link cannot be used. A pod's plugin sets an exclusive link up, and moves it back to the node down: such a link is free for the next pod. */
function isDown({ link, settings }: OfferedDevice): boolean {
  return !link.isUp && (settings.shared !== undefined || link.isAdminUp);
}

function matches({ name, kind, driver, pciVendor }: LinkMatch, link: NodeLink): boolean {
  if (name !== undefined && !globOf(name).test(link.name)) return false;
  if (kind !== undefined && kind !== link.kind) return false;
  if (driver !== undefined && driver !== link.driver) return false;
  return pciVendor === undefined || pciVendor === link.pciVendor;
}

function globOf(pattern: string): RegExp {
  const parts = pattern.split("*").map((part) => part.replaceAll(/[\\^$.|?+()[\]{}]/g, String.raw`\$&`));
  return new RegExp(`^${parts.join(".*")}$`);
}

function deviceName(entry: string, link: string): string {
  const label = link
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-+|-+$/g, "");
  return `${entry}-${label === "" ? "link" : label}`.slice(0, maxName).replace(/-+$/, "");
}

function deviceObject(device: OfferedDevice): object {
  const { name, link, settings } = device;
  const { shared, whenDown } = settings;
  return {
    name,
    attributes: attributesOf(link, settings),
    ...(shared === undefined ? {} : { allowMultipleAllocations: true, ...capacitiesOf(shared) }),
    ...(isDown(device) && whenDown !== "withdraw" ? { taints: [{ key: downTaint, effect: whenDown }] } : {}),
  };
}

function attributesOf(link: NodeLink, { vlans, networks, resourceName }: DeviceSettings): object {
  return {
    ...text("link", link.name),
    ...text("kind", link.kind),
    up: { bool: link.isUp },
    ...int("mtu", link.mtu),
    ...int("speedMbps", link.speed),
    ...int("numaNode", link.numaNode),
    ...text("linkDriver", link.driver),
    ...text("pciVendor", link.pciVendor),
    rdma: { bool: link.hasRdma },
    ...int("vlanFirst", vlans?.first),
    ...int("vlanLast", vlans?.last),
    ...text("resource.kubernetes.io/pciBusID", link.pciAddress),
    ...text("resource.kubernetes.io/pcieRoot", link.pcieRoot),
    ...(resourceName === undefined
      ? {}
      : { ...text("k8s.cni.cncf.io/deviceID", link.pciAddress), ...text("k8s.cni.cncf.io/resourceName", resourceName) }),
    ...Object.fromEntries(networks.map((each) => [`${networksDomain}/${attributeOf(each)}`, { bool: true }])),
  };
}

/** A claim that names no capacity takes one attachment and no bandwidth. */
function capacitiesOf({ attachments, bandwidth }: NonNullable<DeviceSettings["shared"]>): object {
  const capacity = {
    ...(attachments === undefined
      ? {}
      : { attachments: { value: String(attachments), requestPolicy: { default: "1", validRange: { min: "1", step: "1" } } } }),
    ...(bandwidth === undefined
      ? {}
      : { bandwidth: { value: bandwidth, requestPolicy: { default: "0", validRange: { min: "0" } } } }),
  };
  return Object.keys(capacity).length === 0 ? {} : { capacity };
}

function text(key: string, value: string | undefined): object {
  return value === undefined ? {} : { [key]: { string: value } };
}

function int(key: string, value: number | undefined): object {
  return value === undefined ? {} : { [key]: { int: value } };
}
