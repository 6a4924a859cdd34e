// `plexus-delegate conformance`: holds a plugin against the CNI specification.

import type { Check, Outcome } from "../conformance/check.ts";
import type { Report } from "../conformance/report/report.ts";
import type { Setup } from "../conformance/setup.ts";
import type { Subject } from "../conformance/subject.ts";
import { type Command, CommandError, type CommandLine, exitCode, type ExitCode, type Output } from "./command.ts";
import { fileBytes, limitOptions, limitsOn, typeOf } from "./component-file.ts";
import { requireSandbox } from "./require-sandbox.ts";

/** Runs the checks. */
export const conformanceCommand: Command = {
  name: "conformance",
  summary: "Checks the component or the native CNI plugin FILE against the CNI specification, without root",
  usage: "FILE",
  details: `A component runs on a node in memory. A native plugin runs in user and network namespaces of its own; checks are skipped where these can't be
made. A valid configuration comes from --config, --request, conformance.json beside FILE or one directory above, or the vectors there.
Ends with 1 if a check fails.`,
  options: [
    { name: "config", value: "FILE", about: "a conformance.json: configuration, role, links of the node" },
    {
      name: "request",
      value: "FILE",
      about: "a valid configuration of the plugin, or a vector's .in.json with the node's state",
    },
    { name: "only", value: "IDS", about: "these checks only, separated by commas" },
    { name: "list", about: "prints the checks and runs none" },
    { name: "json", about: "prints a JSON document" },
    { name: "tap", about: "prints TAP, version 14" },
    { name: "junit", about: "prints JUnit XML" },
    ...limitOptions,
  ],
  positionals: [0, 1],
  run: async (line, output) => {
    const { catalogue } = await import("../conformance/catalogue.ts");
    const checks = checksOn(line, catalogue);
    const formats = ["json", "tap", "junit"].filter((name) => line.flags.has(name));
    if (formats.length > 1) throw new CommandError(`--${formats.join(" and --")}: choose one format`, exitCode.usage);
    if (line.flags.has("list")) {
      for (const { id, title } of checks) output.say(`${id.padEnd(6)}  ${title}`);
      return exitCode.success;
    }
    const [file] = line.positionals;
    if (file === undefined) throw new CommandError("conformance: an argument is missing: FILE", exitCode.usage);
    const bytes = fileBytes(file);
    const isComponent = bytes[0] === 0 && bytes[1] === 0x61 && bytes[2] === 0x73 && bytes[3] === 0x6d;
    return isComponent ? checkComponent(file, bytes, checks, line, output) : checkNative(file, checks, line, output);
  },
};

async function checkComponent(
  file: string,
  bytes: Uint8Array,
  checks: readonly Check[],
  line: CommandLine,
  output: Output,
): Promise<ExitCode> {
  requireSandbox();
  const { prepared } = await import("../component/run.ts");
  const { componentSubject } = await import("../conformance/component/component-subject.ts");
  const type = typeOf(file);
  const setup = await setupOn(line, file, type);
  const component = prepared({ type, bytes, granted: undefined, limits: await limitsOn(line) });
  if (!component.ok) throw new CommandError(component.fault.msg);
  return checkSubject(file, componentSubject(type, component.value), setup, checks, line, output);
}

async function checkNative(file: string, checks: readonly Check[], line: CommandLine, output: Output): Promise<ExitCode> {
  const { inOwnNamespaces } = await import("../conformance/native/own-namespaces.ts");
  const ended = await inOwnNamespaces();
  if (ended.kind === "ended") return ended.status;
  if (ended.kind === "refused") output.warn(`plexus-delegate: warning: ${ended.why}; checks that need them are skipped`);
  const { nativeSubject } = await import("../conformance/native/native-subject.ts");
  const { basename } = await import("node:path");
  const setup = await setupOn(line, file, basename(file));
  return checkSubject(file, nativeSubject(file, ended.kind === "refused" ? ended.why : undefined), setup, checks, line, output);
}

async function checkSubject(
  file: string,
  subject: Subject,
  setup: Setup,
  checks: readonly Check[],
  { flags }: CommandLine,
  output: Output,
): Promise<ExitCode> {
  const { Skip } = await import("../conformance/check.ts");
  const { runChecks } = await import("../conformance/run-checks.ts");
  const { countOf, summaryOf } = await import("../conformance/report/report.ts");
  const { humanLines } = await import("../conformance/report/human.ts");
  const isHuman = !["json", "tap", "junit"].some((name) => flags.has(name));
  const show = (outcome: Outcome): void => {
    if (isHuman) for (const shown of humanLines(outcome, output.colour)) output.say(shown);
  };
  const outcomes = await runChecks(subject, setup, checks, show).catch((error: unknown) => {
    if (error instanceof Skip) throw new CommandError(error.message, exitCode.machine, { cause: error });
    throw error;
  });
  const report: Report = { file, type: subject.type, kind: subject.kind, outcomes };
  output.say(isHuman ? summaryOf(report) : await documentOf(report, flags));
  return countOf(report, "failed") === 0 ? exitCode.success : exitCode.defect;
}

async function documentOf(report: Report, flags: ReadonlySet<string>): Promise<string> {
  if (flags.has("json")) return (await import("../conformance/report/json.ts")).jsonText(report);
  if (flags.has("tap")) return (await import("../conformance/report/tap.ts")).tapText(report);
  return (await import("../conformance/report/junit.ts")).junitText(report);
}

async function setupOn({ values }: CommandLine, file: string, type: string): Promise<Setup> {
  const { readSetup } = await import("../conformance/setup-file.ts");
  try {
    return await readSetup({ config: values.get("config"), request: values.get("request") }, file, type);
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error), exitCode.usage, { cause: error });
  }
}

/** The checks of `--only`, or all. Throws a CommandError for an unknown ID. */
function checksOn({ values }: CommandLine, catalogue: readonly Check[]): readonly Check[] {
  const only = values
    .get("only")
    ?.split(",")
    .map((id) => id.trim());
  if (only === undefined) return catalogue;
  const unknown = only.filter((id) => !catalogue.some((check) => check.id === id));
  if (unknown.length > 0)
    throw new CommandError(`--only: no check ${unknown.join(", ")} (plexus-delegate conformance --list)`, exitCode.usage);
  return catalogue.filter(({ id }) => only.includes(id));
}
