// How a plugin's configuration names the node's link and its VLAN. Keys come from the plugins' own documentation.

/** The keys of one plugin type. */
export interface LinkPlacement {
  /** The key with the link: its name, or its PCI address. */
  readonly link: string;
  readonly names: "link" | "pci-address";
  /** Whether the plugin moves the link into the pod. */
  readonly moves: boolean;
  /** The key with the VLAN's id. Undefined: the plugin's packets have no VLAN of its own. */
  readonly vlan?: string;
  /** Keys that choose another link, or a link of another place. */
  readonly otherLinks: readonly string[];
  /** Keys that choose further VLANs, unless their value is false. */
  readonly otherVlans: readonly string[];
  /** The value of a key by which an attachment takes the whole link: the kernel gives no other attachment a place beside it. */
  readonly takesAll?: { readonly key: string; readonly value: string };
}

/** The placements by plugin type. */
export const linkPlacements: Readonly<Record<string, LinkPlacement>> = {
  macvlan: {
    link: "master",
    names: "link",
    moves: false,
    otherLinks: ["linkInContainer"],
    otherVlans: [],
    takesAll: { key: "mode", value: "passthru" },
  },
  ipvlan: { link: "master", names: "link", moves: false, otherLinks: ["linkInContainer"], otherVlans: [] },
  ipoib: { link: "master", names: "link", moves: false, otherLinks: [], otherVlans: [] },
  vlan: { link: "master", names: "link", moves: false, vlan: "vlanId", otherLinks: ["linkInContainer"], otherVlans: [] },
  bridge: {
    link: "bridge",
    names: "link",
    moves: false,
    vlan: "vlan",
    otherLinks: ["uplinkInterface"],
    otherVlans: ["vlanTrunk", "preserveDefaultVlan"],
  },
  ovs: {
    link: "bridge",
    names: "link",
    moves: false,
    vlan: "vlan",
    otherLinks: ["deviceID", "socket_file"],
    otherVlans: ["trunk"],
  },
  "host-device": {
    link: "device",
    names: "link",
    moves: true,
    otherLinks: ["hwaddr", "kernelpath", "pciBusID", "deviceID", "runtimeConfig"],
    otherVlans: [],
  },
  sriov: {
    link: "deviceID",
    names: "pci-address",
    moves: true,
    vlan: "vlan",
    otherLinks: ["master", "runtimeConfig"],
    otherVlans: [],
  },
  "ib-sriov": { link: "deviceID", names: "pci-address", moves: true, otherLinks: ["master", "runtimeConfig"], otherVlans: [] },
};

/** Further types that attach a link of the node to the pod, by keys of their own or by a plugin that they call. They have no key for a claimed link. */
const furtherTypes: readonly string[] = ["bond", "bridge-adapter", "external-port", "flannel"];

/** Whether plugins of this type choose a link of the node. */
export function choosesLink(type: string): boolean {
  return Object.hasOwn(linkPlacements, type) || furtherTypes.includes(type);
}
