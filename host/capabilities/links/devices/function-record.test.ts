import { expect, test } from "vitest";
import { readFunctionRecord } from "./function-record.ts";

const record = { type: "sriov", network: "net", containerId: "c1", ifname: "net1", pciAddress: "0000:3b:02.1" };
const before = {
  mac: "00:00:00:00:00:00",
  vlan: { id: 0, qos: 0, serviceTag: false },
  rate: { min: 0, max: 0 },
  spoofCheck: true,
  trust: false,
  linkState: "auto",
};

test("a record is read as it was written; a text of another form is none", () => {
  const whole = { ...record, linkMac: "02:00:00:00:00:01", before };
  expect(readFunctionRecord(JSON.stringify(whole))).toEqual(whole);
  expect(readFunctionRecord(JSON.stringify({ ...record, before: {} }))).toEqual({ ...record, before: {} });
  const others = [
    "{",
    "null",
    JSON.stringify(record),
    ...[
      { pciAddress: "../../x" },
      { linkMac: 5 },
      { before: { ...before, vlan: 7 } },
      { before: { ...before, rate: { min: 0 } } },
      { before: { ...before, trust: "on" } },
      { before: { ...before, linkState: "up" } },
      { before: { mac: 1 } },
    ].map((change) => JSON.stringify({ ...whole, ...change })),
  ];
  expect(others.map(readFunctionRecord)).toEqual(others.map(() => undefined));
});
