import { expect, test } from "vitest";
import { describeVectors } from "../sdk/testing/vectors-of.ts";
import { vectorsWith } from "../sdk/testing/vectors-with.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([["DE-DUMMY-02", "ipam"]])("%s: a vector has the key %s", async (_row, key) => {
  expect(await vectorsWith(directory, key)).not.toEqual([]);
});
