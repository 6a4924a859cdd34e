import { expect, test } from "vitest";
import { describeVectors } from "../sdk/testing/vectors-of.ts";
import { vectorsWith } from "../sdk/testing/vectors-with.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-TAP-02", "mac"],
  ["DE-TAP-03", "mtu"],
  ["DE-TAP-04", "multiQueue"],
  ["DE-TAP-05", "owner"],
  ["DE-TAP-06", "group"],
  ["DE-TAP-07", "selinuxContext"],
  ["DE-TAP-08", "bridge"],
  ["DE-TAP-09", "ipam"],
  ["DE-TAP-10", "dns"],
])("%s: a vector has the key %s", async (_row, key) => {
  expect(await vectorsWith(directory, key)).not.toEqual([]);
});
