// Installation and grants of a node without native plugins.

import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import type { DelegateGrants } from "../../src/configuration/keys/grant-keys.ts";

/** The components that attach a pod without any native plugin. */
export const wasmOnlyDelegates = ["bridge-adapter", "ipam-host-local"] as const;

/** `wasm.grants` for bridges of these names. `leases` is the directory of addresses; default: the delegate's default directory. */
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

/** Files of a CNI_PATH directory that could be executed as a plugin, except Plexus. */
export function nativePlugins(directory: string): readonly string[] {
  return readdirSync(directory).filter((name) => {
    const status = lstatSync(join(directory, name));
    return name !== "plexus" && !name.startsWith(".") && !name.endsWith(".wasm") && !status.isDirectory();
  });
}
