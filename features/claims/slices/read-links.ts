// The node's links as sysfs shows them (Documentation/ABI/testing/sysfs-class-net). Reading needs no privilege. A node has a veth for each pod, so that a
// link's files are read only if a selector may want the link.

import { existsSync, readdirSync, readFileSync, readlinkSync, realpathSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { LinkKind, NodeLink } from "../rules/node-link.ts";

/** IFF_UP of linux/if.h. */
const iffUp = 1;
/** Operational states (RFC 2863) in which no packet passes. Many virtual drivers report `unknown` while they work. */
const downStates = ["down", "lowerlayerdown", "notpresent", "dormant", "testing"];

/** The links that `isWanted` by name, and those that are no plain virtual link. `root` is the mount point of sysfs. */
export function readLinks(isWanted: (name: string) => boolean, root = "/sys"): readonly NodeLink[] {
  const directory = join(root, "class", "net");
  return readdirSync(directory).flatMap((name) => {
    const path = join(directory, name);
    try {
      const isVirtual = readlinkSync(path).includes("/devices/virtual/");
      const kind = kindOf(path);
      return isWanted(name) || !isVirtual || kind !== "link" ? [linkAt(path, name, kind)] : [];
    } catch {
      // The link went meanwhile.
      return [];
    }
  });
}

function linkAt(path: string, name: string, kind: LinkKind): NodeLink {
  const device = realPath(join(path, "device"));
  const pci = device === undefined ? undefined : pciDeviceOf(device);
  const isAdminUp = (Number.parseInt(textAt(join(path, "flags")) ?? "0", 16) & iffUp) !== 0;
  const state = textAt(join(path, "operstate")) ?? "unknown";
  return {
    name,
    kind,
    isAdminUp,
    isUp: kind === "bridge" || kind === "ovs-bridge" ? isAdminUp : isAdminUp && !downStates.includes(state),
    mtu: positive(textAt(join(path, "mtu"))),
    speed: positive(textAt(join(path, "speed"))),
    driver: device === undefined ? undefined : nameOf(realPath(join(device, "driver"))),
    pciAddress: nameOf(pci),
    pcieRoot: pci === undefined ? undefined : /\/(pci[0-9a-f]{4}:[0-9a-f]{2})\//.exec(pci)?.[1],
    pciVendor: pci === undefined ? undefined : textAt(join(pci, "vendor"))?.replace(/^0x/, ""),
    // -1: the machine has one node.
    numaNode: notNegative(pci === undefined ? undefined : textAt(join(pci, "numa_node"))),
    hasRdma: device !== undefined && existsSync(join(device, "infiniband")),
  };
}

/** The link's PCI device: its own, or the one that carries its virtio device, which has a vendor and no PCI address. */
function pciDeviceOf(device: string): string | undefined {
  return [device, dirname(device)].find((each) => nameOf(realPath(join(each, "subsystem"))) === "pci");
}

function kindOf(path: string): LinkKind {
  if (existsSync(join(path, "bridge"))) return "bridge";
  if (existsSync(join(path, "bonding"))) return "bond";
  return isOpenVSwitchPort(path) ? "ovs-bridge" : "link";
}

/** A bridge of Open vSwitch is an internal port, whose master is `ovs-system`. A veth or a NIC at such a bridge has a peer, or a device. */
function isOpenVSwitchPort(path: string): boolean {
  if (nameOf(realPath(join(path, "master"))) !== "ovs-system" || existsSync(join(path, "device"))) return false;
  return textAt(join(path, "iflink")) === textAt(join(path, "ifindex"));
}

function nameOf(path: string | undefined): string | undefined {
  return path === undefined ? undefined : basename(path);
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** A file of sysfs; undefined if the link does not have it, or is down and the driver answers with an error. */
function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8").trim();
  } catch {
    return undefined;
  }
}

function positive(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && Number.isInteger(value) && value > 0 ? value : undefined;
}

function notNegative(text: string | undefined): number | undefined {
  const value = Number(text);
  return text !== undefined && text !== "" && Number.isInteger(value) && value >= 0 ? value : undefined;
}
