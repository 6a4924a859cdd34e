// Debian's ipset, which networks' daemons run.

import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { testCache, unpackPackages } from "../debian-packages.ts";
import type { Requirement } from "../requires.ts";

const unpacked = join(testCache, "debian-ipset");
const program = join(unpacked, "usr", "sbin", "ipset");

/** Unpacks ipset if it is absent. Answers the reason of a failure. */
export const unpackIpset = (): string | undefined =>
  existsSync(program) ? undefined : unpackPackages(["ipset", "libipset13"], unpacked);

/** Requires the unpacked ipset. `command`: unpacks it. */
export function ipsetRequirement(command: string): Requirement {
  return () => (existsSync(program) ? undefined : `Debian's ipset has not been unpacked: run ${command}`);
}

/** ipset and its library, by their paths in an image. The other libraries are the node's. */
export function ipsetFiles(): Readonly<Record<string, string>> {
  const libraries = readdirSync(join(unpacked, "usr", "lib"), { recursive: true, encoding: "utf8" });
  const library = libraries.find((name) => name.endsWith("/libipset.so.13")) ?? "";
  return { "/opt/ipset/ipset": program, "/opt/ipset/libipset.so.13": join(unpacked, "usr", "lib", library) };
}
