// Installs componentize-py for the tests of delegates in Python. Run outside of private namespaces, which do not reach the package index. Without
// Python or the index, a line says so and the tests are skipped by name.

import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { componentizePyVersion } from "../../../delegates/sdk/build/language.ts";
import { pythonCache, pythonEnvironment, pythonPrograms } from "./toolchain.ts";

if ("missing" in pythonEnvironment()) {
  const reason = install();
  if (reason !== undefined) {
    rmSync(pythonCache, { recursive: true, force: true });
    process.stderr.write(`plexus: ${reason}: tests of delegates in Python are skipped\n`);
  }
}

/** Answers the reason of a failure. */
function install(): string | undefined {
  if (spawnSync("python3", ["--version"]).status !== 0) return "no python3";
  process.stderr.write("plexus: installing componentize-py (once)\n");
  rmSync(pythonCache, { recursive: true, force: true });
  mkdirSync(pythonCache, { recursive: true });
  return (
    run("python3", ["-m", "venv", join(pythonCache, "venv")]) ??
    run(join(pythonPrograms, "pip"), [
      "install",
      "--quiet",
      "--retries",
      "1",
      "--only-binary",
      ":all:",
      `componentize-py==${componentizePyVersion}`,
    ])
  );
}

function run(program: string, args: readonly string[]): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(program, args, { encoding: "utf8", timeout: 300_000 });
  if (status === 0) return undefined;
  const text = `${stdout ?? ""}${stderr ?? ""}`.trim().split("\n").at(-1) ?? "";
  return `${program} ${args[0]} ${args[1] ?? ""}: ${error?.message ?? text.slice(-300)}`;
}
