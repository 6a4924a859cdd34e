// The demo's host configurations, as an administrator writes them into the runtime's CNI directory.

import { wasmOnlyGrants } from "../../test/lab/wasm-only.ts";

export interface DemoPaths {
  readonly manifests: string;
  readonly state: string;
  readonly run: string;
  readonly leases: string;
  readonly trace: string;
}

/** A default network whose chain has a native bridge, its WASM IPAM delegate, a WASM plugin and a native plugin. */
export function demoConfiguration({ manifests, state, run, leases, trace }: DemoPaths): object {
  const ipam = { "ipam-host-local": { log: {}, leases: { directories: [leases] }, resolver: {} } };
  return {
    cniVersion: "1.0.0",
    name: "cluster",
    type: "plexus",
    cniDir: state,
    runDir: run,
    manifests,
    trace,
    wasm: { grants: ipam },
    // Definitions of the namespace shop may use these native plugins with these keys, and a component for addresses.
    definitions: {
      rules: [
        {
          namespaces: ["shop"],
          native: { bridge: { bridge: ["storage0"], isGateway: "*" }, ptp: {} },
          grants: ipam,
        },
      ],
    },
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
  const shop = wasmOnlyGrants(["storage0", "uplink0"], leases);
  const nodeAddresses = ["10.20.0.1/24", "fd00:20::1/64"];
  const adapter = {
    ...shop["bridge-adapter"],
    links: { ...shop["bridge-adapter"]?.links, nodeAddresses, networks: nodeAddresses },
  };
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
        ...wasmOnlyGrants(["plexus0"], leases),
        "status-shaper": { log: {} },
        tuning: { log: {}, links: {}, state: { directories: [state] }, sysctl: { keys: ["net/ipv4/conf/IFNAME/*"] } },
      },
    },
    definitions: { rules: [{ namespaces: ["shop"], grants: { ...shop, "bridge-adapter": adapter } }] },
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
