import { writeFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { StoredObject } from "../../cluster/kube/object-store.ts";
import { type CheckTerms, DefinitionChecks } from "./check.ts";
import { nodePlugins } from "./component-facts.ts";
import { conditionsText } from "../../../src/lint/definition-conditions.ts";
import { Turns } from "../work/turns.ts";
import { readSettings } from "./plexus-settings.ts";
import { maxCheckedLength, storedDefinition, type StoredDefinition } from "./stored-definition.ts";
import { worstShapes } from "./testing/worst-shapes.ts";
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
async function rules(terms: CheckTerms, definitions: readonly StoredObject<StoredDefinition>[]): Promise<readonly string[]> {
  const checks = new DefinitionChecks();
  const all: string[] = [];
  for (const namespace of new Set(definitions.map((each) => each.namespace)))
    for (const [key, { findings }] of (await checks.findingsOf(namespace, definitions, terms)) ?? [])
      all.push(...findings.map(({ rule }) => `${key} ${rule}`));
  return all;
}

test("a definition is compared with its namespace and the trusted ones, never with another tenant's", async () => {
  const terms = termsOf({
    definitions: { trusted: ["net"], rules: [{ namespaces: ["*"], native: { macvlan: "*" }, ipam: { "host-local": "*" } }] },
  });
  const all = [
    definition("a", "wide", pool("0.0.0.0/0")),
    definition("a", "twin", pool("10.1.0.0/24")),
    definition("b", "one", pool("10.2.0.0/24")),
    definition("net", "shared", pool("10.3.0.0/24")),
  ];
  expect(await rules(terms, all)).toEqual(["a/wide subnet-overlap", "a/twin subnet-overlap"].toSorted());
  expect(await rules(terms, [definition("b", "one", pool("10.3.0.0/16")), ...all.slice(3)])).toEqual(["b/one subnet-overlap"]);
});

test("where every namespace is trusted, one look finds what all definitions have in common", async () => {
  const all = [definition("a", "one", pool("10.1.0.0/16")), definition("b", "two", pool("10.1.2.0/24"))];
  const found = await new DefinitionChecks().findingsOf(undefined, all, termsOf({ profile: "multus" }));
  expect([...(found ?? [])].map(([key, { findings }]) => `${key} ${findings.map(({ rule }) => rule).join()}`)).toEqual([
    "a/one ",
    "b/two subnet-overlap",
  ]);
});

test("each definition is checked by itself again only for another configuration", async () => {
  const checks = new DefinitionChecks();
  const terms = termsOf({});
  const [one, other] = [definition("a", "x", "{"), definition("a", "x", "{ ")];
  expect(checks.isDue("a/x", one.value)).toBe(true);
  expect((await checks.findingsOf("a", [one], terms))?.get("a/x")?.findings).toMatchObject([
    { rule: "unreadable-configuration" },
  ]);
  expect(checks.isDue("a/x", { ...one.value, resourceVersion: "2", conditions: "[]" })).toBe(false);
  expect(checks.isDue("a/x", other.value)).toBe(true);
  expect(checks.isDue("a/x", undefined)).toBe(true);
});

test("the rules of Plexus' configuration and the known plugins decide", async () => {
  const vlan = definition("a", "x", { cniVersion: "1.0.0", type: "vlan" });
  const adapter = definition("a", "x", { cniVersion: "1.0.0", type: "adapter" });
  const grants = { adapter: { links: {}, log: {} } };
  expect(await rules(termsOf({}), [vlan])).toEqual(["a/x forbidden-by-policy"]);
  expect(await rules(termsOf({ profile: "multus" }), [vlan])).toEqual([]);
  expect(await rules(termsOf({ profile: "multus" }, ["macvlan"]), [vlan])).toEqual(["a/x unknown-plugin"]);
  expect(await rules(termsOf({}, ["macvlan"]), [adapter])).toEqual(["a/x missing-grant"]);
  expect(await rules(termsOf({ definitions: { rules: [{ namespaces: ["a"], grants }] } }, ["macvlan"]), [adapter])).toEqual([]);
  expect(await rules(termsOf({}, []), [adapter])).toEqual([]);
  expect(await rules(termsOf({ wasm: { prefer: true } }, []), [adapter])).toEqual(["a/x missing-grant"]);
});

test("a definition without a configuration is a file of each node, and has no finding; one that is too long has one", async () => {
  expect(await rules(termsOf({}), [definition("a", "x", "")])).toEqual([]);
  const long = definition("a", "x", "x".repeat(maxCheckedLength + 1));
  expect(long.size).toBe(0);
  expect(await rules(termsOf({}), [long])).toEqual(["a/x invalid-definition"]);
});

test("the template of the chart is read, and a mistake in it is named", async () => {
  const path = join(directory, "plexus.json");
  writeFileSync(path, '{"type":"plexus","definitions":{"trustd":[]}}');
  expect(readSettings(path, undefined)).toMatchObject({ ok: false, fault: { msg: expect.stringContaining("trustd") } });
  expect(readSettings(join(directory, "none"), undefined)).toMatchObject({ ok: false });
});

test("two thousand definitions are checked in less than two seconds, and a change of one in a tenth", async () => {
  const terms = termsOf({});
  const all = Array.from({ length: 2000 }, (_, index) =>
    definition(`ns${index % 200}`, `d${index}`, pool(`10.${index >> 8}.${index & 255}.0/24`)),
  );
  const checks = new DefinitionChecks();
  const startedAt = cpuMs();
  for (let index = 0; index < 200; index++) await checks.findingsOf(`ns${index}`, all, terms);
  const firstMs = cpuMs() - startedAt;
  await checks.findingsOf("ns7", all, terms);
  expect(firstMs).toBeLessThan(2000);
  expect(cpuMs() - startedAt - firstMs).toBeLessThan(100);
});

describe("FI-05: a tenant's definitions", () => {
  const length = 65_536;
  test.each(Object.entries(worstShapes))("FI-05: cost at most 5 ms of computing time for each KiB: %s", async (_, shape) => {
    for (const own of [{}, { profile: "multus" }]) {
      const terms = termsOf(own, ["macvlan", "bridge"]);
      const text = shape(length);
      const startedAt = cpuMs();
      await new DefinitionChecks().findingsOf("a", [definition("a", "x", text)], terms);
      expect((cpuMs() - startedAt) / (text.length / 1024)).toBeLessThan(5);
    }
  });

  test("FI-05: are checked in turns of the event loop, one definition in each at most, and so is their comparison", async () => {
    const terms = termsOf({}, ["macvlan", "bridge"]);
    const shapes = Object.values(worstShapes);
    const all = Array.from({ length: 60 }, (_, index) => definition("a", `d${index}`, shapes[index % shapes.length]?.(40_000)));
    const checks = new DefinitionChecks();
    let ticks = 0;
    const others = setInterval(() => (ticks += 1), 0);
    const first = new Turns();
    const found = await checks.findingsOf("a", all, terms, first);
    expect([found?.size, first.count >= 60]).toEqual([60, true]);
    // Timers, such as that of the lease, run between the turns.
    expect(ticks).toBeGreaterThanOrEqual(30);
    const again = new Turns();
    const changed = [...all.slice(1), definition("a", "d0", pool("10.1.0.0/24"))];
    await checks.findingsOf("a", changed, terms, again);
    clearInterval(others);
    expect(again.count).toBeLessThan(first.count / 2);
  });

  test("FI-05: have a condition that counts what it does not show, and says what was not compared", async () => {
    const terms = termsOf({}, ["macvlan", "bridge"]);
    const all = [
      definition("a", "many", worstShapes["ranges with a mistake"]?.(4_000)),
      definition("a", "wide", worstShapes["ranges that are disjoint"]?.(20_000)),
    ];
    const found = await new DefinitionChecks().findingsOf("a", all, terms);
    const text = (key: string): string => {
      const { findings = [], omitted } = found?.get(key) ?? {};
      return conditionsText(findings, omitted) ?? "";
    };
    expect(text("a/many")).toMatch(/ipam\.ranges\.0\.0\.subnet.*And \d{3} more\./u);
    expect(text("a/wide")).toMatch(/has \d+ address ranges, of which plexus-controller compares the first 256/u);
  });

  test("FI-05: are given up with the leader's term", async () => {
    const stopped = new AbortController();
    stopped.abort();
    const turns = new Turns({ signal: stopped.signal });
    expect(await new DefinitionChecks().findingsOf("a", [definition("a", "x", "{}")], termsOf({}), turns)).toBeUndefined();
  });
});
