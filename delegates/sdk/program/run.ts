// `plexus-delegate run`: one call of a component on a simulated node.

import { inertLine } from "../../../src/text/inert-text.ts";
import { type Command, exitCode } from "./command.ts";
import { fileBytes, limitOptions, limitsOn, typeOf } from "./component-file.ts";
import { usageLines } from "./usage-lines.ts";
import { grantsOn, requestOn, requestOptions, verbOf } from "./request-input.ts";
import { requireSandbox } from "./require-sandbox.ts";

/** Maximum UTF-16 units of a printed line of log. */
const maxLine = 4000;

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
    ...limitOptions,
  ],
  positionals: [2, 2],
  run: async (line, output) => {
    requireSandbox();
    const { prepared, refusedRun, cniVersionOf } = await import("../component/run.ts");
    const [file = "", verbText = ""] = line.positionals;
    const verb = verbOf(verbText);
    const bytes = fileBytes(file);
    const limits = await limitsOn(line);
    const vector = await requestOn(line.values, verb);
    const component = prepared({ type: typeOf(file), bytes, granted: grantsOn(line.values), limits });
    const run = !component.ok
      ? refusedRun(component.fault, cniVersionOf(vector))
      : verb === "VERSION"
        ? component.value.version()
        : component.value.call(vector);
    for (const each of run.log) output.warn(inertLine(each, maxLine));
    if (run.stdout !== "") output.say(run.stdout);
    if (line.flags.has("report") && run.usage !== undefined)
      for (const each of usageLines(run.usage, limits, output.colour)) output.warn(each);
    return run.succeeded ? exitCode.success : exitCode.defect;
  },
};
