// A node that has no native plugin: what it installs, and what its administrator grants.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { DelegateGrants } from "../../src/configuration/wasm-configuration.ts";

/** The components that attach a pod without any native plugin. */
export const wasmOnlyDelegates = ["bridge-adapter", "ipam-host-local"] as const;

/** `wasm.grants` for bridges of these names; `leases`: where addresses are kept, the default directory unless given. */
export function wasmOnlyGrants(bridges: readonly string[], leases?: string): Readonly<Record<string, DelegateGrants>> {
  return {
    "bridge-adapter": {
      log: {},
      links: { bridges, forwarding: true, vethQueues: 1 },
      firewall: { masquerade: true },
      delegation: { plugins: ["ipam-host-local"] },
    },
    ...(leases === undefined ? {} : { "ipam-host-local": { log: {}, leases: { directories: [leases] }, resolver: {} } }),
  };
}

/** What a directory of the CNI_PATH has that could be executed as a plugin, but Plexus itself. */
export function nativePlugins(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => {
    const status = lstatSync(join(directory, name));
    return name !== "plexus" && !name.startsWith(".") && !name.endsWith(".wasm") && !status.isDirectory();
  });
}
