// `plexus-delegate test`: builds a delegate and runs its vectors in the sandbox of a node.

import { join, relative } from "node:path";
import { type Command, CommandError, exitCode, type Output } from "./command.ts";
import { limitOptions, limitsOn } from "./component-file.ts";
import { buildDirectory, buildOptions } from "./delegate-directory.ts";
import { namedVectors } from "./named-vectors.ts";
import { requireSandbox } from "./require-sandbox.ts";
import type { VectorReport } from "../testing/check-vectors.ts";

/** Runs the vectors of one delegate. */
export const testCommand: Command = {
  name: "test",
  summary: "Builds the delegate in DIR and runs its vectors, or only those named",
  usage: "[DIR] [VECTOR ...]",
  details: `A vector is vectors/NAME.in.json with vectors/NAME.out.json. It runs in the sandbox of a node, within its limits, and needs
neither root nor a cluster. To name vectors in the current directory, give "." as DIR.`,
  options: [...buildOptions, ...limitOptions],
  positionals: [0, Number.POSITIVE_INFINITY],
  run: async (line, output) => {
    requireSandbox();
    const { checkVector } = await import("../testing/check-vectors.ts");
    const { readVectors } = await import("../testing/vector.ts");
    const { bytes, dir, outFile } = await buildDirectory(line, output);
    const vectors = namedVectors(await readVectors(join(dir, "vectors")), line.positionals.slice(1), dir);
    const limits = await limitsOn(line);
    const reports: VectorReport[] = [];
    for (const vector of vectors) {
      const report = await checkVector(vector, bytes, limits);
      reports.push(report);
      print(report, output);
    }
    if (reports.length === 0) throw new CommandError(`${join(dir, "vectors")} has no vectors: add a NAME.in.json`);
    const failed = reports.filter(({ lines }) => lines.length > 0).length;
    const component = `${relative(process.cwd(), outFile)}, ${(bytes.length / 1024).toFixed(1)} KiB`;
    if (reports.some(({ lines }) => lines.some((each) => each.includes(": expected "))))
      output.say("If the new answers are right: plexus-delegate fmt-vectors --update writes them and prints each difference");
    output.say(`${reports.length - failed} passed, ${failed} failed: ${component}`);
    return failed === 0 ? exitCode.success : exitCode.defect;
  },
};

function print({ name, about, lines, ms }: VectorReport, { say, colour }: Output): void {
  const passed = lines.length === 0;
  const mark = passed ? "ok  " : "FAIL";
  const shown = colour ? `\u001b[${passed ? 32 : 31}m${mark}\u001b[0m` : mark;
  say(`${shown} ${name}: ${about} (${ms.toFixed(0)} ms)`);
  for (const line of lines) say(`       ${line.replaceAll("\n", "\n       ")}`);
}
