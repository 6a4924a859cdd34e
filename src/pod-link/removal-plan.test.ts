import { expect, test } from "vitest";
import { identityOf, showsSameNamespace, type ShownLink } from "./link-identity.ts";
import { removalPlan, bondMembers, membersPlan } from "./removal-plan.ts";
import { parseNetworkList } from "../cni/network-list.ts";

const shown = (index: number, name: string, kind = "veth", link = 30): ShownLink => ({
  index,
  name,
  kind,
  mac: "02:00:00:00:00:01",
  link,
  linkNamespace: 0,
});
/** A link without another end. */
const single = (index: number, name: string, kind: string): ShownLink => ({
  ...shown(index, name, kind),
  link: undefined,
  linkNamespace: undefined,
});
const made = identityOf(shown(3, "net1"));
const attached = { ifname: "net1", made, earlier: undefined, completed: true, makesLink: true };

test("FI-15: the plugins' DEL goes by the name while the name is the link's own", () => {
  expect(removalPlan(attached, [shown(3, "net1")])).toEqual({ withNamespace: true });
});

test("FI-15: a renamed link gets its name back; where another link has the name, it is removed and plugins touch no link", () => {
  const own = shown(3, "0a1b-nic");
  expect(removalPlan(attached, [own])).toEqual({ before: { what: "rename", link: own }, withNamespace: true });
  const foreign = single(9, "net1", "dummy");
  expect(removalPlan(attached, [foreign, own])).toEqual({ before: { what: "remove", link: own }, withNamespace: false });
});

test("FI-15: a link with the name as an alternative one counts as the one that has it: plugins would find it", () => {
  const other = { ...single(9, "other", "dummy"), alternativeNames: ["net1"] };
  expect(removalPlan(attached, [other])).toEqual({ withNamespace: false, isMissing: true });
  expect(removalPlan(attached, [other, shown(3, "nic")])).toMatchObject({ before: { what: "remove" }, withNamespace: false });
  expect(removalPlan(attached, [{ ...shown(3, "nic"), alternativeNames: ["net1"] }])).toEqual({ withNamespace: true });
});

test("FI-15: a link with more alternative names than a plugin can read is removed before the plugins' DEL", () => {
  const own = { ...shown(3, "net1"), alternativeNames: Array.from({ length: 65 }, (_, index) => `name${index}`) };
  expect(removalPlan(attached, [own])).toEqual({ before: { what: "remove", link: own }, withNamespace: true });
});

test("FI-15: hardware gets its name back from another link that has the name: it cannot be removed", () => {
  const device = { ...single(3, "0a1b-nic", ""), parentDevice: { bus: "pci", name: "0000:00:05.0" } };
  const foreign = single(9, "net1", "dummy");
  const plan = removalPlan({ ...attached, made: identityOf(device) }, [foreign, device]);
  expect(plan).toEqual({ before: { what: "rename", link: device }, aside: foreign, withNamespace: true });
});

test("FI-15: without the attachment's link, a link with its name is foreign, also one with its index and another kind", () => {
  expect(removalPlan(attached, [])).toEqual({ withNamespace: true, isMissing: true });
  expect(removalPlan(attached, [shown(9, "net1")])).toEqual({ withNamespace: false, isMissing: true });
  expect(removalPlan(attached, [shown(3, "net1", "dummy")])).toEqual({ withNamespace: false, isMissing: true });
});

test("FI-26: the undo of a failed ADD leaves an earlier link alone, and removes a link that replaced it", () => {
  const failed = { ifname: "net1", made: undefined, earlier: made, completed: false, makesLink: true };
  expect(removalPlan(failed, [shown(3, "net1")])).toEqual({ withNamespace: false });
  expect(removalPlan(failed, [shown(4, "net1")])).toEqual({ withNamespace: true });
  expect(removalPlan({ ...failed, completed: true }, [shown(3, "net1")])).toEqual({ withNamespace: true });
  expect(removalPlan({ ...failed, makesLink: false }, [shown(3, "net1")])).toEqual({ withNamespace: true });
});

test("FI-26: the undo of a failed ADD in a running pod gives no namespace to a DEL that would move the pod's own link to the node", () => {
  const failed = { ifname: "net1", made: undefined, earlier: undefined, completed: false, makesLink: true };
  expect(removalPlan({ ...failed, movesForeign: true }, [shown(9, "net1")])).toEqual({ withNamespace: false });
  expect(removalPlan({ ...failed, movesForeign: false }, [shown(9, "net1")])).toEqual({ withNamespace: true });
});

test("an entry without a record of its links goes by names", () => {
  expect(removalPlan({ ...attached, made: undefined }, [shown(9, "net1")])).toEqual({ withNamespace: true });
});

test("FI-18: a namespace is known by both ends of a veth, or by the address of a link without another end", () => {
  expect(showsSameNamespace(made, { ...shown(3, "other"), mac: "02:00:00:00:00:99" })).toBe(true);
  expect(showsSameNamespace(made, shown(3, "net1", "veth", 31))).toBe(false);
  const alone = identityOf(single(3, "net1", ""));
  expect(showsSameNamespace(alone, single(3, "net1", ""))).toBe(true);
  expect(showsSameNamespace(alone, { ...single(3, "net1", ""), mac: "02:00:00:00:00:99" })).toBe(false);
});

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
const bondLinks = [identityOf(first), identityOf(second), identityOf(link(5, "bond0", "bond"))];
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
  expect(membersPlan({ names, areDevices: true }, bondLinks, [first, second])).toBeUndefined();
  expect(membersPlan({ names, areDevices: true }, [], [link(9, "net1", "dummy")])).toBeUndefined();
});

test("FI-15: a bond of the pod's links is removed in the plugin's place where another link has a member's name, or none has it", () => {
  const renamed = { ...first, name: "0a1b-nic" };
  expect(membersPlan({ names, areDevices: false }, bondLinks, [renamed, second, link(9, "net1", "dummy")])).toEqual({
    aside: [],
    rename: [],
    release: [renamed, second],
  });
  expect(membersPlan({ names, areDevices: false }, bondLinks, [renamed, second])).toMatchObject({ release: [renamed, second] });
});

test("FI-15: a device of the node gets its name back from the link that has it, so that DEL moves the device and not that link", () => {
  const renamed = { ...first, name: "0a1b-nic" };
  const foreign = link(9, "net1", "dummy");
  const plan = { aside: [{ link: foreign, name: "net1" }], rename: [{ link: renamed, name: "net1" }], release: undefined };
  expect(membersPlan({ names, areDevices: true }, bondLinks, [renamed, second, foreign])).toEqual(plan);
  // The pod has moved the device to another namespace.
  expect(membersPlan({ names, areDevices: true }, bondLinks, [second, foreign])).toEqual({ ...plan, rename: [] });
});
