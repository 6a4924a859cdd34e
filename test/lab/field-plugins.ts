// Native plugins of the field that no package registry of the tests has, such as bond-cni's `bond` and sriov-cni's `sriov`. PLEXUS_FIELD_PLUGINS names a
// directory in which an administrator has built them.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Requirement } from "./requires.ts";

/** The path of such a plugin, or undefined. */
export function fieldPlugin(name: string): string | undefined {
  const directory = process.env["PLEXUS_FIELD_PLUGINS"] ?? "";
  const path = join(directory, name);
  return directory !== "" && existsSync(path) ? path : undefined;
}

/** Requires such a plugin. */
export function fieldPluginIsThere(name: string): Requirement {
  return () => (fieldPlugin(name) === undefined ? `no native plugin ${name} in the directory PLEXUS_FIELD_PLUGINS` : undefined);
}
