// Writes the missing `.out.json` of a delegate's vectors from what the oracle answers, for the author to read and
// commit: `node scripts/delegate-vectors.ts delegates/<name>`; `--all` writes those that are there again, too.

import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildDelegate } from "../delegates/sdk/build/build-delegate.ts";
import { runInJco } from "../delegates/sdk/testing/run-in-jco.ts";
import { answerOf } from "../delegates/sdk/testing/run-vectors.ts";
import { readVectors } from "../delegates/sdk/testing/vector.ts";

const [dir, ...flags] = process.argv.slice(2);
if (dir === undefined) throw new Error("name a delegate's directory");
const outFile = resolve("dist/delegates", `${resolve(dir).split("/").at(-1)}.wasm`);
const { bytes } = await buildDelegate({ dir, outFile });
for (const vector of await readVectors(join(dir, "vectors"))) {
  if (vector.answer !== null && !flags.includes("--all")) continue;
  const { log, ...answer } = await answerOf(vector, bytes, runInJco);
  const file = join(dir, "vectors", `${vector.name}.out.json`);
  await writeFile(file, `${JSON.stringify(log?.length === 0 ? answer : { ...answer, log }, null, 2)}\n`);
  console.log(`${file}\n  ${JSON.stringify(answer)}`);
}
