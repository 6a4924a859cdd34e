// The figures of docs/how-to/networks-as-claims.md about a large cluster, computed by the rules that make the slices.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readDeviceSettings } from "../../features/claims/rules/device-settings.ts";
import type { NodeLink } from "../../features/claims/rules/node-link.ts";
import { offeredDevices, publishedDevices } from "../../features/claims/rules/offered-devices.ts";
import { sliceChanges } from "../../features/claims/rules/slice.ts";
import { verifyPauseMs } from "../../features/claims/slices/publish-slices.ts";
import { root } from "../lab/compiled.ts";

const nodes = 5_000;

/** A virtual function, with all that sysfs says about it. */
const virtualFunction = (index: number): NodeLink => ({
  name: `enp24s0f0v${index}`,
  kind: "link",
  isUp: true,
  isAdminUp: true,
  mtu: 1500,
  speed: 25_000,
  driver: "mlx5_core",
  pciAddress: `0000:18:0${Math.floor(index / 8)}.${index % 8}`,
  pcieRoot: "pci0000:16",
  pciVendor: "15b3",
  numaNode: 0,
  hasRdma: true,
});

test("DR-02: the page's figures for 5,000 nodes with 64 devices each are those of the slices", () => {
  const entry = {
    name: "vf",
    match: { driver: "mlx5_core" },
    exclusive: true,
    networks: ["blue"],
    resourceName: "example.com/vf",
  };
  const settings = readDeviceSettings(JSON.stringify({ devices: [entry] }));
  if (!settings.ok) throw new Error(settings.problem);
  const links = Array.from({ length: 64 }, (_, index) => virtualFunction(index));
  const devices = publishedDevices(offeredDevices(settings.value, links).devices);
  expect(devices).toHaveLength(64);
  const [change, ...more] = sliceChanges({ node: "node-0001", uid: "u".repeat(36) }, devices, "c".repeat(64), []);
  if (change?.kind !== "create") throw new Error("no slice");
  expect(more).toEqual([]);
  const kib = Math.round(JSON.stringify(change.object).length / 1024);
  const page = readFileSync(join(root, "docs/how-to/networks-as-claims.md"), "utf8");
  const said = [
    `5,000 ResourceSlices of ${kib} KiB as JSON, ${Math.round((kib * nodes) / 1024)} MiB together`,
    `${Math.round((nodes * 1000) / verifyPauseMs)} lists each second`,
    `${kib} KiB to each watcher`,
  ];
  for (const text of said) expect(page).toContain(text);
});
