// A device that the reference plugin host-device moved into the pod has no record: its `ifalias` has its name on the node, which a pod could change.
// Such a device is given back only if the ADD made the pod's link, or if it is hardware, and if the grant names the device.

import type { LinkState } from "../../../system/netlink/link-state.ts";
import type { LinkScope } from "../link-scope.ts";
import { isGrantedDevice } from "./device-grants.ts";
import { identityOf } from "./device-identity.ts";
import type { DeviceKey, DeviceRecord } from "./device-record.ts";
import { factsOf } from "./find-device.ts";
import { isLinkName } from "./link-name.ts";
import type { Sysfs } from "./sysfs.ts";

/** The record that such a device would have; undefined where the pod has none. The device stays down: its earlier state is unknown. */
export function adoptedDevice(
  scope: LinkScope,
  where: DeviceKey & Pick<DeviceRecord, "network" | "netns">,
  sysfs: Sysfs,
  podLinks: readonly LinkState[],
): DeviceRecord | undefined {
  const link = podLinks.find(({ name }) => name === where.podName);
  if (link === undefined || !isLinkName(link.alias)) return undefined;
  const isOwn = scope.attachment?.ownLinks?.some(
    ({ name, index, kind }) => name === link.name && index === link.index && kind === link.kind,
  );
  if (isOwn !== true && link.parentDevice === undefined) return undefined;
  const facts = factsOf(sysfs, link, podLinks) ?? { rdmaDevices: [] };
  const { mac, permanentMac, mtu, alias, alternativeNames } = link;
  const named = { name: alias, mac, permanentMac, linkNamespace: undefined };
  if (!isGrantedDevice(scope.grant.devices ?? [], { link: named, facts })) return undefined;
  const { containerId, ifname, podName, network, netns } = where;
  return {
    type: scope.type,
    network,
    containerId,
    ifname,
    podName,
    netns,
    podIndex: link.index,
    identity: identityOf(link),
    name: alias,
    mtu,
    up: false,
    alias: "",
    alternativeNames,
    addresses: [],
  };
}
