import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StoredObject } from "../../cluster/kube/object-store.ts";
import { type CheckTerms, DefinitionChecks } from "./check.ts";
import { nodePlugins } from "./component-facts.ts";
import { readSettings } from "./plexus-settings.ts";
import { maxCheckedLength, storedDefinition, type StoredDefinition } from "./stored-definition.ts";
import { cpuMs } from "../../../test/lab/cpu-ms.ts";

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-check-"));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The terms of a configuration as the chart writes it. */
function termsOf(own: object, known: readonly string[] = []): CheckTerms {
  const path = join(directory, "plexus.json");
  writeFileSync(path, JSON.stringify({ cniVersion: "1.1.0", name: "plexus", type: "plexus", ...own }));
  const read = readSettings(path, undefined);
  if (!read.ok || read.value === undefined) throw new Error(JSON.stringify(read));
  const { settings } = read.value;
  const names = { known, components: undefined, shipped: "all" } as const;
  return { settings, plugins: nodePlugins(names, new Map([["adapter", ["links", "log"]]]), settings.configuration) };
}

function definition(namespace: string, name: string, config: unknown): StoredObject<StoredDefinition> {
  const text = typeof config === "string" ? config : JSON.stringify(config);
  const stored = storedDefinition({ metadata: { namespace, name, uid: "u", resourceVersion: "1" }, spec: { config: text } });
  if (stored === undefined) throw new Error("unreadable");
  return stored;
}

const pool = (subnet: string, more: object = {}): object => ({
  cniVersion: "1.0.0",
  plugins: [{ type: "macvlan", ipam: { type: "host-local", subnet }, ...more }],
});

/** The findings of all definitions as `namespace/name rule`. */
function rules(terms: CheckTerms, definitions: readonly StoredObject<StoredDefinition>[]): readonly string[] {
  const checks = new DefinitionChecks();
  return [...new Set(definitions.map(({ namespace }) => namespace))].flatMap((namespace) =>
    [...checks.findingsOf(namespace, definitions, terms)].flatMap(([key, found]) => found.map(({ rule }) => `${key} ${rule}`)),
  );
}

test("a definition is compared with its namespace and the trusted ones, never with another tenant's", () => {
  const terms = termsOf({
    definitions: { trusted: ["net"], rules: [{ namespaces: ["*"], native: { macvlan: "*" }, ipam: { "host-local": "*" } }] },
  });
  const all = [
    definition("a", "wide", pool("0.0.0.0/0")),
    definition("a", "twin", pool("10.1.0.0/24")),
    definition("b", "one", pool("10.2.0.0/24")),
    definition("net", "shared", pool("10.3.0.0/24")),
  ];
  expect(rules(terms, all)).toEqual(["a/wide subnet-overlap", "a/twin subnet-overlap"].toSorted());
  expect(rules(terms, [definition("b", "one", pool("10.3.0.0/16")), ...all.slice(3)])).toEqual(["b/one subnet-overlap"]);
});

test("where every namespace is trusted, one look finds what all definitions have in common", () => {
  const all = [definition("a", "one", pool("10.1.0.0/16")), definition("b", "two", pool("10.1.2.0/24"))];
  const found = new DefinitionChecks().findingsOf(undefined, all, termsOf({ profile: "multus" }));
  expect([...found].map(([key, list]) => `${key} ${list.map(({ rule }) => rule).join()}`)).toEqual([
    "a/one ",
    "b/two subnet-overlap",
  ]);
});

test("each definition is checked by itself again only for another configuration", () => {
  const checks = new DefinitionChecks();
  const terms = termsOf({});
  const [one, other] = [definition("a", "x", "{"), definition("a", "x", "{ ")];
  expect(checks.isDue("a/x", one.value)).toBe(true);
  expect(checks.findingsOf("a", [one], terms).get("a/x")).toMatchObject([{ rule: "unreadable-configuration" }]);
  expect(checks.isDue("a/x", { ...one.value, resourceVersion: "2", conditions: "[]" })).toBe(false);
  expect(checks.isDue("a/x", other.value)).toBe(true);
  expect(checks.isDue("a/x", undefined)).toBe(true);
});

test("the rules of Plexus' configuration and the known plugins decide", () => {
  const vlan = definition("a", "x", { cniVersion: "1.0.0", type: "vlan" });
  const adapter = definition("a", "x", { cniVersion: "1.0.0", type: "adapter" });
  const grants = { adapter: { links: {}, log: {} } };
  expect(rules(termsOf({}), [vlan])).toEqual(["a/x forbidden-by-policy"]);
  expect(rules(termsOf({ profile: "multus" }), [vlan])).toEqual([]);
  expect(rules(termsOf({ profile: "multus" }, ["macvlan"]), [vlan])).toEqual(["a/x unknown-plugin"]);
  expect(rules(termsOf({}, ["macvlan"]), [adapter])).toEqual(["a/x missing-grant"]);
  expect(rules(termsOf({ definitions: { rules: [{ namespaces: ["a"], grants }] } }, ["macvlan"]), [adapter])).toEqual([]);
  expect(rules(termsOf({}, []), [adapter])).toEqual([]);
  expect(rules(termsOf({ wasm: { prefer: true } }, []), [adapter])).toEqual(["a/x missing-grant"]);
});

test("a definition without a configuration is a file of each node, and has no finding; one that is too long has one", () => {
  expect(rules(termsOf({}), [definition("a", "x", "")])).toEqual([]);
  const long = definition("a", "x", "x".repeat(maxCheckedLength + 1));
  expect(long.size).toBe(0);
  expect(rules(termsOf({}), [long])).toEqual(["a/x invalid-definition"]);
});

test("the template of the chart is read, and a mistake in it is named", () => {
  const path = join(directory, "plexus.json");
  writeFileSync(path, '{"type":"plexus","definitions":{"trustd":[]}}');
  expect(readSettings(path, undefined)).toMatchObject({ ok: false, fault: { msg: expect.stringContaining("trustd") } });
  expect(readSettings(join(directory, "none"), undefined)).toMatchObject({ ok: false });
});

test("two thousand definitions are checked in less than two seconds, and a change of one in a tenth", () => {
  const terms = termsOf({});
  const all = Array.from({ length: 2000 }, (_, index) =>
    definition(`ns${index % 200}`, `d${index}`, pool(`10.${index >> 8}.${index & 255}.0/24`)),
  );
  const checks = new DefinitionChecks();
  const startedAt = cpuMs();
  for (let index = 0; index < 200; index++) checks.findingsOf(`ns${index}`, all, terms);
  const firstMs = cpuMs() - startedAt;
  checks.findingsOf("ns7", all, terms);
  expect(firstMs).toBeLessThan(2000);
  expect(cpuMs() - startedAt - firstMs).toBeLessThan(100);
});
