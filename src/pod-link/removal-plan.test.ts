import { expect, test } from "vitest";
import { identityOf, showsSameNamespace, type ShownLink } from "./link-identity.ts";
import { removalPlan } from "./removal-plan.ts";

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
