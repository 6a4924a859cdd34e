import { expect, test } from "vitest";
import { describeVectors } from "../sdk/testing/vectors-of.ts";
import { vectorsWith } from "../sdk/testing/vectors-with.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-VLAN-02", "master"],
  ["DE-VLAN-03", "vlanId"],
  ["DE-VLAN-04", "mtu"],
  ["DE-VLAN-05", "ipam"],
  ["DE-VLAN-06", "dns"],
  ["DE-VLAN-07", "linkInContainer"],
])("%s: a vector has the key %s", async (_row, key) => {
  expect(await vectorsWith(directory, key)).not.toEqual([]);
});
