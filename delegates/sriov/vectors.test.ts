import { expect, test } from "vitest";
import { describeVectors } from "../sdk/testing/vectors-of.ts";
import { vectorsWith } from "../sdk/testing/vectors-with.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-SRIOV-02", "deviceID"],
  ["DE-SRIOV-03", "vlan"],
  ["DE-SRIOV-04", "vlanQoS"],
  ["DE-SRIOV-05", "vlanProto"],
  ["DE-SRIOV-06", "mac"],
  ["DE-SRIOV-07", "spoofchk"],
  ["DE-SRIOV-08", "trust"],
  ["DE-SRIOV-09", "link_state"],
  ["DE-SRIOV-10", "min_tx_rate"],
  ["DE-SRIOV-11", "max_tx_rate"],
  ["DE-SRIOV-12", "ipam"],
  ["DE-SRIOV-13", "runtimeConfig"],
  ["DE-SRIOV-14", "dns"],
  ["DE-SRIOV-15", "logLevel"],
])("%s: a vector has the key %s", async (_row, key) => {
  expect(await vectorsWith(directory, key)).not.toEqual([]);
});

test("DE-SRIOV-16: vectors have functions of drivers of user space", async () => {
  expect(await vectorsWith(directory, "deviceID")).toContain("14-adds-a-dpdk-device");
});
