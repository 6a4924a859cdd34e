// Plexus' configuration for benchmarks.

import type { Installation } from "../test/lab/plexus.ts";

/** A configuration with the installation's directories. `more` has the delegates, and further keys. */
export function hostConfiguration(plexus: Installation, name: string, more: object): object {
  return {
    cniVersion: "1.0.0",
    name,
    type: "plexus",
    cniDir: plexus.state("lib"),
    // The policy for definitions is not part of the measurements.
    definitions: { trusted: ["*"] },
    runDir: plexus.runState("run"),
    ...more,
  };
}
