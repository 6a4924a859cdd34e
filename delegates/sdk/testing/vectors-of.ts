// Declares the tests of a delegate's vectors: a test file only calls `describeVectors("…/delegates/<name>/")`.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { buildDelegate } from "../build/build-delegate.ts";
import { answerOnNode } from "./answer-on-node.ts";
import { comparable } from "./run-vectors.ts";
import { readVectors } from "./vector.ts";

/** One test for each vector of the delegate in a directory, as on a node. Call it with `await` at the top. */
export async function describeVectors(directory: URL): Promise<void> {
  const dir = fileURLToPath(directory);
  const vectors = await readVectors(join(dir, "vectors"));
  describe("vectors", () => {
    let component: Uint8Array;
    beforeAll(async () => {
      const out = await mkdtemp(join(tmpdir(), "plexus-vectors-"));
      component = (await buildDelegate({ dir, outFile: join(out, "delegate.wasm") })).bytes;
      await rm(out, { recursive: true });
    });

    test.each(vectors.map((vector) => [vector.name, vector.about, vector] as const))("%s: %s", async (_name, _about, vector) => {
      const expected = vector.answer;
      const write = `node scripts/delegate-vectors.ts ${relative(process.cwd(), dir)}`;
      if (expected === null)
        throw new Error(`vectors/${vector.name}.out.json is missing: ${write} writes what the delegate answers`);
      expect(comparable(await answerOnNode(vector, component), expected)).toEqual(expected);
    });
  });
}
