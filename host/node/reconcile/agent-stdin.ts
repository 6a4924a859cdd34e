// The configuration of a call in which an agent executes plugins: only an agent that finds the attachment's plugins on its `CNI_PATH` may run it.

import { ok, type Result } from "../../../src/fault/result.ts";
import type { JournalPlan } from "../../store/journal/entry.ts";
import type { Agent } from "../agent-call.ts";
import type { KeptConfigurations } from "./kept-configurations.ts";

/** The stdin of a call for this plan, or the reason why this agent cannot run one. Faults: those of reading the configuration. */
export function agentStdin(
  configurations: KeptConfigurations,
  { environment }: Agent,
  { network, cniPath }: JournalPlan,
): Result<{ readonly stdin: string } | { readonly why: string }> {
  const stdin = configurations.load(network);
  if (!stdin.ok) return stdin;
  if (stdin.value === undefined)
    return ok({ why: `the daemon has not yet received configuration ${network} in a call of the runtime` });
  const path = environment.get("CNI_PATH") ?? "";
  return ok(
    covers(path, cniPath)
      ? { stdin: stdin.value }
      : { why: `the agent's CNI_PATH (${path}) lacks a directory of the attachment's CNI_PATH (${cniPath})` },
  );
}

/** Whether `wide` contains the directories of `path` in the same order; other directories may stand between them. */
function covers(wide: string, path: string): boolean {
  const left = directoriesOf(path);
  for (const directory of directoriesOf(wide)) if (directory === left[0]) left.shift();
  return left.length === 0;
}

function directoriesOf(path: string): string[] {
  const directories = path.split(":").filter((directory) => directory !== "");
  return directories.map((directory) => directory.replace(/(?<=.)\/+$/u, ""));
}
