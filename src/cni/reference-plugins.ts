// The names of the CNI project's reference plugins, which configurations of every node use (github.com/containernetworking/plugins 1.9.1, Linux), and of popular
// plugins of the field.

/** The reference plugins by name. A component of this name serves their configurations. */
export const referencePlugins = [
  "bandwidth",
  "bridge",
  "dhcp",
  "dummy",
  "firewall",
  "host-device",
  "host-local",
  "ipvlan",
  "loopback",
  "macvlan",
  "portmap",
  "ptp",
  "sbr",
  "static",
  "tap",
  "tuning",
  "vlan",
  "vrf",
] as const;

/** Popular plugins of the field that a component of the same name replaces. */
export const fieldPlugins = ["bond", "ovs", "route-override", "sriov"] as const;

/** Delegates of another name than the plugin that they replace. A build has their component under both names. */
export const replacedPlugins: Readonly<Record<string, (typeof referencePlugins)[number]>> = {
  "bridge-adapter": "bridge",
  "ipam-host-local": "host-local",
};

const executingIpam: ReadonlySet<string> = new Set(["bridge", "dummy", "host-device", "ipvlan", "macvlan", "ptp", "tap", "vlan"]);

/** Whether a plugin of this type executes the plugin that `ipam.type` names. Other plugins may do their IPAM themselves, whatever `ipam.type` says. */
export function executesIpam(type: string): boolean {
  return executingIpam.has(replacedBy(type));
}

/** The plugin type that a delegate replaces: its own name, if no other is listed. */
export function replacedBy(delegate: string): string {
  return replacedPlugins[delegate] ?? delegate;
}
