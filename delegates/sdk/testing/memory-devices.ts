// Simulated devices of the node that a pod takes, and gives back.

import type {
  LinksDeviceFacts,
  LinksDeviceSelector,
  LinksLinkName,
  LinksVfSettings,
} from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { KnownLink } from "./link-table.ts";
import { Refusal } from "./refusal.ts";
import { inHost, type OperationOf, type VisibleLinks } from "./visible-links.ts";

/** The device of the node that the selector means. */
export function selectedDevice(
  links: VisibleLinks,
  { name, mac, deviceId, kernelPath }: LinksDeviceSelector,
): KnownLink | undefined {
  return links.table.linksAt("host").find(({ link }) => {
    const pci = link.device?.pciAddress;
    return (
      (name === undefined || link.name === name || link.alternativeNames.includes(name)) &&
      (mac === undefined || link.mac === mac.toLowerCase()) &&
      (deviceId === undefined || pci === deviceId) &&
      (kernelPath === undefined || (pci !== undefined && kernelPath.endsWith(`/${pci}`)))
    );
  });
}

/**
 * Sets a virtual function of the node: a link, or one of the devices without link. Only a device with a physical function is one. The settings are the
 * adapter's, and change no link.
 */
export function setVf(
  links: VisibleLinks,
  devices: readonly LinksDeviceFacts[],
  { pciAddress }: LinksVfSettings,
): readonly LinksLinkName[] {
  const facts =
    selectedDevice(links, { deviceId: pciAddress })?.link.device ?? devices.find((each) => each.pciAddress === pciAddress);
  if (facts === undefined) throw new Refusal(`the node has no device with the PCI address ${pciAddress}`);
  if (facts.physicalFunction === undefined) throw new Refusal(`device ${pciAddress} is not a virtual function (SR-IOV)`);
  return [];
}

/** Moves a device of the node into the pod. */
export function takeDevice(links: VisibleLinks, { val: operation }: OperationOf<"take-device">): readonly LinksLinkName[] {
  const { device, name, keepAddresses } = operation;
  const known = selectedDevice(links, device);
  if (known === undefined) throw new Refusal("the node has no such device");
  const at = { place: "pod", name } as const;
  if (links.table.known.has(links.keyOf(at))) throw new Refusal(`the pod already has a link ${name}`);
  const { name: before, mac, mtu, up, addresses } = known.link;
  links.table.known.delete(links.keyOf(inHost(before)));
  known.taken = { pod: links.pod, podName: name, before: { name: before, mac, mtu, up, addresses } };
  Object.assign(known.link, { place: "pod", name, up: false, running: false }, keepAddresses ? {} : { addresses: [] });
  links.table.known.set(links.keyOf(at), known);
  return [at];
}

/** Moves a device back to the node, as it was there; does nothing if the pod has none of this name. */
export function giveBack(links: VisibleLinks, name: string): readonly LinksLinkName[] {
  const entry = [...links.table.known].find(([, { taken }]) => taken?.pod === links.pod && taken.podName === name);
  const [key, known] = entry ?? [];
  if (key === undefined || known?.taken === undefined) return [];
  links.table.known.delete(key);
  Object.assign(known.link, known.taken.before, { place: "host" });
  Object.assign(known, { routes: [], neighbours: [], taken: undefined });
  links.table.known.set(links.keyOf(inHost(known.link.name)), known);
  return [];
}
