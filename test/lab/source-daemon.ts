// A daemon that runs from its sources, because a bundle's files have no names of modules. A hook runs in the daemon before its program.

import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./compiled.ts";
import { type DaemonOptions, startDaemon, type TestDaemon } from "./daemon.ts";
import { dist } from "./plexus.ts";

/** Starts such a daemon with its home, state and socket below `directory`. `hook`: the lines of an ECMAScript module. */
export function startSourceDaemon(
  directory: string,
  hook: readonly string[],
  options: Omit<DaemonOptions, "socket" | "program" | "nodeArgs"> = {},
): Promise<TestDaemon> {
  const home = join(directory, "home");
  mkdirSync(home, { recursive: true });
  for (const name of ["engine", "bin"]) symlinkSync(join(dist, name), join(home, name));
  const [program, module] = [join(home, "plexusd.mjs"), join(home, "hook.mjs")];
  writeFileSync(program, `await import(${JSON.stringify(join(root, "host/programs/plexusd/main.ts"))});\n`);
  writeFileSync(module, `${hook.join("\n")}\n`);
  return startDaemon({
    ...options,
    socket: join(directory, "run", "plexus.sock"),
    args: ["--state-dir", join(directory, "state"), ...(options.args ?? [])],
    program,
    nodeArgs: ["--import", module],
  });
}
