// Compiles the C programs of test/lab/plugins/ once. Each program is kept under dist/test/ and named after a hash of its sources.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** The project's root directory. */
export const root = fileURLToPath(new URL("../..", import.meta.url)).replace(/\/$/, "");

/** The directory of programs that only tests need. It survives from run to run. */
export const testDist = join(root, "dist", "test");

const pluginSources = join(root, "test", "lab", "plugins");
const flags = ["-std=c17", "-O1", "-Wall", "-Wextra", "-Werror"];

/**
 * Answers the path of a program that `build` makes from `inputs`, and builds the program if it does not exist yet.
 * Concurrent builds are harmless: each process writes its unfinished file and renames it.
 */
export function builtOnce(name: string, inputs: readonly string[], build: (output: string) => void): string {
  const hash = createHash("sha256");
  for (const input of inputs) hash.update(input).update("\0");
  const output = join(testDist, `${name}-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(output)) return output;
  mkdirSync(testDist, { recursive: true });
  const unfinished = `${output}.${process.pid}`;
  build(unfinished);
  renameSync(unfinished, output);
  return output;
}

/** A compiled program of test/lab/plugins/. */
export function compiledPlugin(
  name:
    | "recorder"
    | "hostile"
    | "ping"
    | "glutton"
    | "starts"
    | "sniff"
    | "sctp"
    | "escapee"
    | "flawed"
    | "bereave"
    | "pester"
    | "inject"
    | "post"
    | "frames",
): string {
  const source = join(pluginSources, `${name}.c`);
  const inputs = [flags.join(" "), readFileSync(source, "utf8"), readFileSync(join(pluginSources, "record.h"), "utf8")];
  return builtOnce(name, inputs, (output) => {
    execFileSync("cc", [...flags, "-o", output, source], { stdio: ["ignore", "inherit", "inherit"] });
  });
}
