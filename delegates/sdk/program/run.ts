// `plexus-delegate run`: one call of a component on a simulated node.

import { readFileSync } from "node:fs";
import { type Command, CommandError, exitCode } from "./command.ts";
import { fileBytes, limitOptions, limitsOn, typeOf } from "./component-file.ts";
import type { RecordedCall } from "../component/recorded-calls.ts";
import { usageLines } from "./usage-lines.ts";
import { grantsOn, requestOn, requestOptions, verbOf } from "./request-input.ts";
import { readFailure } from "./read-failure.ts";
import { requireSandbox } from "./require-sandbox.ts";
import { writeNamedFile } from "./write-file.ts";

/** Runs one call. */
export const runCommand: Command = {
  name: "run",
  summary: "Calls VERB of the component FILE with the request on stdin, and prints the answer of a node",
  usage: "FILE VERB",
  details: `The request is a network configuration with cniVersion, name and type, as a runtime sends it, or a vector's .in.json. The component runs in
the sandbox of a node, within its limits, on a node in memory: nothing of this machine changes. stdout has the result or the CNI error; stderr
has the log. Ends with 1 if the answer is an error.`,
  options: [
    ...requestOptions,
    { name: "report", about: "prints time, memory, input, output, log and imports against their limits to stderr" },
    { name: "fuel", about: "prints the amount of executed code to stderr: an estimate for comparisons, which no node enforces" },
    {
      name: "profile",
      value: "FILE",
      about: "repeats the call for a second and writes a .cpuprofile, which speedscope and Chrome's DevTools open",
    },
    { name: "log", value: "FILE", about: "writes the whole log; stderr has its first lines" },
    { name: "record", value: "FILE", about: "writes the calls of imports with their answers" },
    {
      name: "replay",
      value: "FILE",
      about: "answers imports from a file that --record wrote; a call that differs breaks the run",
    },
    ...limitOptions,
  ],
  positionals: [2, 2],
  run: async (line, output) => {
    requireSandbox();
    const { prepared, refusedRun, cniVersionOf } = await import("../component/run.ts");
    const { logExcerpt } = await import("../testing/log-excerpt.ts");
    const { recordedCalls, recordedText, recordingTo, replayOf } = await import("../component/recorded-calls.ts");
    const [file = "", verbText = ""] = line.positionals;
    const verb = verbOf(verbText);
    const bytes = fileBytes(file);
    const limits = await limitsOn(line);
    const vector = await requestOn(line.values, verb);
    const recorded: RecordedCall[] = [];
    const recordTo = line.values.get("record");
    const replayFrom = line.values.get("replay");
    const replay = replayFrom === undefined ? undefined : replayOf(callsIn(replayFrom, recordedCalls));
    const answer = replay?.answer ?? recordingTo(recorded);
    const profileTo = line.values.get("profile");
    const aids = { countsFuel: line.flags.has("fuel"), keepsNames: profileTo !== undefined };
    const component = prepared({ type: typeOf(file), bytes, granted: grantsOn(line.values), limits, ...aids });
    const run = !component.ok
      ? refusedRun(component.fault, cniVersionOf(vector))
      : verb === "VERSION"
        ? component.value.version()
        : component.value.call(vector, answer);
    if (recordTo !== undefined) writeNamedFile(recordTo, recordedText(recorded));
    const left = replay?.left() ?? 0;
    if (run.succeeded && left > 0) throw new CommandError(`--replay: ${left} recorded calls were not made`);
    const logTo = line.values.get("log");
    if (logTo !== undefined) writeNamedFile(logTo, run.log.map((each) => `${each}\n`).join(""));
    for (const each of logExcerpt(run.log, logTo ?? "--log=FILE writes the whole log")) output.warn(each);
    if (run.stdout !== "") output.say(run.stdout);
    if (line.flags.has("report") && run.usage !== undefined)
      for (const each of usageLines(run.usage, limits, output.colour)) output.warn(each);
    if (line.flags.has("fuel")) output.warn(fuelLine(run.usage?.fuel));
    if (profileTo !== undefined) {
      if (!component.ok || verb === "VERSION") throw new CommandError("--profile: the component was not called");
      const { profileOf } = await import("../component/profile.ts");
      const { calls, text } = await profileOf(() => component.value.call(vector));
      writeNamedFile(profileTo, text);
      output.warn(`${profileTo}: ${calls} calls; open it with https://www.speedscope.app or Chrome's DevTools`);
    }
    return run.succeeded ? exitCode.success : exitCode.defect;
  },
};

function fuelLine(fuel: number | undefined): string {
  const used = fuel === undefined ? "unknown (the component gave no answer)" : `${fuel} bytes of entered functions and loops`;
  return `  fuel       ${used}; an estimate, not enforced`;
}

function callsIn(file: string, parse: (text: string) => readonly RecordedCall[]): readonly RecordedCall[] {
  try {
    return parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CommandError(readFailure(file, error, { front: "--replay: " }), exitCode.usage, { cause: error });
  }
}
