// Writes the missing `.out.json` of a delegate's vectors from what it answers as on a node, for the author to read and
// commit: `node scripts/delegate-vectors.ts delegates/<name>`; `--all` writes those that are there again, too.

import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildDelegate } from "../delegates/sdk/build/build-delegate.ts";
import { answerOnNode } from "../delegates/sdk/testing/answer-on-node.ts";
import { readVectors } from "../delegates/sdk/testing/vector.ts";

const [dir, ...flags] = process.argv.slice(2);
if (dir === undefined) throw new Error("name a delegate's directory");
let failed = 0;
const outFile = resolve("dist/delegates", `${resolve(dir).split("/").at(-1)}.wasm`);
const { bytes } = await buildDelegate({ dir, outFile });
for (const vector of await readVectors(join(dir, "vectors"))) {
  if (vector.answer !== null && !flags.includes("--all")) continue;
  const answered = await answerOnNode(vector, bytes).catch((error: unknown) => {
    process.stderr.write(`plexus: ${error instanceof Error ? error.message : String(error)}\n`);
    failed += 1;
  });
  if (answered === undefined) continue;
  const { log, ...answer } = answered;
  const file = join(dir, "vectors", `${vector.name}.out.json`);
  await writeFile(file, `${JSON.stringify(log?.length === 0 ? answer : { ...answer, log }, null, 2)}\n`);
  console.log(`${file}\n  ${JSON.stringify(answer)}`);
}
if (failed > 0) process.exitCode = 1;
