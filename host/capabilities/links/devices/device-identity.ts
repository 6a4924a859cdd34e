// Finds a taken device among the links of a namespace. A pod may rename the device and change its MAC, and give its name to another link.

import type { LinkState } from "../../../system/netlink/link-state.ts";
import type { DeviceIdentity, DeviceRecord } from "./device-record.ts";

/** The identity of a link of the node. */
export function identityOf({ kind, permanentMac, parentDevice, link, mac }: LinkState): DeviceIdentity {
  return { kind, permanentMac, parentDevice, lower: link, mac };
}

/** The device in the pod; undefined if it is not there. A virtual link counts only with the index that it got there. */
export function deviceInPod({ identity, podIndex }: DeviceRecord, links: readonly LinkState[]): LinkState | undefined {
  const same = links.filter((link) => isSameKind(identity, link));
  if (isHardware(identity)) return same.find((link) => isSameHardware(identity, link));
  if (podIndex !== undefined) return same.find(({ index }) => index === podIndex);
  return same.find(({ mac }) => mac === identity.mac);
}

/** The device on the node, to which the kernel or an administrator returned it. The index may have changed. */
export function deviceOnNode(
  { identity, podName, name, alias }: DeviceRecord,
  links: readonly LinkState[],
): LinkState | undefined {
  const same = links.filter((link) => isSameKind(identity, link));
  if (isHardware(identity)) return same.find((link) => isSameHardware(identity, link));
  // Kind and index tell no virtual link apart: VLANs and macvlans share a lower link, and pods' veths have other ends of the same index.
  const named = identity.lower === undefined ? undefined : same.find((link) => link.name === name);
  const hasName = (link: LinkState): boolean =>
    [name, podName].includes(link.name) || (link.alias !== "" && [name, alias].includes(link.alias));
  return named ?? same.find((link) => link.mac === identity.mac && hasName(link));
}

function isHardware({ permanentMac, parentDevice }: DeviceIdentity): boolean {
  return permanentMac !== "" || parentDevice !== undefined;
}

function isSameHardware({ permanentMac, parentDevice }: DeviceIdentity, link: LinkState): boolean {
  // A virtual function whose MAC is set at its physical function gets another permanent MAC. Its device on the bus stays.
  const hasMac = link.permanentMac === permanentMac || (permanentMac === "" && parentDevice !== undefined);
  return hasMac && link.parentDevice?.bus === parentDevice?.bus && link.parentDevice?.name === parentDevice?.name;
}

/** Kind and other end: a pod can make neither for a link of its own whose other end is on the node. */
function isSameKind({ kind, lower }: DeviceIdentity, link: LinkState): boolean {
  return link.kind === kind && link.link === lower;
}
