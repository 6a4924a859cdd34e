import { expect, test } from "vitest";
import { describeVectors } from "../sdk/testing/vectors-of.ts";
import { vectorsWith } from "../sdk/testing/vectors-with.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-BOND-02", "mode"],
  ["DE-BOND-03", "links"],
  ["DE-BOND-04", "linksInContainer"],
  ["DE-BOND-05", "miimon"],
  ["DE-BOND-06", "failOverMac"],
  ["DE-BOND-07", "mtu"],
  ["DE-BOND-08", "allSlavesActive"],
  ["DE-BOND-09", "tlbDynamicLb"],
  ["DE-BOND-10", "xmitHashPolicy"],
  ["DE-BOND-11", "ipam"],
])("%s: a vector has the key %s", async (_row, key) => {
  expect(await vectorsWith(directory, key)).not.toEqual([]);
});
