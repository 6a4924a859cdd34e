// Refuses Plexus as a plugin of its own networks (MO-24). The author of such a network would write a host configuration, and with it
// grant capabilities and name directories for writing. A chain that calls itself also never ends.

import type { HostConfiguration } from "./host-configuration.ts";

/** The types under which Plexus may be installed: its own name, and the names of Multus, which Plexus replaces. */
const plexusTypes: readonly string[] = ["plexus", "multus", "multus-shim"];

/** Whether a plugin of this type is Plexus itself. `configuration.type` is the type under which the runtime called Plexus. */
export function isPlexusName(type: string, configuration: Pick<HostConfiguration, "type">): boolean {
  return plexusTypes.includes(type) || (type !== "" && type === configuration.type);
}

/**
 * The first `type` at any depth of a plugin's configuration that is Plexus itself; undefined for none. A native plugin passes its own
 * configuration on to the plugins that it calls (`ipam.type`, `delegate.type`), so the definition's author would configure Plexus.
 */
export function plexusTypeIn(value: unknown, configuration: Pick<HostConfiguration, "type">): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  for (const [key, member] of Object.entries(value)) {
    // Go's JSON reader ignores the case of keys.
    const isPlexus = key.toLowerCase() === "type" && typeof member === "string" && isPlexusName(member, configuration);
    const found = isPlexus ? member : plexusTypeIn(member, configuration);
    if (found !== undefined) return found;
  }
  return undefined;
}
