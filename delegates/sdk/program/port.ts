// `plexus-delegate port`: what a plugin in Go calls, and the capabilities that a delegate has in its place.

import { readFileSync } from "node:fs";
import { type Command, CommandError, exitCode } from "./command.ts";
import { portedCalls } from "./ported-calls.ts";
import { readFailure } from "./read-failure.ts";

/** Words of the table that name no capability to declare: `none`, and `log`, which each new delegate declares. */
const declared: ReadonlySet<string> = new Set(["-", "none", "log"]);

/** Prints a table. */
export const portCommand: Command = {
  name: "port",
  summary: "Prints what a CNI plugin in Go calls, and which capability a delegate has for each call",
  usage: "FILE.go [FILE.go ...]",
  details:
    "The table is found by names in the text: it is a beginning for delegate.json, not a proof. Lines without a capability need a decision of yours.",
  options: [],
  positionals: [1, Number.POSITIVE_INFINITY],
  run: async ({ positionals }, output) => {
    const calls = positionals.flatMap((file) => portedCalls(textOf(file), file));
    if (calls.length === 0) {
      output.say("No call needs a capability: configuration, prevResult and result are records of the contract.");
      return exitCode.success;
    }
    const rows = calls.map(({ call, places, capability, hint }) => [call, places.join(" "), capability, hint] as const);
    const head = ["your plugin calls", "at", "capability", "in a delegate"] as const;
    const widths = [0, 1, 2].map((at) => Math.max(...[head, ...rows].map((row) => (row[at] ?? "").length)));
    for (const row of [head, ...rows])
      output.say(
        row
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join("  ")
          .trimEnd(),
      );
    const names = [...new Set(calls.map(({ capability }) => capability))].filter((name) => !declared.has(name));
    if (names.length > 0)
      output.say(`\nplexus-delegate new NAME ${names.join(" ")}\nWith --language go, code without these calls can stay in Go.`);
    return exitCode.success;
  },
};

function textOf(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new CommandError(readFailure(file, error, { front: "port: " }), exitCode.usage, { cause: error });
  }
}
