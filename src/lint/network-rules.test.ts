import { expect, test } from "vitest";
import { inlineNetwork } from "../cni/inline-network.ts";
import { positionAt } from "../json/position.ts";
import type { LintNetwork } from "./finding.ts";
import { locateNetwork } from "./locate-network.ts";
import { examineNetwork } from "./network-facts.ts";
import { compareNetworks, lintNetworks } from "./network-rules.ts";
import { allSteps } from "./work-steps.ts";
import { cpuMs } from "../../test/lab/cpu-ms.ts";

function network(file: string, content: object): LintNetwork {
  const text = JSON.stringify(content, undefined, 1);
  const list = inlineNetwork(text, file, { name: "", cniVersion: "1.0.0" });
  if (!list.ok) throw new Error(list.fault.msg);
  const source = { file, text, place: (offset: number) => positionAt(text, offset) };
  return { source, object: "", list: list.value, paths: locateNetwork(text, list.value) };
}

const pool = (ipam: object, more: object = {}): object => ({ type: "bridge", ipam: { type: "host-local", ...ipam }, ...more });
const list = (name: string, ...plugins: readonly object[]): LintNetwork =>
  network(`${name}.conflist`, { cniVersion: "1.0.0", name, plugins });

function found(...networks: readonly LintNetwork[]): readonly string[] {
  return lintNetworks(networks).map(({ rule, file, line, message }) => `${file}:${line} ${rule} ${message}`);
}

test.each([
  ["10.1.0.0/16", "10.1.2.0/24"],
  ["fd00::/64", "fd00::/80"],
])("networks whose subnets overlap are found: %s and %s", (wide, narrow) => {
  expect(found(list("a", pool({ subnet: wide })), list("b", pool({ ranges: [[{ subnet: narrow }]] })))).toEqual([
    expect.stringContaining(`subnet-overlap ${narrow} overlaps ${wide} of network a (a.conflist)`),
  ]);
});

test("the place of an overlap is the subnet", () => {
  const [one] = lintNetworks([list("a", pool({ subnet: "10.1.0.0/16" })), list("b", pool({ subnet: "10.1.0.0/24" }))]);
  expect(one).toMatchObject({ file: "b.conflist", line: 9, column: 15 });
});

test.each([
  [
    "ranges of one subnet that are disjoint",
    pool({ subnet: "10.1.0.0/24", rangeEnd: "10.1.0.99" }),
    pool({ subnet: "10.1.0.0/24", rangeStart: "10.1.0.100" }),
  ],
  [
    "whereabouts' ranges that are disjoint",
    { type: "macvlan", ipam: { type: "whereabouts", range: "10.1.0.5-10.1.0.9/24" } },
    pool({ subnet: "10.1.0.0/24", rangeStart: "10.1.0.10" }),
  ],
  ["an unknown IPAM type", { type: "bridge", ipam: { type: "dhcp", subnet: "10.1.0.0/24" } }, pool({ subnet: "10.1.0.0/24" })],
  ["different families", pool({ subnet: "10.1.0.0/24" }), pool({ subnet: "fd00::/64" })],
])("%s are no finding", (_, left, right) => {
  expect(found(list("a", left), list("b", right))).toEqual([]);
});

test("the same network twice is no finding, and another network of the same name is one", () => {
  const same = list("a", pool({ subnet: "10.1.0.0/16" }));
  expect(found(same, same)).toEqual([]);
  expect(found(same, list("a", pool({ subnet: "10.2.0.0/16" })))).toEqual([
    expect.stringContaining("name-collision network a (a.conflist) has the name of"),
  ]);
});

test.each([
  [{ subnet: "10.1.0.0/33" }, "ipam.subnet: 10.1.0.0/33 is no subnet"],
  [{ subnet: "10.1.0.0/24", rangeStart: "10.2.0.1" }, "ipam.rangeStart: 10.2.0.1 is outside of 10.1.0.0/24"],
  [{ subnet: "10.1.0.0/24", rangeEnd: "x" }, "ipam.rangeEnd: x is no address"],
  [{ subnet: "10.1.0.0/24", rangeStart: "10.1.0.9", rangeEnd: "10.1.0.5" }, "the range of 10.1.0.0/24 ends before it begins"],
])("%j is an invalid subnet", (ipam, message) => {
  expect(found(list("a", pool(ipam)))).toEqual([
    expect.stringContaining(`invalid-subnet ${message.startsWith("ipam") ? message : `ipam.subnet: ${message}`}`),
  ]);
});

test("ranges of one plugin that overlap are an error", () => {
  const ranges = [[{ subnet: "10.1.0.0/16" }], [{ subnet: "10.1.2.0/24" }]];
  expect(found(list("a", pool({ ranges })))).toEqual([
    expect.stringContaining("range-overlap ipam.ranges.1.0.subnet: 10.1.2.0/24 overlaps 10.1.0.0/16"),
  ]);
});

test("a bridge that two networks give addresses is found, but not with forceAddress", () => {
  const gateway = { isGateway: true, bridge: "br0" };
  const one = list("a", pool({ subnet: "10.1.0.0/24" }, gateway));
  expect(found(one, list("b", pool({ subnet: "10.2.0.0/24" }, gateway)))).toEqual([
    expect.stringContaining("bridge-addresses bridge br0"),
  ]);
  expect(found(one, list("b", pool({ subnet: "10.2.0.0/24" }, { ...gateway, forceAddress: true })))).toEqual([]);
});

test("with subjects, a finding about two networks is the subject's, and each other finding only a subject's", () => {
  const gateway = { isGateway: true, bridge: "br0" };
  const wide = list("a", pool({ subnet: "10.1.0.0/16" }, gateway), { type: "tuning" }, { type: "tuning" });
  const narrow = list("b", pool({ subnet: "10.1.2.0/24" }, gateway));
  const named = network("other.conflist", { cniVersion: "1.0.0", name: "a", plugins: [{ type: "bridge" }] });
  const rulesOf = (subject: LintNetwork): readonly string[] => {
    const facts = [wide, narrow, named].map((each) => examineNetwork(each).facts);
    const findings = allSteps(compareNetworks(facts, ({ file }) => file === subject.source.file));
    return findings.map(({ rule, file }) => `${file} ${rule}`);
  };
  expect(examineNetwork(wide).findings.map(({ rule }) => rule)).toEqual(["type-twice"]);
  expect(rulesOf(wide)).toEqual(["a.conflist subnet-overlap", "a.conflist name-collision", "a.conflist bridge-addresses"]);
  expect(rulesOf(narrow)).toEqual(["b.conflist subnet-overlap", "b.conflist bridge-addresses"]);
  expect(rulesOf(named)).toEqual(["other.conflist name-collision"]);
});

test("a step that stands twice is a note", () => {
  expect(found(list("a", { type: "tuning" }, { type: "tuning" }))).toEqual([
    expect.stringContaining("type-twice plugins[1] (tuning)"),
  ]);
});

test("two thousand networks are compared in less than two seconds", () => {
  const many = Array.from({ length: 2000 }, (_, index) =>
    list(`n${index}`, pool({ subnet: `10.${index >> 8}.${index & 255}.0/24` })),
  );
  const start = cpuMs();
  expect(found(...many)).toEqual([]);
  expect(cpuMs() - start).toBeLessThan(2000);
});
