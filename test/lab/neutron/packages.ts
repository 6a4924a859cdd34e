// Neutron, Open vSwitch and OVN of Debian's packages, unpacked below the cache directory.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { testCache } from "../debian-packages.ts";

/** The unpacked packages. */
export const neutronRoot = join(testCache, "debian-neutron");
/** The packages whose programs the tests start. */
export const neutronPackages: readonly string[] = [
  "neutron-server",
  "neutron-plugin-ml2",
  "openvswitch-switch",
  "ovn-central",
  "ovn-host",
  "python3-ovsdbapp",
];
/** Debian's Python, for which its packages are made. */
export const debianPython = "/usr/bin/python3";

/** Environment of all programs, with their state in `directory`. */
export function neutronEnvironment(directory: string): NodeJS.ProcessEnv {
  const programs = ["usr/bin", "usr/sbin", "usr/lib/openvswitch-switch"].map((each) => join(neutronRoot, each));
  const libraries = spawnSync("dpkg-architecture", ["-qDEB_HOST_MULTIARCH"], { encoding: "utf8" }).stdout?.trim();
  const multiarch =
    libraries === undefined || libraries === "" ? `${process.arch === "arm64" ? "aarch64" : "x86_64"}-linux-gnu` : libraries;
  const state = Object.fromEntries(
    ["OVS", "OVN"].flatMap((name) => ["RUNDIR", "LOGDIR", "DBDIR"].map((each) => [`${name}_${each}`, directory])),
  );
  return {
    PATH: [...programs, process.env["PATH"] ?? ""].join(":"),
    LD_LIBRARY_PATH: [join(neutronRoot, "usr/lib", multiarch), join(neutronRoot, "lib", multiarch)].join(":"),
    PYTHONPATH: join(neutronRoot, "usr/lib/python3/dist-packages"),
    PYTHONDONTWRITEBYTECODE: "1",
    HOME: directory,
    ...state,
  };
}

/** The reason why the packages cannot be used, or undefined. */
export function missingNeutron(): string | undefined {
  if (existsSync(join(neutronRoot, "usr", "bin", "neutron-server")) && existsSync(debianPython)) return undefined;
  return "no Neutron: on Debian, get it once: node test/lab/neutron/get.ts";
}
