import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { readVectors } from "../sdk/testing/vector.ts";
import { describeVectors } from "../sdk/testing/vectors-of.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-FIREWALL-02", "backend"],
  ["DE-FIREWALL-03", "iptablesAdminChainName"],
  ["DE-FIREWALL-04", "firewalldZone"],
  ["DE-FIREWALL-05", "ingressPolicy"],
])("%s: vectors have the key %s in an ADD that succeeds", async (_row, key) => {
  const vectors = await readVectors(join(fileURLToPath(directory), "vectors"));
  const having = vectors.filter(({ stdinText }) => stdinText.includes(`"${key}"`));
  expect(having.filter(({ answer }) => answer?.result !== undefined)).not.toEqual([]);
});
