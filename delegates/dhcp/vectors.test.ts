import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readVectors } from "../sdk/testing/vector.ts";
import { describeVectors } from "../sdk/testing/vectors-of.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-DHCP-02", "request"],
  ["DE-DHCP-03", "skipDefault"],
  ["DE-DHCP-04", "provide"],
  ["DE-DHCP-05", "fromArg"],
  ["DE-DHCP-06", "priority"],
  ["DE-DHCP-07", "daemonSocketPath"],
])("%s: a vector has the key %s of ipam", async (_row, key) => {
  const vectors = await readVectors(join(fileURLToPath(directory), "vectors"));
  expect(vectors.filter(({ stdinText }) => stdinText.includes(`"${key}"`))).not.toEqual([]);
});
