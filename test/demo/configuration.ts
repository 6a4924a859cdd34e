// The demo's host configurations, as an administrator writes them into the runtime's CNI directory.

import { wasmOnlyGrants } from "../harness/wasm-only.ts";

export interface DemoPaths {
  readonly manifests: string;
  readonly state: string;
  readonly run: string;
  readonly leases: string;
  readonly trace: string;
}

/** A default network whose chain has a native bridge, its WASM IPAM delegate, a WASM plugin and a native plugin. */
export function demoConfiguration({ manifests, state, run, leases, trace }: DemoPaths): object {
  return {
    cniVersion: "1.0.0",
    name: "cluster",
    type: "plexus",
    cniDir: state,
    runDir: run,
    manifests,
    trace,
    wasm: { grants: { "ipam-host-local": { log: {}, leases: { directories: [leases] }, resolver: {} } } },
    delegates: [
      {
        cniVersion: "1.0.0",
        name: "pods",
        plugins: [
          {
            type: "bridge",
            bridge: "plexus0",
            isDefaultGateway: true,
            ipam: { type: "ipam-host-local", subnet: "10.10.0.0/24" },
          },
          { type: "status-shaper", dns: { nameservers: ["10.10.0.1"], search: ["shop.example"] } },
          { type: "tuning", mtu: 1400 },
        ],
      },
    ],
  };
}

/** The same network without a native plugin. WASM delegates replace `bridge` and `tuning` and get the grants that they need. */
export function wasmOnlyConfiguration({ manifests, state, run, leases, trace }: DemoPaths): object {
  const bridges = ["plexus0", "storage0", "uplink0"];
  return {
    cniVersion: "1.0.0",
    name: "cluster",
    type: "plexus",
    cniDir: state,
    runDir: run,
    manifests,
    trace,
    wasm: {
      grants: {
        ...wasmOnlyGrants(bridges, leases),
        "status-shaper": { log: {} },
        tuning: { log: {}, links: {}, state: { directories: [state] }, sysctl: { keys: ["net/ipv4/conf/IFNAME/*"] } },
      },
    },
    delegates: [
      {
        cniVersion: "1.0.0",
        name: "pods",
        plugins: [
          {
            type: "bridge-adapter",
            bridge: "plexus0",
            isDefaultGateway: true,
            ipam: { type: "ipam-host-local", subnet: "10.10.0.0/24" },
          },
          { type: "status-shaper", dns: { nameservers: ["10.10.0.1"], search: ["shop.example"] } },
          { type: "tuning", mtu: 1400, dataDir: state },
        ],
      },
    ],
  };
}
