// The command of a zygote.

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { UidRange } from "../../../src/configuration/keys/sandbox-uids.ts";
import { jailArguments, type ProgramOfJail } from "./jail.ts";

/** The addon's file, beside the launcher. */
export const addonName = "plexus-zygote.node";
const scriptName = "zygote.cjs";

/**
 * Flags of a process that may be copied. Its threads besides the main one wait for ever: V8 compiles and collects in the main thread, and no thread waits
 * for SIGUSR1.
 */
const flags = ["--single-threaded", "--v8-pool-size=0", "--disable-sigusr1", "--allow-addons", "--disable-warning=PERM0001"];

/**
 * The command of the zygote for `program`, the command of a sandbox process that is started anew, with the script of the zygote beside its own. Undefined:
 * the addon or the script is not installed. `command`: what a copy executes, `guest` for nothing. `daemon`: the daemon's own user, if it has one: the copies of
 * its zygote enter no cgroup but its own.
 */
export function zygoteCommand(
  launcher: string,
  uids: UidRange,
  program: ProgramOfJail,
  command: readonly string[] = ["guest"],
  daemon?: number,
): readonly string[] | undefined {
  const [node, ...rest] = program.command;
  const addon = join(dirname(launcher), addonName);
  const script = join(dirname(rest.at(-1) ?? ""), scriptName);
  if (!existsSync(addon) || !existsSync(script)) return undefined;
  return [
    node,
    ...flags,
    ...rest.slice(0, -1),
    script,
    addon,
    ...jailArguments(uids, program),
    "--supervisor",
    launcher,
    ...(daemon === undefined ? [] : ["--daemon-uid", String(daemon)]),
    "--",
    ...command,
  ];
}
