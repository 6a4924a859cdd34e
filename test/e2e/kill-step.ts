// kill-step.c, compiled: a step that kills the brain or the hands, or fails, on order.

import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { builtOnce, root } from "../harness/compiled.ts";

/** The program's path. Under the name `T` it obeys the order in the file `T.VERB.CONTAINER` beside it. */
export function killStep(): string {
  const directory = join(root, "test", "e2e");
  const sources = [join(directory, "kill-step.c"), join(root, "test", "plugins", "record.h")];
  const flags = ["-std=c17", "-O1", "-Wall", "-Wextra", "-Werror", "-Wno-unused-function"];
  return builtOnce("kill-step", [flags.join(" "), ...sources.map((path) => readFileSync(path, "utf8"))], (output) => {
    execFileSync("cc", [...flags, "-o", output, sources[0] ?? ""], { stdio: ["ignore", "inherit", "inherit"] });
  });
}
