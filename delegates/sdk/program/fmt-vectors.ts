// `plexus-delegate fmt-vectors`: writes the answers of vectors, which the author reads and commits.

import { writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { type Command, exitCode } from "./command.ts";
import { limitOptions, limitsOn } from "./component-file.ts";
import { buildDirectory, buildOptions } from "./delegate-directory.ts";
import { requireSandbox } from "./require-sandbox.ts";

/** Writes the missing `.out.json` files. */
export const fmtVectorsCommand: Command = {
  name: "fmt-vectors",
  summary: "Writes the missing vectors/NAME.out.json from the delegate's answers",
  usage: "[DIR]",
  details: "Read the written files before you commit them: they are what the delegate answers, not what it should answer.",
  options: [...buildOptions, ...limitOptions, { name: "all", about: "writes the existing files again, too" }],
  positionals: [0, 1],
  run: async (line, output) => {
    requireSandbox();
    const { answerOnNode } = await import("../testing/answer-on-node.ts");
    const { readVectors } = await import("../testing/vector.ts");
    const { bytes, dir } = await buildDirectory(line, output);
    const limits = await limitsOn(line);
    let failed = 0;
    for (const vector of await readVectors(join(dir, "vectors"))) {
      if (vector.answer !== null && !line.flags.has("all")) continue;
      const answered = await answerOnNode(vector, bytes, limits).catch((error: unknown) => {
        output.warn(`plexus-delegate: ${error instanceof Error ? error.message : String(error)}`);
        failed += 1;
      });
      if (answered === undefined) continue;
      const { log, ...answer } = answered;
      const file = join(dir, "vectors", `${vector.name}.out.json`);
      await writeFile(file, `${JSON.stringify(log?.length === 0 ? answer : { ...answer, log }, null, 2)}\n`);
      output.say(`${relative(process.cwd(), file)}\n  ${JSON.stringify(answer)}`);
    }
    return failed === 0 ? exitCode.success : exitCode.defect;
  },
};
