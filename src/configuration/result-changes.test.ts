import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changesBeyond, refusedChange } from "./result-changes.ts";

const result = {
  interfaces: [{ name: "eth0", mac: "0a:58:0a:01:00:05" }],
  ips: [{ address: "10.1.0.5/24", gateway: "10.1.0.1", interface: 0 }],
  routes: [{ dst: "0.0.0.0/0" }],
};
const dns = { nameservers: ["10.96.0.10"], domain: "shop.example", search: [], options: [] };
const withIp = { ...result, ips: [...result.ips, { address: "10.2.0.5/24" }] };

describe("the places of a result that differ", () => {
  test.each([
    ["an equal result", [], result, structuredClone(result), []],
    ["a new member", [], result, { ...result, dns }, ["dns/nameservers/0", "dns/domain"]],
    ["a granted member", ["dns"], result, { ...result, dns }, []],
    ["a part of a granted member", ["dns/domain"], result, { ...result, dns: { ...dns, nameservers: [] } }, []],
    ["another part than the granted one", ["dns/domain"], result, { ...result, dns }, ["dns/nameservers/0"]],
    ["empty lists and absent ones", [], { ...result, dns: undefined }, { ...result, dns: { search: [], options: [] } }, []],
    ["a new element", ["ips/*/gateway"], result, withIp, ["ips/1/address"]],
    ["a changed element", ["ips/*/gateway"], result, { ...result, ips: [{ ...result.ips[0], gateway: "10.1.0.2" }] }, []],
    ["a removed element", ["ips/*/gateway"], withIp, result, ["ips/1/address"]],
    ["a removed member", [], result, { ...result, routes: [] }, ["routes/0/dst"]],
    ["a list in the place of a text", [], { a: "b" }, { a: ["b"] }, ["a"]],
    ["the first plugin of a chain", ["ips", "routes"], undefined, result, ["interfaces/0/name", "interfaces/0/mac"]],
  ])("%s", (_, patterns, before, after, places) => {
    expect(changesBeyond(patterns, before, after)).toEqual(places);
  });

  test("A message names ten places at most", () => {
    const routes = Array.from({ length: 50 }, (_, index) => ({ dst: `10.${index}.0.0/16` }));
    expect(changesBeyond([], { routes: [] }, { routes })).toHaveLength(10);
  });
});

describe("the bound of a grant", () => {
  test("A grant without the bound allows every change, an empty list none", () => {
    expect(refusedChange("shaper", {}, result, {})).toBeUndefined();
    expect(refusedChange("shaper", { result: {} }, result, {})).toBeUndefined();
    expect(refusedChange("shaper", { result: { change: [] } }, result, { ...result, dns })).toMatchObject({
      kind: "NOT_GRANTED",
      msg: "shaper: the change of dns/nameservers/0, dns/domain in the result is not granted: wasm.grants.shaper.result.change has nothing",
    });
  });

  const members: readonly string[] = ["interfaces", "ips", "routes", "dns"];
  const member = fc.constantFrom(...members);
  const value = fc.dictionary(member, fc.jsonValue({ maxDepth: 3 }));
  test("X-3: a difference outside of the granted members is refused, whatever it is, and no other", () => {
    fc.assert(
      fc.property(value, value, fc.uniqueArray(member), (before, after, granted) => {
        const others = members.filter((each) => !granted.includes(each));
        const isEqual = isDeepStrictEqual(withoutEmpty(pick(before, others)), withoutEmpty(pick(after, others)));
        const isRefused = refusedChange("any", { result: { change: granted } }, before, after) !== undefined;
        expect(isRefused).toBe(!isEqual);
      }),
    );
  });
});

const pick = (object: object, names: readonly string[]): object =>
  Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));

/** The value without empty objects and lists, which equal absent ones, and with lists as objects. */
function withoutEmpty(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).flatMap(([name, each]) => {
    const stripped = withoutEmpty(each);
    return stripped === undefined ? [] : [[name, stripped] as const];
  });
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
