// `plexus-delegate inspect`: what a component is, and what a node would refuse.

import { inertLine } from "../../../src/text/inert-text.ts";
import type { Inspection } from "../component/inspect.ts";
import { type Command, CommandError, exitCode } from "./command.ts";
import { fileBytes, limitOptions, limitsOn, typeOf } from "./component-file.ts";
import { requireSandbox } from "./require-sandbox.ts";

/** Maximum UTF-16 units of a printed line. */
const maxLine = 2000;

/** Inspects a component. */
export const inspectCommand: Command = {
  name: "inspect",
  summary: "Shows imports, exports, declaration and digest of the component FILE, and what a node would refuse",
  usage: "FILE",
  details:
    "The code that admits a component on a node decides, with the default limits and without a node's grants. Ends with 1 if a node refuses it.",
  options: [{ name: "output", short: "o", value: "FORM", about: "json or yaml; default: text" }, ...limitOptions],
  positionals: [1, 1],
  run: async (line, output) => {
    requireSandbox();
    const { inspectComponent } = await import("../component/inspect.ts");
    const [file = ""] = line.positionals;
    const form = line.values.get("output") ?? "text";
    const inspection = inspectComponent(file, fileBytes(file), await limitsOn(line));
    const warning = nameWarning(file, inspection);
    if (warning !== undefined) output.warn(`plexus-delegate: warning: ${warning}`);
    if (form === "json") output.say(JSON.stringify(inspection, undefined, 2));
    else if (form === "yaml") output.say((await import("yaml")).stringify(inspection).trimEnd());
    else if (form === "text") for (const each of textOf(inspection)) output.say(inertLine(each, maxLine));
    else throw new CommandError(`inspect: --output: ${form} is none of json, yaml, text`, exitCode.usage);
    return inspection.loads ? exitCode.success : exitCode.defect;
  },
};

function nameWarning(file: string, { delegate }: Inspection): string | undefined {
  if (delegate === null || typeOf(file) === delegate.name) return undefined;
  return `${file} declares the name ${delegate.name}, but a configuration refers to it by its file name, ${typeOf(file)}`;
}

function textOf(inspection: Inspection): readonly string[] {
  const { file, bytes, digest, delegate, abi, imports, exports, capabilities, limits, problem } = inspection;
  return [
    `${file}: ${problem === null ? "a node would run it" : "a node would refuse it"}`,
    ...(problem === null ? [] : [`  Refused [${problem.kind}]: ${problem.msg}`, `  To do: ${problem.remedy}`]),
    `  Size: ${bytes} bytes (at most ${limits.componentBytes})`,
    `  Digest: ${digest}`,
    ...(delegate === null
      ? ["  Declaration: none (plexus-delegate annotate writes it)"]
      : [
          `  Declaration: ${delegate.name} ${delegate.version}, ABI ${delegate.abi}: ${delegate.about}`,
          `  CNI versions: ${delegate.cniVersions.join(", ")}`,
        ]),
    `  WIT version: ${abi.length === 0 ? "none" : abi.map((each) => `cni:delegate@${each}`).join(", ")}`,
    `  Imports: ${imports.length === 0 ? "none" : imports.join(", ")}`,
    `  Exports: ${exports.length === 0 ? "none" : exports.join(", ")}`,
    ...(capabilities.length === 0 ? ["  Capabilities: none"] : ["  Capabilities:"]),
    ...capabilities.map(
      ({ name, reason, imported, optional }) =>
        `    ${name}${optional ? " (optional)" : ""}${imported ? "" : " (not used)"}: ${reason}`,
    ),
    `  Limits of a call: ${limits.timeMs} ms, ${limits.memoryPages / 16} MiB of memory, ${limits.inputBytes} bytes in, ${limits.outputBytes} bytes out, ${limits.logBytes} bytes of log, ${limits.importCalls} imports`,
  ];
}
