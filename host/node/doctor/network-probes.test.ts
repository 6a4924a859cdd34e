// The parts of the kernel that networks need, by their configuration.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readHostSettings } from "../explain/host-settings.ts";
import { networkProbes } from "./network-probes.ts";
import { nodeNetworks } from "./node-networks.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-probes-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const component = "\0asm\x0d\0\x01\0";

function needs(...networks: readonly (readonly object[])[]): readonly (readonly [string, string])[] {
  const delegates = networks.map((plugins, index) => ({ cniVersion: "1.0.0", name: `n${index}`, plugins }));
  const file = join(directory, "10-plexus.conflist");
  writeFileSync(file, JSON.stringify({ cniVersion: "1.0.0", name: "c", plugins: [{ type: "plexus", delegates }] }));
  const settings = readHostSettings(file, directory);
  if (!settings.ok || settings.value === undefined) throw new Error(JSON.stringify(settings));
  return networkProbes(nodeNetworks(settings.value, join(directory, "state")), settings.value).map(
    ({ name, neededBy }) => [name, neededBy] as const,
  );
}

test.each([
  ["kinds of links by the types of steps", [{ type: "macvlan" }, { type: "bandwidth" }], ["macvlan", "shaping"]],
  ["VLANs of a bridge by its keys", [{ type: "bridge", vlan: 100 }], ["veth", "bridge", "bridge-vlans"]],
  ["no VLANs for the number 0", [{ type: "bridge", vlan: 0 }], ["veth", "bridge"]],
  ["IPv6 by an address of the list", [{ type: "ptp", ipam: { type: "host-local", subnet: "fd00:1::/64" } }], ["veth", "ipv6"]],
  ["no IPv6 for a MAC", [{ type: "ptp", mac: "02:00:00:00:00:01" }], ["veth"]],
  ["nothing for IPAM alone", [{ type: "status-shaper", ipam: { type: "static", addresses: [{ address: "fd00::2/64" }] } }], []],
  ["no rules of nftables for a native plugin", [{ type: "ptp", ipMasq: true }, { type: "portmap" }], ["veth"]],
] as const)("E-20: doctor tries %s", (_, plugins, parts) => {
  expect(needs(plugins).map(([name]) => name)).toEqual(parts);
});

test("E-20: doctor tries the rules of a component, and names all networks that need a part", () => {
  writeFileSync(join(directory, "portmap.wasm"), component);
  expect(needs([{ type: "ptp" }], [{ type: "ptp" }, { type: "portmap" }])).toEqual([
    ["veth", "networks n0, n1"],
    ["firewall", "network n1"],
  ]);
});
