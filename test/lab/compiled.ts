// Compiles the C programs of test/lab/plugins/ once. Each program is kept under dist/test/ and named after a hash of its sources.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, renameSync } from "node:fs";
import { basename, dirname, join } from "node:path";
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
  const output = keptPath(name, inputs);
  if (isKept(output)) return output;
  const unfinished = `${output}.${process.pid}`;
  build(unfinished);
  keep(unfinished, output);
  return output;
}

/** As `builtOnce`, for a build that answers a promise. */
export async function builtOnceLater(
  name: string,
  inputs: readonly string[],
  build: (output: string) => Promise<void>,
): Promise<string> {
  const output = keptPath(name, inputs);
  if (isKept(output)) return output;
  const unfinished = `${output}.${process.pid}`;
  await build(unfinished);
  keep(unfinished, output);
  return output;
}

function keptPath(name: string, inputs: readonly string[]): string {
  const hash = createHash("sha256").update(process.arch);
  for (const input of inputs) hash.update(input).update("\0");
  return join(testDist, `${name}-${hash.digest("hex").slice(0, 16)}`);
}

/** A program of this tree, in the directory that clones share (scripts/run.sh). A clean clone would compile some fifty programs again. */
function sharedPath(output: string): string | undefined {
  const shared = process.env["PLEXUS_PROGRAM_CACHE"] ?? "";
  return shared === "" ? undefined : join(shared, basename(output));
}

/** Whether this tree has the program, or gets it from the shared directory now. */
function isKept(output: string): boolean {
  if (existsSync(output)) return true;
  mkdirSync(testDist, { recursive: true });
  const shared = sharedPath(output);
  if (shared === undefined || !existsSync(shared)) return false;
  copyWhole(shared, output);
  return true;
}

function keep(unfinished: string, output: string): void {
  renameSync(unfinished, output);
  const shared = sharedPath(output);
  if (shared === undefined) return;
  mkdirSync(dirname(shared), { recursive: true });
  copyWhole(output, shared);
}

function copyWhole(from: string, to: string): void {
  const unfinished = `${to}.${process.pid}`;
  copyFileSync(from, unfinished);
  renameSync(unfinished, to);
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
    | "datagrams"
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
