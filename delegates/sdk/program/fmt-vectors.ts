// `plexus-delegate fmt-vectors`: writes the answers of vectors, which the author reads and commits.

import { writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Command, exitCode } from "./command.ts";
import { limitOptions, limitsOn } from "./component-file.ts";
import { buildDirectory, buildOptions } from "./delegate-directory.ts";
import { namedVectors } from "./named-vectors.ts";
import { requireSandbox } from "./require-sandbox.ts";
import { differences } from "../testing/differences.ts";
import type { VectorAnswer } from "../testing/vector.ts";

/** Writes the missing `.out.json` files, and renews the others on request. */
export const fmtVectorsCommand: Command = {
  name: "fmt-vectors",
  summary: "Writes the missing vectors/NAME.out.json from the delegate's answers",
  usage: "[DIR] [VECTOR ...]",
  details: `Read the written files before you commit them: they are what the delegate answers, not what it should answer. --update prints each
difference that it writes. To name vectors in the current directory, give "." as DIR.`,
  options: [...buildOptions, ...limitOptions, { name: "update", about: "renews existing answers that differ, too" }],
  positionals: [0, Number.POSITIVE_INFINITY],
  run: async (line, output) => {
    requireSandbox();
    const { answerOnNode } = await import("../testing/answer-on-node.ts");
    const { readVectors } = await import("../testing/vector.ts");
    const { bytes, dir } = await buildDirectory(line, output);
    const limits = await limitsOn(line);
    const vectors = namedVectors(await readVectors(join(dir, "vectors")), line.positionals.slice(1), dir);
    let failed = 0;
    let same = 0;
    for (const vector of vectors) {
      if (vector.answer !== null && !line.flags.has("update")) continue;
      const answered = await answerOnNode(vector, bytes, limits).catch((error: unknown) => {
        output.warn(`plexus-delegate: ${error instanceof Error ? error.message : String(error)}`);
        failed += 1;
      });
      if (answered === undefined) continue;
      const written = writtenForm(answered, vector.answer);
      const changes = vector.answer === null ? [] : differences(vector.answer, written);
      if (vector.answer !== null && changes.length === 0) {
        same += 1;
        continue;
      }
      const file = join(dir, "vectors", `${vector.name}.out.json`);
      await writeFile(file, `${JSON.stringify(written, null, 2)}\n`);
      const { log: _, ...shown } = written;
      output.say(`${relative(process.cwd(), file)}`);
      if (vector.answer === null) output.say(`  ${JSON.stringify(shown)}`);
      for (const change of changes)
        output.say(`  ${change.replace(": expected ", ": was ").replace(", answered ", ", is now ")}`);
    }
    const existing = vectors.filter(({ answer }) => answer !== null).length;
    if (line.flags.has("update")) output.say(`${same} of ${vectors.length} answers stay`);
    else if (existing > 0)
      output.say(
        `${existing} of ${vectors.length} vectors had an answer, which was not compared: --update renews those that differ`,
      );
    return failed === 0 ? exitCode.success : exitCode.defect;
  },
};

/** The answer as its file has it: without an empty log, and without a log that the file leaves out on purpose. */
function writtenForm({ log, ...answer }: VectorAnswer, earlier: VectorAnswer | null): VectorAnswer {
  const hasLog = earlier === null ? (log?.length ?? 0) > 0 : earlier.log !== undefined;
  return JSON.parse(JSON.stringify(hasLog ? { ...answer, log } : answer));
}
