import { expect, test } from "vitest";
import { type Flow, MemoryFlows } from "./memory-flows.ts";

const end = (address: string, port: number) => ({ address, port });
const flows: readonly Flow[] = [
  { protocol: "udp", source: end("10.1.0.5", 4000), destination: end("192.0.2.1", 53) },
  { protocol: "tcp", source: end("192.0.2.7", 5000), destination: end("192.0.2.1", 8080), server: end("10.1.0.5", 80) },
  { protocol: "udp", source: end("fd00::9", 5000), destination: end("fd00:0::5", 53) },
  { protocol: "udp", source: end("10.1.0.9", 4000), destination: end("192.0.2.1", 53) },
];
const call = {
  verb: "DEL",
  attachment: { containerId: "one", ifname: "eth0" },
  facts: { addresses: ["10.1.0.5/24", "fd00::5"] },
} as const;

test.each([
  [["10.1.0.5", "fd00::5/64"], [], [3]],
  [["10.1.0.5"], [{ protocol: "tcp", number: 80 }], [0, 2, 3]],
  [["fd00::5"], [{ protocol: "udp", number: 53 }], [0, 1, 3]],
  [["10.1.0.5"], [{ protocol: "udp", number: 53 }], [0, 1, 2, 3]],
  [[], [], [0, 1, 2, 3]],
] as const)("forgets the flows of %j with %j", (addresses, ports, left) => {
  const memory = new MemoryFlows({ entries: flows }, call);
  expect(memory.functions.forget(addresses, ports)).toEqual({ ok: flows.length - left.length });
  expect(memory.entries()).toEqual(left.map((at) => flows[at]));
});

test.each([
  [{ ...call, verb: "CHECK" } as const, ["10.1.0.5"], "ADD and DEL only"],
  [{ ...call, attachment: undefined, verb: "GC" } as const, [], "ADD and DEL only"],
  [call, ["10.1.0.9"], "not an address of the attachment"],
  [call, ["ten"], "not an IP address"],
])("refuses a request beyond the attachment: %#", (from, addresses, why) => {
  const memory = new MemoryFlows({ entries: flows }, from);
  expect(memory.functions.forget(addresses, [])).toMatchObject({ err: { msg: expect.stringContaining(why) } });
  expect(memory.entries()).toEqual(flows);
});
