import { expect, test } from "vitest";
import { judgeLink, type ExpectedLink, type SeenLink, type SeenNodeEnd, type SeenPod } from "./judge-link.ts";

const mac = "02:00:00:00:00:01";
const link: SeenLink = {
  index: 3,
  name: "net1",
  kind: "veth",
  mac,
  link: 30,
  linkNamespace: 0,
  up: true,
  carrier: true,
  master: undefined,
  masterKind: "",
};
const expected: ExpectedLink = {
  ifname: "net1",
  made: { name: "net1", index: 3, kind: "veth", mac, peer: 30 },
  addresses: ["10.0.0.2/24"],
};
const pod = (more: Partial<SeenLink> = {}, addresses = ["10.0.0.2/24", "fe80::1/64"]): SeenPod => ({
  links: [{ ...link, ...more }],
  addresses: new Map([[3, addresses]]),
});
const end: SeenLink = { ...link, index: 30, name: "veth9", link: 3, master: 7 };
const node: SeenNodeEnd = { link: end, master: "br0", expectedMaster: "br0" };
const empty: SeenPod = { links: [], addresses: new Map() };

test("WA-01: a link as its ADD left it has no fault", () => {
  expect(judgeLink(expected, pod(), node)).toBeUndefined();
});

test.each([
  ["gone", empty, { ...node, link: undefined }],
  ["down", pod({ up: false }), node],
  ["down", pod(), { ...node, link: { ...end, up: false } }],
  ["no-carrier", pod({ carrier: false }), node],
  ["master", pod(), { ...node, master: undefined }],
  ["master", pod(), { ...node, master: "br1" }],
  ["mac", pod({ mac: "02:00:00:00:00:02" }), node],
  ["address", pod({}, []), node],
] as const)("WA-01: %s is a fault", (kind, seen, nodeEnd) => {
  expect(judgeLink(expected, seen, nodeEnd)).toMatchObject({ kind, mayRepair: kind !== "no-carrier" });
});

test("WA-04: a link that the pod or KubeVirt renamed is known by its index; its addresses are the pod's, and nothing is attached in its place", () => {
  const renamed: SeenPod = {
    links: [
      { ...link, name: "0a1b-nic", mac: "02:00:00:00:00:99" },
      { ...link, index: 9, name: "net1", kind: "dummy" },
    ],
    addresses: new Map(),
  };
  expect(judgeLink(expected, renamed, node)).toBeUndefined();
  expect(judgeLink(expected, renamed, { ...node, master: undefined })).toMatchObject({ kind: "master", mayRepair: false });
});

test("WA-04: a veth whose end is in a namespace within the pod is known by its other end", () => {
  expect(judgeLink(expected, empty, node)).toBeUndefined();
});

test("WA-04: where another link has the name of a lost one, nothing is attached in its place", () => {
  const foreign: SeenPod = { links: [{ ...link, index: 9, kind: "dummy" }], addresses: new Map() };
  expect(judgeLink(expected, foreign, undefined)).toMatchObject({ kind: "gone", mayRepair: false });
});

test("a link whose index is unknown, because a repair broke off, is lost if its name is free", () => {
  const unknown = { ...expected, made: undefined };
  expect(judgeLink(unknown, empty, undefined)).toMatchObject({ kind: "gone", mayRepair: true });
  expect(judgeLink(unknown, pod(), undefined)).toBeUndefined();
});

test.each(["ipvlan", "bond", "vlan"])("WA-01: %s has the address of a link below it, whatever that becomes", (kind) => {
  const made = { name: "net1", index: 3, kind, mac };
  expect(judgeLink({ ...expected, made }, pod({ kind, mac: "02:00:00:00:00:02" }), undefined)).toBeUndefined();
});

test("WA-01: a tap without a virtual machine has no carrier, and no fault", () => {
  const made = { name: "net1", index: 3, kind: "tun", mac };
  expect(judgeLink({ ...expected, made }, pod({ kind: "tun", carrier: false }), undefined)).toBeUndefined();
});

test("WA-04: a link that the pod has put into its bond or bridge has its addresses there, and is not taken from there; one in a VRF is as any other", () => {
  const inBond = { master: 9, masterKind: "bond", mac: "02:00:00:00:00:02" };
  expect(judgeLink(expected, pod(inBond, []), node)).toBeUndefined();
  expect(judgeLink(expected, pod({ ...inBond, up: false }, []), node)).toMatchObject({ kind: "down", mayRepair: false });
  expect(judgeLink(expected, pod(inBond, []), { ...node, master: undefined })).toMatchObject({
    kind: "master",
    mayRepair: false,
  });
  const inVrf = { master: 9, masterKind: "vrf" };
  expect(judgeLink(expected, pod(inVrf), node)).toBeUndefined();
  expect(judgeLink(expected, pod(inVrf, []), node)).toMatchObject({ kind: "address", mayRepair: true });
});
