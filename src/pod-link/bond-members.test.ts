import { expect, test } from "vitest";
import { parseNetworkList } from "../cni/network-list.ts";
import { bondMembers, membersPlan } from "./bond-members.ts";
import { identityOf, type ShownLink } from "./link-identity.ts";

const link = (index: number, name: string, kind = "veth"): ShownLink => ({
  index,
  name,
  kind,
  mac: `02:00:00:00:00:0${index}`,
  link: kind === "veth" ? 30 + index : undefined,
  linkNamespace: kind === "veth" ? 0 : undefined,
});
const members = (plugin: object): ReturnType<typeof bondMembers> => {
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.0.0", name: "x", plugins: [{ type: "tuning" }, plugin] }), "x");
  if (!list.ok) throw new Error(list.fault.msg);
  return bondMembers(list.value.plugins);
};
const [first, second] = [link(3, "net1"), link(4, "net2")];
const made = [identityOf(first), identityOf(second), identityOf(link(5, "bond0", "bond"))];
const names = ["net1", "net2"];

test("FI-15: a native bond's members are those of its configuration, in any case of the keys", () => {
  expect(members({ type: "bond", Links: [{ name: "net1" }, { name: "net2" }, { mac: "x" }], LINKSINCONTAINER: true })).toEqual({
    names,
    areDevices: false,
  });
  expect(members({ type: "bond", links: [{ name: "ens5f0" }] })).toEqual({ names: ["ens5f0"], areDevices: true });
  expect(members({ type: "bond", links: "net1" })).toEqual({ names: [], areDevices: true });
  expect(members({ type: "bridge", links: [{ name: "net1" }] })).toBeUndefined();
});

test("FI-15: members with their names are left to the plugin, and so are those without a record", () => {
  expect(membersPlan({ names, areDevices: true }, made, [first, second])).toBeUndefined();
  expect(membersPlan({ names, areDevices: true }, [], [link(9, "net1", "dummy")])).toBeUndefined();
});

test("FI-15: a bond of the pod's links is removed in the plugin's place where another link has a member's name, or none has it", () => {
  const renamed = { ...first, name: "0a1b-nic" };
  expect(membersPlan({ names, areDevices: false }, made, [renamed, second, link(9, "net1", "dummy")])).toEqual({
    aside: [],
    rename: [],
    release: [renamed, second],
  });
  expect(membersPlan({ names, areDevices: false }, made, [renamed, second])).toMatchObject({ release: [renamed, second] });
});

test("FI-15: a device of the node gets its name back from the link that has it, so that DEL moves the device and not that link", () => {
  const renamed = { ...first, name: "0a1b-nic" };
  const foreign = link(9, "net1", "dummy");
  const plan = { aside: [{ link: foreign, name: "net1" }], rename: [{ link: renamed, name: "net1" }], release: undefined };
  expect(membersPlan({ names, areDevices: true }, made, [renamed, second, foreign])).toEqual(plan);
  // The pod has moved the device to another namespace.
  expect(membersPlan({ names, areDevices: true }, made, [second, foreign])).toEqual({ ...plan, rename: [] });
});
