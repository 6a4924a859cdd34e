// Plexus' own configuration on this node, as the runtime passed it last.

import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { KeptConfigurations } from "../../../host/node/reconcile/kept-configurations.ts";

/** The newest of the kept configurations; undefined before the first call of the runtime. */
export function newestConfiguration(stateDirectory: string): string | undefined {
  const kept = new KeptConfigurations(stateDirectory);
  let names: readonly string[];
  try {
    names = readdirSync(kept.directory).filter((name) => !name.startsWith("."));
  } catch {
    return undefined;
  }
  const byAge = names
    .map((name) => ({ name, ms: statSync(join(kept.directory, name), { throwIfNoEntry: false })?.mtimeMs ?? 0 }))
    .toSorted((left, right) => right.ms - left.ms);
  for (const { name } of byAge) {
    const text = kept.load(name);
    if (text.ok && text.value !== undefined) return text.value;
  }
  return undefined;
}
