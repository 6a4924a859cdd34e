import { describe, expect, test } from "vitest";
import {
  asksForDefaultRoute,
  hotPlugDifference,
  nextInterfaceName,
  requestsText,
  type SelectedAttachment,
  selectsOtherNetworks,
} from "./hot-plug-difference.ts";
import type { NetworkSelection } from "./network-selection.ts";
import { profileNamed } from "./profile.ts";
import { parseSelection } from "./selection.ts";

function selected(annotation: string | readonly object[]): readonly NetworkSelection[] {
  const text = typeof annotation === "string" ? annotation : JSON.stringify(annotation);
  const parsed = parseSelection(text, "shop", profileNamed("compat"));
  if (!parsed.ok) throw new Error(parsed.fault.msg);
  return parsed.value.networks;
}

/** The attachments of an ADD with this annotation and these interface names. */
function attached(annotation: string | readonly object[], ...names: readonly string[]): readonly SelectedAttachment[] {
  return selected(annotation).map((each, index) => ({
    ifname: names[index] ?? "",
    source: `${each.namespace}/${each.name}`,
    interface: each.interface,
    requests: requestsText(each),
    whole: true,
  }));
}

function difference(wanted: string | readonly object[], journal: readonly SelectedAttachment[]) {
  const { detach, attach } = hotPlugDifference(selected(wanted), journal);
  return {
    detach,
    attach: attach.map(({ selection, ifname }) => `${selection.name}@${selection.interface ?? ifname ?? "any"}`),
  };
}

describe("the difference between annotation and journal", () => {
  const none = { detach: [], attach: [] };

  test("is empty for the annotation of the ADD, in either form and order", () => {
    const journal = attached("a,b", "net1", "net2");
    expect(difference("a,b", journal)).toEqual(none);
    expect(difference("b,a", journal)).toEqual(none);
    expect(difference([{ name: "b", namespace: "shop" }, { name: "a" }], journal)).toEqual(none);
  });

  test("attaches what is new and detaches what is gone, the last attachment first", () => {
    const journal = attached("a,b,c", "net1", "net2", "net3");
    expect(difference("b,d", journal)).toEqual({ detach: ["net3", "net1"], attach: ["d@any"] });
    expect(difference("", journal)).toEqual({ detach: ["net3", "net2", "net1"], attach: [] });
  });

  test("keeps a generated name, also if the annotation now requests it", () => {
    expect(difference("a@net1", attached("a", "net1"))).toEqual(none);
    expect(difference("a", attached("a@data", "data"))).toEqual(none);
  });

  test("gives a requested name to the selection that requests it", () => {
    expect(difference("a,a@data", attached("a@data,a", "data", "net2"))).toEqual(none);
    expect(difference("a@data", attached("a,a@data", "net1", "data"))).toEqual({ detach: ["net1"], attach: [] });
  });

  test("gives an attachment with a generated name to a selection that takes any, before one with a requested name", () => {
    expect(difference("a", attached("a@data,a", "data", "net2"))).toEqual({ detach: ["data"], attach: [] });
  });

  test("replaces no attachment that broke off: it is detached before the selection is attached", () => {
    const broken = attached("a", "net1").map((each) => ({ ...each, whole: false }));
    const { detach, attach } = hotPlugDifference(selected([{ name: "a", mac: "02:00:00:00:00:01" }]), broken);
    expect([detach, attach.map(({ replaces }) => replaces)]).toEqual([["net1"], [undefined]]);
  });

  test("names the attachment that a selection with other requests replaces, once", () => {
    const wanted = [
      { name: "a", mac: "02:00:00:00:00:01" },
      { name: "a", mac: "02:00:00:00:00:02" },
    ];
    const { detach, attach } = hotPlugDifference(selected(wanted), attached("a,b", "net1", "net2"));
    expect(detach).toEqual(["net2", "net1"]);
    expect(attach.map(({ replaces }) => replaces)).toEqual(["net1", undefined]);
  });

  test("is a swap if another network takes an interface name", () => {
    expect(difference("b@data", attached("a@data", "data"))).toEqual({ detach: ["data"], attach: ["b@data"] });
  });

  test("attaches anew if the requests of a selection change", () => {
    const journal = attached([{ name: "a", ips: ["10.1.0.5/24"], mac: "02:00:00:00:00:01" }], "net1");
    expect(difference([{ mac: "02:00:00:00:00:01", ips: ["10.1.0.5/24"], name: "a" }], journal)).toEqual(none);
    expect(difference([{ name: "a", ips: ["10.1.0.6/24"], mac: "02:00:00:00:00:01" }], journal)).toEqual({
      detach: ["net1"],
      attach: ["a@any"],
    });
  });

  test("keeps as many attachments of one network as the annotation has selections of it", () => {
    const journal = attached("a,a,a", "net1", "net2", "net3");
    expect(difference("a,a", journal)).toEqual({ detach: ["net3"], attach: [] });
    expect(difference("a,a,a,a", journal)).toEqual({ detach: [], attach: ["a@any"] });
  });

  test("repeats an attachment that broke off under the same name, and only removes it if it is unwanted", () => {
    const broken = attached("a,b", "net1", "net2").map((each, index) => ({ ...each, whole: index === 0 }));
    expect(difference("a,b", broken)).toEqual({ detach: ["net2"], attach: ["b@net2"] });
    expect(difference("a", broken)).toEqual({ detach: ["net2"], attach: [] });
  });
});

test("a generated name counts from the position in the annotation, as in an ADD, and skips taken names", () => {
  const taken = new Set(["net2", "net3"]);
  expect([0, 1, 4].map((index) => nextInterfaceName(index, (name) => taken.has(name)))).toEqual(["net1", "net4", "net5"]);
});

test("requests are the same text in every order of keys, and {} without any", () => {
  const [plain, one, other] = selected([
    { name: "a", namespace: "other", interface: "x" },
    { name: "a", "cni-args": { b: 1, a: [2, { d: 1, c: 2 }] }, bandwidth: { ingressRate: 1, ingressBurst: 2 } },
    { bandwidth: { ingressBurst: 2, ingressRate: 1 }, "cni-args": { a: [2, { d: 1, c: 2 }], b: 1 }, name: "a" },
  ]);
  if (plain === undefined || one === undefined || other === undefined) throw new Error("three selections were expected");
  expect(requestsText(plain)).toBe("{}");
  expect(requestsText(one)).toBe(requestsText(other));
});

/** Attachments of these sources. Only those without `?` at the end can come from a selection alone. */
function attachedFrom(...sources: readonly string[]) {
  return sources.map((source) => ({ source: source.replace("?", ""), isSelected: !source.endsWith("?") }));
}

describe("an annotation beside attachments without facts", () => {
  test("selects no other networks where each selection has an attachment of its own, in any order", () => {
    expect(selectsOtherNetworks(selected("a,b,a"), attachedFrom("shop/a", "shop/a", "shop/b"))).toBe(false);
    expect(selectsOtherNetworks(selected(""), [])).toBe(false);
  });

  test("selects another network where a selection has none", () => {
    expect(selectsOtherNetworks(selected("a"), [])).toBe(true);
    expect(selectsOtherNetworks(selected("a,a"), attachedFrom("shop/a"))).toBe(true);
    expect(selectsOtherNetworks(selected("a"), attachedFrom("other/a?"))).toBe(true);
  });

  test("selects other networks where an attachment that a selection made is left, and not where only others are left", () => {
    expect(selectsOtherNetworks(selected("a"), attachedFrom("shop/b", "shop/a"))).toBe(true);
    expect(selectsOtherNetworks(selected("a"), attachedFrom("shop/b?", "shop/a"))).toBe(false);
    expect(selectsOtherNetworks(selected(""), attachedFrom("shop/b?", "shop/c"))).toBe(true);
  });
});

test("a selection asks for the default route by its own request for it", () => {
  const [plainOne, route] = selected([{ name: "a" }, { name: "a", "default-route": ["10.0.0.1"] }]);
  if (plainOne === undefined || route === undefined) throw new Error("two selections were expected");
  expect([plainOne, route].map((each) => asksForDefaultRoute(requestsText(each)))).toEqual([false, true]);
  expect(["null", "5", '"defaultRoute"'].map(asksForDefaultRoute)).toEqual([false, false, false]);
});
