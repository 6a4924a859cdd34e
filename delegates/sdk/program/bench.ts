// `plexus-delegate bench`: the time of a component's calls, with percentiles and a baseline.

import { readFileSync } from "node:fs";
import { type Command, CommandError, exitCode } from "./command.ts";
import { fileBytes, limitOptions, limitsOn, numberOf, typeOf } from "./component-file.ts";
import { grantsOn, requestOn, requestOptions, verbOf } from "./request-input.ts";
import { readFailure } from "./read-failure.ts";
import { requireSandbox } from "./require-sandbox.ts";
import { writeNamedFile } from "./write-file.ts";
import type { Bench } from "../component/bench.ts";

/** Measures calls. */
export const benchCommand: Command = {
  name: "bench",
  summary: "Measures calls of VERB (default: ADD) of the component FILE with the request on stdin",
  usage: "FILE [VERB]",
  details: `Each call has a fresh instance and a fresh node in memory. The times have no sandbox process and no disk in them: compare them with each
other only. With --baseline, ends with 1 if the median is more than --tolerance percent above the baseline's.`,
  options: [
    ...requestOptions,
    { name: "calls", value: "N", about: "measured calls; default: 500" },
    { name: "warm-up", value: "N", about: "calls before the measured ones; default: 100" },
    { name: "save", value: "FILE", about: "writes the figures as JSON" },
    { name: "baseline", value: "FILE", about: "compares with figures that --save wrote" },
    { name: "tolerance", value: "PERCENT", about: "for --baseline; default: 20" },
    ...limitOptions,
  ],
  positionals: [1, 2],
  run: async (line, output) => {
    requireSandbox();
    const { prepared } = await import("../component/run.ts");
    const { measure } = await import("../component/bench.ts");
    const [file = "", verbText = "ADD"] = line.positionals;
    const verb = verbOf(verbText);
    if (verb === "VERSION") throw new CommandError("bench: a node answers VERSION without a call", exitCode.usage);
    const bytes = fileBytes(file);
    const vector = await requestOn(line.values, verb);
    const component = prepared({ type: typeOf(file), bytes, granted: grantsOn(line.values), limits: await limitsOn(line) });
    if (!component.ok) throw new CommandError(component.fault.msg);
    const bench = measure(component.value, vector, {
      warmUp: numberOf(line, "warm-up") ?? 100,
      calls: numberOf(line, "calls") ?? 500,
    });
    output.say(`${bench.calls} calls of ${verb}: ${shown(bench)}, ${bench.memoryBytes} bytes of memory`);
    const saveTo = line.values.get("save");
    if (saveTo !== undefined) writeNamedFile(saveTo, `${JSON.stringify(bench, undefined, 2)}\n`);
    const baseFile = line.values.get("baseline");
    if (baseFile === undefined) return exitCode.success;
    const base = baselineIn(baseFile);
    const percent = (bench.p50Us / base.p50Us - 1) * 100;
    const tolerance = numberOf(line, "tolerance") ?? 20;
    const isSlower = percent > tolerance;
    output.say(
      `baseline: ${shown(base)}; the median is ${percent >= 0 ? "+" : ""}${percent.toFixed(1)} % (at most +${tolerance} %)${isSlower ? ": SLOWER" : ""}`,
    );
    return isSlower ? exitCode.defect : exitCode.success;
  },
};

function shown({ p50Us, p90Us, p99Us, maxUs }: Bench): string {
  return `p50 ${p50Us} us, p90 ${p90Us} us, p99 ${p99Us} us, max ${maxUs} us`;
}

function baselineIn(file: string): Bench {
  const mistake = (why: string, cause?: unknown) => new CommandError(`--baseline: ${file}: ${why}`, exitCode.usage, { cause });
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(file, "utf8"));
  } catch (error) {
    throw new CommandError(readFailure(file, error, { front: "--baseline: " }), exitCode.usage, { cause: error });
  }
  if (typeof value !== "object" || value === null) throw mistake("must be an object that --save wrote");
  const number = (key: keyof Bench): number => {
    const found: unknown = Reflect.get(value, key);
    if (typeof found !== "number" || !(found > 0)) throw mistake(`${key}: must be a number above 0`);
    return found;
  };
  return {
    calls: number("calls"),
    p50Us: number("p50Us"),
    p90Us: number("p90Us"),
    p99Us: number("p99Us"),
    maxUs: number("maxUs"),
    memoryBytes: number("memoryBytes"),
  };
}
