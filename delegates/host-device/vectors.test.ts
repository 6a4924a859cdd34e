import { expect, test } from "vitest";
import { describeVectors } from "../sdk/testing/vectors-of.ts";
import { vectorsWith } from "../sdk/testing/vectors-with.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-HOST-DEVICE-02", "device"],
  ["DE-HOST-DEVICE-03", "hwaddr"],
  ["DE-HOST-DEVICE-04", "kernelpath"],
  ["DE-HOST-DEVICE-05", "pciBusID"],
  ["DE-HOST-DEVICE-06", "runtimeConfig"],
  ["DE-HOST-DEVICE-07", "ipam"],
  ["DE-HOST-DEVICE-09", "dns"],
])("%s: a vector has the key %s", async (_row, key) => {
  expect(await vectorsWith(directory, key)).not.toEqual([]);
});

test("DE-HOST-DEVICE-08: vectors have devices of drivers of user space", async () => {
  expect(await vectorsWith(directory, "pciBusID")).toContain("09-adds-a-dpdk-device");
});
