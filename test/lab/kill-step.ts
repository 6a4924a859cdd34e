// Compiles kill-step.c, a native plugin that kills the engine or the shim, or fails, when a file orders it.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { builtOnce, root } from "./compiled.ts";

/** The program's path. A copy called `T` executes the order in the file `T.VERB.CONTAINER` beside it. */
export function killStep(): string {
  const directory = join(root, "test", "lab");
  const sources = [join(directory, "kill-step.c"), join(root, "test", "lab", "plugins", "record.h")];
  const flags = ["-std=c17", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"];
  return builtOnce("kill-step", [flags.join(" "), ...sources.map((path) => readFileSync(path, "utf8"))], (output) => {
    execFileSync("cc", [...flags, "-o", output, sources[0] ?? ""], { stdio: ["ignore", "inherit", "inherit"] });
  });
}
