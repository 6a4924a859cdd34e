// The directories of a node's chain traces.

import { join } from "node:path";
import { readHostSettings } from "../../node/explain/host-settings.ts";

/** `traces` in each state directory, and the directory that the configuration names. */
export function traceDirectories(
  { config, cniPath }: { readonly config: string; readonly cniPath: string },
  stateDirectories: readonly string[],
): readonly string[] {
  const settings = readHostSettings(config, cniPath);
  const named = settings.ok ? settings.value?.configuration.chainTrace?.directory : undefined;
  return [...stateDirectories.map((directory) => join(directory, "traces")), ...(named === undefined ? [] : [named])];
}
