// The entry of the package `plexus-delegate`: `npx plexus-delegate` outside of a project. It makes a delegate, and starts the kit of a project.

import { spawnSync } from "node:child_process";
import { version } from "../../../host/system/version.ts";
import { type Command, CommandError, exitCode } from "../program/command.ts";
import { newCommand } from "../program/new.ts";
import { runProgram } from "../program/run-program.ts";
import { kitProgram } from "./find-kit.ts";

/** The kit's other commands, which work in a delegate's repository, or on a file anywhere. */
const others = ["build", "test", "fmt-vectors", "port", "annotate", "inspect", "run", "bench", "conformance"] as const;

const missing = (name: string): Command => ({
  name,
  summary: "Needs the kit: npm install in a delegate's directory",
  usage: "[ARGUMENTS]",
  options: [],
  positionals: [0, Number.POSITIVE_INFINITY],
  run: async () => {
    throw new CommandError(
      `${name}: neither ${process.cwd()} nor a directory above has the kit. To do: run it in a delegate's directory after npm install, or npx @plexus-cni/sdk ${name} ...`,
      exitCode.machine,
    );
  },
});

const args = process.argv.slice(2);
const kit = kitProgram(process.cwd());
if (kit === undefined) {
  const [name = ""] = args;
  // The other commands have options of which this package knows nothing.
  const line = others.some((each) => each === name) ? [name] : args;
  process.exitCode = await runProgram({ commands: [newCommand, ...others.map(missing)], version }, line, {
    say: (text) => void process.stdout.write(`${text}\n`),
    warn: (text) => void process.stderr.write(`${text}\n`),
    colour: false,
  });
} else {
  const { status, error } = spawnSync(process.execPath, [kit, ...args], { stdio: "inherit" });
  if (error !== undefined) process.stderr.write(`plexus-delegate: ${kit} does not start: ${error.message}\n`);
  process.exitCode = status ?? exitCode.machine;
}
