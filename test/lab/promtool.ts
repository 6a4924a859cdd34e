// Finds promtool, which evaluates Prometheus' rules. PROMTOOL names a ready binary. Without it the one of Debian's package is unpacked.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { testCache, unpackPackages } from "./debian-packages.ts";
import type { Requirement } from "./requires.ts";

const unpacked = join(testCache, "debian-prometheus");

/** The path of promtool, or undefined if absent. */
export function promtoolBinary(): string | undefined {
  const configured = process.env["PROMTOOL"];
  if (configured !== undefined && configured !== "") return configured;
  return ["/usr/bin/promtool", join(unpacked, "usr", "bin", "promtool")].find((path) => existsSync(path));
}

/** Requires promtool: `describe.skipIf(missing("...", promtool))`. */
export const promtool: Requirement = () =>
  promtoolBinary() === undefined ? "no promtool: set PROMTOOL, or unpack it once: node test/lab/promtool.ts" : undefined;

// Before the tests enter a network namespace without a route. Never fails: without promtool its tests are skipped.
if (import.meta.main && promtoolBinary() === undefined) {
  const failure = unpackPackages(["prometheus"], unpacked);
  if (failure !== undefined) process.stderr.write(`plexus: promtool was not unpacked: ${failure}\n`);
}
