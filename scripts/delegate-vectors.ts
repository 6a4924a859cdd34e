// Writes the missing `.out.json` files of a delegate's vectors from the delegate's answers, as on a node. The author reviews and commits them.
// `node scripts/delegate-vectors.ts delegates/<name>`; with `--all`, existing files are written again.

import { writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { buildDelegate } from "../delegates/sdk/build/build-delegate.ts";
import { answerOnNode } from "../delegates/sdk/testing/answer-on-node.ts";
import { readVectors } from "../delegates/sdk/testing/vector.ts";

const [dir, ...flags] = process.argv.slice(2);
if (dir === undefined) throw new Error("give the delegate's directory: node scripts/delegate-vectors.ts delegates/<name>");
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
