// componentize-py for the tests of delegates in Python, in a virtual environment that test/lab/python/get.ts makes.

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { componentizePyVersion } from "../../../delegates/sdk/build/language.ts";
import { testCache } from "../debian-packages.ts";

/** The virtual environment, and beside it the components of earlier tests. */
export const pythonCache = join(testCache, `componentize-py-${componentizePyVersion}`);

/** The directory of the virtual environment's programs. */
export const pythonPrograms = join(pythonCache, "venv/bin");

/** The settings with which the kit finds componentize-py, or the reason why it can't. */
export function pythonEnvironment(): { readonly PATH: string } | { readonly missing: string } {
  const tried = spawnSync(join(pythonPrograms, "componentize-py"), ["--version"], { encoding: "utf8" });
  if (tried.status !== 0) return { missing: "node test/lab/python/get.ts has not installed componentize-py" };
  return { PATH: `${pythonPrograms}:${process.env["PATH"] ?? ""}` };
}
