// A link of the node, as a node offers it to claims.

/** The kinds of links that a device can be. `link` is any other one, such as a NIC, a virtual function or a VLAN. */
export const linkKinds = ["link", "bond", "bridge", "ovs-bridge"] as const;

export type LinkKind = (typeof linkKinds)[number];

/** A link with what the kernel says about it. */
export interface NodeLink {
  readonly name: string;
  readonly kind: LinkKind;
  /** Whether packets can pass: the operational state, and for a bridge, which may have no port yet, the administrative one. */
  readonly isUp: boolean;
  /** The administrative state (IFF_UP). Nothing is known about the carrier of a link without it. */
  readonly isAdminUp: boolean;
  readonly mtu: number | undefined;
  /** In Mbit/s; undefined if the driver does not say. */
  readonly speed: number | undefined;
  /** The kernel module; undefined for a virtual link. */
  readonly driver: string | undefined;
  /** The address on the PCI bus, such as `0000:18:02.1`. */
  readonly pciAddress: string | undefined;
  /** The root complex, such as `pci0000:16`. */
  readonly pcieRoot: string | undefined;
  /** The PCI vendor in hexadecimal digits, such as `8086`. */
  readonly pciVendor: string | undefined;
  readonly numaNode: number | undefined;
  readonly hasRdma: boolean;
}
