import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readVectors } from "../sdk/testing/vector.ts";
import { describeVectors } from "../sdk/testing/vectors-of.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-BANDWIDTH-02", "ingressRate"],
  ["DE-BANDWIDTH-03", "ingressBurst"],
  ["DE-BANDWIDTH-04", "egressRate"],
  ["DE-BANDWIDTH-05", "egressBurst"],
  ["DE-BANDWIDTH-06", "shapedSubnets"],
  ["DE-BANDWIDTH-07", "unshapedSubnets"],
  ["DE-BANDWIDTH-08", "runtimeConfig"],
])("%s: vectors have the key %s in an ADD that succeeds", async (_row, key) => {
  const vectors = await readVectors(join(fileURLToPath(directory), "vectors"));
  const having = vectors.filter(({ stdinText }) => stdinText.includes(`"${key}"`));
  expect(having.filter(({ answer }) => answer?.result !== undefined)).not.toEqual([]);
});
