// `node test/lab/neutron/get.ts` gets Neutron, Open vSwitch and OVN from Debian, before the tests enter namespaces that do not reach the archive.
// Without Debian, a line says so and the tests are skipped by name.

import { spawnSync } from "node:child_process";
import { unpackPackages } from "../debian-packages.ts";
import { missingNeutron, neutronPackages, neutronRoot } from "./packages.ts";

if (missingNeutron() !== undefined) {
  process.stderr.write("plexus: unpacking Neutron and OVN (43 MB, once)\n");
  const listed = spawnSync("apt-get", ["install", "--simulate", "--no-install-recommends", ...neutronPackages], {
    encoding: "utf8",
  });
  // Packages that the machine has already are not unpacked.
  const packages = [...(listed.stdout ?? "").matchAll(/^Inst (\S+)/gmu)].map(([, name = ""]) => name);
  const reason =
    packages.length === 0 ? `apt-get: ${(listed.stderr ?? "none").trim().slice(-300)}` : unpackPackages(packages, neutronRoot);
  if (reason !== undefined) process.stderr.write(`plexus: ${reason}: tests with Neutron are skipped\n`);
}
