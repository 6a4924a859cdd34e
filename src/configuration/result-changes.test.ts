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
  test("X-3: a grant without the bound allows every change, an empty list none", () => {
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

/** The values that are neither objects nor lists, by their paths. Empty objects and lists have none, as absent ones. */
function leaves(value: unknown, path: readonly string[] = []): ReadonlyMap<string, unknown> {
  if (value === undefined) return new Map();
  if (typeof value !== "object" || value === null) return new Map([[path.join("/"), value]]);
  return new Map(Object.entries(value).flatMap(([name, each]) => [...leaves(each, [...path, name])]));
}

describe("random results under random grants", () => {
  const name = fc.constantFrom("a", "b", "0", "1");
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom<unknown>(1, 2, "x", true, null),
      fc.dictionary(name, tie("value"), { maxKeys: 3 }),
      fc.array(tie("value"), { maxLength: 2 }),
    ),
  }));
  const document = fc.dictionary(fc.constantFrom("interfaces", "ips", "routes", "dns"), value);
  const place = fc
    .tuple(fc.constantFrom("interfaces", "ips", "routes", "dns"), fc.array(fc.oneof(name, fc.constant("*")), { maxLength: 3 }))
    .map(([first, rest]) => [first, ...rest].join("/"));

  test("X-3: a result is refused exactly if a value outside of the granted places is new, gone or another one", () => {
    let [refusals, passes] = [0, 0];
    fc.assert(
      fc.property(document, document, fc.array(place, { maxLength: 4 }), (before, after, granted) => {
        const [earlier, later] = [leaves(before), leaves(after)];
        const differing = [...new Set([...earlier.keys(), ...later.keys()])].filter(
          (path) => earlier.has(path) !== later.has(path) || earlier.get(path) !== later.get(path),
        );
        const isGranted = (path: string): boolean =>
          granted.some((each) => {
            const [parts, rule] = [path.split("/"), each.split("/")];
            return rule.length <= parts.length && rule.every((part, at) => part === "*" || part === parts[at]);
          });
        const refused = refusedChange("any", { result: { change: granted } }, before, after) !== undefined;
        if (refused) refusals += 1;
        else passes += 1;
        expect(refused).toBe(!differing.every(isGranted));
      }),
      { numRuns: 1000 },
    );
    // Both verdicts must have been tried.
    expect(Math.min(refusals, passes)).toBeGreaterThan(0);
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
