// The IPAM plugins whose addresses Plexus searches for after a DEL, because some plugins do not free them.

/** DEL of an attachment that these plugins don't know succeeds and changes nothing, so it may be repeated. */
const repeatable: ReadonlySet<string> = new Set(["host-local", "ipam-host-local", "whereabouts", "dhcp"]);

/** Plugins that call their IPAM plugin in each DEL, also without a network namespace (docs/reference/plugin-conformance.md, DEL-6). */
const thorough: ReadonlySet<string> = new Set(["bridge", "macvlan", "ipvlan", "ptp", "vlan", "bridge-adapter", ...repeatable]);

/** Whether an address of this IPAM plugin may remain after a successful DEL. The DEL of other IPAM plugins is not known well enough to repeat it. */
export function mayLeaveAddress(ipamType: string): boolean {
  return repeatable.has(ipamType);
}

/** Whether the plugin may succeed in DEL without its IPAM plugin. */
export function maySkipIpam(type: string): boolean {
  return !thorough.has(type);
}
