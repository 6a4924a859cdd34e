import { expect, test } from "vitest";
import { describeVectors } from "../sdk/testing/vectors-of.ts";
import { vectorsWith } from "../sdk/testing/vectors-with.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-IPVLAN-02", "master"],
  ["DE-IPVLAN-03", "mode"],
  ["DE-IPVLAN-04", "mtu"],
  ["DE-IPVLAN-05", "ipam"],
  ["DE-IPVLAN-06", "linkInContainer"],
  ["DE-IPVLAN-07", "dns"],
])("%s: a vector has the key %s", async (_row, key) => {
  expect(await vectorsWith(directory, key)).not.toEqual([]);
});
