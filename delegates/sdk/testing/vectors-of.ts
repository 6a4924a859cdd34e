// Declares the tests of a delegate's vectors: `describeVectors("…/delegates/<name>/")` is all that a test file needs.

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import { buildDelegate } from "../build/build-delegate.ts";
import { runInJco } from "./run-in-jco.ts";
import { answerOf, comparable } from "./run-vectors.ts";
import { readVectors } from "./vector.ts";

/** One test for each vector of the delegate in a directory, through the oracle. Call it with `await` at the top. */
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
      const expected = vector.answer ?? {};
      expect(vector.answer).not.toBeNull();
      expect(comparable(await answerOf(vector, component, runInJco), expected)).toEqual(expected);
    });
  });
}
