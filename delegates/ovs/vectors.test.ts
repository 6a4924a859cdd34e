import { expect, test } from "vitest";
import { describeVectors } from "../sdk/testing/vectors-of.ts";
import { vectorsWith } from "../sdk/testing/vectors-with.ts";

const directory = new URL("./", import.meta.url);
await describeVectors(directory);

test.each([
  ["DE-OVS-02", "bridge"],
  ["DE-OVS-03", "vlan"],
  ["DE-OVS-04", "trunk"],
  ["DE-OVS-05", "mtu"],
  ["DE-OVS-06", "ofport_request"],
  ["DE-OVS-07", "interface_type"],
  ["DE-OVS-08", "deviceID"],
  ["DE-OVS-09", "socket_file"],
  ["DE-OVS-09", "configuration_path"],
  ["DE-OVS-10", "link_state_check_retries"],
  ["DE-OVS-11", "ipam"],
  ["DE-OVS-12", "args"],
])("%s: a vector has the key %s", async (_row, key) => {
  expect(await vectorsWith(directory, key)).not.toEqual([]);
});
