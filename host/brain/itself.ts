// Plexus as a plugin of its own networks: never. It would write a host configuration of its own, grant itself capabilities,
// name directories to write to; and a chain that calls itself has no end (MO-24).

import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";

/** Names under which Plexus may be installed: its own, and those of Multus, whose place it takes. */
const names: readonly string[] = ["plexus", "multus", "multus-shim"];

/** Whether a plugin of this type would be Plexus again. */
export function isItself(type: string, configuration: Pick<HostConfiguration, "type">): boolean {
  return names.includes(type) || (type !== "" && type === configuration.type);
}

/**
 * A type by which the plugin, or one that it calls (`ipam.type`, `delegate.type`, wherever it may stand), would be Plexus: a native
 * plugin hands its own configuration on, and the definition's author would be the host's administrator.
 */
export function itselfIn(value: unknown, configuration: Pick<HostConfiguration, "type">): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    // Go reads keys in any case.
    const own = key.toLowerCase() === "type" && typeof member === "string" && isItself(member, configuration);
    const found = own ? member : itselfIn(member, configuration);
    if (found !== undefined) return found;
  }
  return undefined;
}
