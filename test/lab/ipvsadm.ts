// Debian's ipvsadm, which makes the virtual servers that kube-proxy makes in IPVS mode.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { testCache, unpackPackages } from "./debian-packages.ts";
import type { Requirement } from "./requires.ts";

const unpacked = join(testCache, "debian-ipvsadm");
const program = join(unpacked, "sbin", "ipvsadm");

/** Unpacks ipvsadm if it is absent. Answers the reason of a failure. */
const unpackIpvsadm = (): string | undefined =>
  existsSync(program) ? undefined : unpackPackages(["ipvsadm", "libnl-3-200", "libnl-genl-3-200", "libpopt0"], unpacked);

/** Requires the kernel's IPVS, which the emulated machine has, and the unpacked program. */
export const ipvs: Requirement = () => {
  if (!existsSync("/proc/self/net/ip_vs")) return "the kernel has no IPVS (module ip_vs): npm run vm has one";
  return existsSync(program) ? undefined : "Debian's ipvsadm has not been unpacked: node test/lab/ipvsadm.ts";
};

/** The command that executes ipvsadm(8). */
export function ipvsadmCommand(): readonly [string, ...string[]] {
  const files = readdirSync(unpacked, { recursive: true, withFileTypes: true });
  const directories = files.flatMap(({ name, parentPath }) => (name.includes(".so.") ? [parentPath] : []));
  return ["env", `LD_LIBRARY_PATH=${[...new Set(directories)].join(":")}`, program];
}

if (import.meta.main) process.stderr.write(`${unpackIpvsadm() ?? `plexus: ipvsadm is in ${unpacked}`}\n`);
