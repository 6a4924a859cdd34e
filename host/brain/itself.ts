// Plexus as a plugin of its own networks: never. It would write a host configuration of its own, grant itself capabilities,
// name directories to write to; and a chain that calls itself has no end (MO-24).

import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";

/** Names under which Plexus may be installed: its own, and those of Multus, whose place it takes. */
const names: readonly string[] = ["plexus", "multus", "multus-shim"];

/** Whether a plugin of this type would be Plexus again. */
export function isItself(type: string, configuration: Pick<HostConfiguration, "type">): boolean {
  return names.includes(type) || (type !== "" && type === configuration.type);
}
