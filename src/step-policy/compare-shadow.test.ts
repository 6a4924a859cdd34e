import { expect, test } from "vitest";
import type { CniResult } from "../cni/result.ts";
import { effectDifferences, ipamDifferences, stepDifferences } from "./compare-shadow.ts";

const result: CniResult = {
  cniVersion: "1.0.0",
  interfaces: [{ name: "eth0", mac: "02:00:00:00:00:01" }],
  ips: [{ address: "10.1.0.5/24", gateway: "10.1.0.1", interface: 0 }],
  routes: [{ dst: "0.0.0.0/0", gw: "10.1.0.1" }, { dst: "10.9.0.0/16" }],
};

test("X-2: equal results have no difference, whatever version they were printed in", () => {
  expect(stepDifferences(result, { ...structuredClone(result), cniVersion: "1.1.0" })).toEqual([]);
});

test("X-2: a difference has its JSON pointer, the native value and the shadow's", () => {
  const other = { ...result, ips: [{ address: "10.1.0.6/24", gateway: "10.1.0.1", interface: 0 }] };
  expect(stepDifferences(result, other)).toEqual([
    { op: "replace", path: "/ips/0/address", before: "10.1.0.5/24", value: "10.1.0.6/24" },
  ]);
  const dns = { nameservers: ["10.1.0.1"], search: [], options: [] };
  expect(stepDifferences(result, { ...result, dns })).toMatchObject([{ op: "add", path: "/dns" }]);
});

test("X-2: an IPAM shadow is compared with the addresses and routes of the main plugin's result", () => {
  const ipam: CniResult = {
    cniVersion: "1.0.0",
    interfaces: [],
    ips: [{ address: "10.1.0.5/24", gateway: "10.1.0.1" }],
    routes: [{ dst: "10.9.0.0/16" }],
    dns: { nameservers: ["10.1.0.9"], search: [], options: [] },
  };
  expect(ipamDifferences(result, ipam)).toEqual([]);
  expect(ipamDifferences(result, { ...ipam, routes: [{ dst: "10.8.0.0/16" }] })).toMatchObject([
    { op: "add", path: "/routes/0", value: { dst: "10.8.0.0/16" } },
  ]);
  expect(ipamDifferences(result, { ...ipam, ips: [] })).toMatchObject([{ op: "remove", path: "/ips/0" }]);
});

test("X-2: a value that a shadow would have set is compared with the value that the native step has left", () => {
  const values = [
    { path: "/sysctl/net~1core~1somaxconn", intended: "500", actual: "500" },
    { path: "/links/pod/eth0/mtu", intended: 1400, actual: 1500 },
    { path: "/links/pod/eth0/mac", intended: "02:00:00:00:00:02", actual: undefined },
  ];
  expect(effectDifferences(values)).toEqual([
    { op: "replace", path: "/effects/links/pod/eth0/mtu", before: 1500, value: 1400 },
    { op: "add", path: "/effects/links/pod/eth0/mac", value: "02:00:00:00:00:02" },
  ]);
});
