// A node that has no native plugin: what it installs, and what its administrator grants.

import type { DelegateGrants } from "../../src/configuration/wasm-configuration.ts";

/** The components that attach a pod without any native plugin. */
export const wasmOnlyDelegates = ["bridge-adapter", "ipam-host-local"] as const;

/** `wasm.grants` for bridges of these names. */
export function wasmOnlyGrants(bridges: readonly string[]): Readonly<Record<string, DelegateGrants>> {
  return {
    "bridge-adapter": {
      log: {},
      links: { bridges, forwarding: true },
      sysctl: { keys: ["net/ipv4/conf/IFNAME/*", "net/ipv6/conf/IFNAME/*"] },
      firewall: { masquerade: true },
      announce: {},
      delegation: { plugins: ["ipam-host-local"] },
    },
  };
}
