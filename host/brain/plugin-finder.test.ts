import { beforeEach, describe, expect, test } from "vitest";

import type { FindEffect } from "../hands/hands.ts";
import type { Found } from "../hands/messages.ts";
import { FormerFinds } from "./former-finds.ts";
import { PluginFinder, type PluginFinderInit } from "./plugin-finder.ts";

const path = "/opt/cni/bin";
let there: Readonly<Record<string, Found["what"]>> = {};
let asked: FindEffect[] = [];
let finds = new FormerFinds();
beforeEach(() => {
  there = { bridge: "native", portmap: "native", "ipam-host-local": "component" };
  asked = [];
  finds = new FormerFinds();
});

const identity = "1:2:3:4:5";

/** Of a new call: the hands look at what is there. */
function finder(more: Partial<PluginFinderInit> = {}): PluginFinder {
  const find = (effect: FindEffect): Promise<Found> => {
    asked.push(effect);
    const what = there[effect.type] ?? "nothing";
    const found = what === "nothing" ? { path: "", identity: "" } : { path: `${path}/${effect.type}`, identity };
    return Promise.resolve({ kind: "found", what, ...found });
  };
  return new PluginFinder({ hands: { find }, prefer: false, former: finds.on(path), ...more });
}

/** A call that asks for all of these. */
async function earlier(...types: readonly string[]): Promise<void> {
  const first = finder();
  await Promise.all(types.map((type) => first.find(type)));
  asked = [];
}

const types = ["bridge", "ipam-host-local", "portmap"];

describe("a finder", () => {
  test("asks for each type once, those of a later call anew", async () => {
    await earlier("bridge");
    const next = finder();
    expect([await next.find("bridge"), await next.find("bridge")]).toMatchObject([{ what: "native" }, { what: "native" }]);
    expect(asked).toEqual([{ type: "bridge", componentFirst: false }]);
    expect(next.takenForGranted()).toEqual([]);
  });

  test("takes for granted what earlier calls found, and tells of it once", async () => {
    await earlier(...types);
    const next = finder();
    next.takeForGranted(types);
    expect((await Promise.all(types.map((type) => next.find(type)))).map(({ what }) => what)).toEqual([
      "native",
      "component",
      "native",
    ]);
    expect(asked).toEqual([]);
    expect(next.takenForGranted()).toEqual([
      { type: "bridge", identity: "" },
      { type: "ipam-host-local", identity },
      { type: "portmap", identity: "" },
    ]);
    expect(next.takenForGranted()).toEqual([]);
  });

  test.each<readonly [string, readonly string[], () => Promise<PluginFinder>]>([
    ["an earlier call found nothing", ["absent"], async () => finder()],
    ["the first is a component: nothing would be executed that could tell", ["ipam-host-local", "bridge"], async () => finder()],
    ["components come first", types, async () => finder({ prefer: true })],
    ["components of the first type come first", types, async () => finder({ prefer: ["bridge"] })],
    ["no call was before", types, async () => finder({ former: undefined })],
    ["it was on another CNI_PATH", types, async () => finder({ former: finds.on("/other") })],
    [
      "the first was asked for already",
      types,
      async () => {
        const next = finder();
        await next.find("bridge");
        return next;
      },
    ],
    [
      "it was doubted",
      types,
      async () => {
        const next = finder();
        next.doubt();
        return next;
      },
    ],
  ])("takes nothing for granted where %s", async (_, wanted, open) => {
    await earlier(...types, "absent");
    const next = await open();
    next.takeForGranted(wanted);
    expect(next.takenForGranted()).toEqual([]);
    asked = [];
    await Promise.all(wanted.map((type) => next.find(type)));
    expect(asked.length).toBeGreaterThanOrEqual(wanted.length - 1);
  });

  test("looks for the others of a type that prefers components", async () => {
    await earlier(...types);
    const next = finder({ prefer: ["ipam-host-local"] });
    next.takeForGranted(types);
    expect(next.takenForGranted().map(({ type }) => type)).toEqual(["bridge", "portmap"]);
    await next.find("ipam-host-local");
    expect(asked).toEqual([{ type: "ipam-host-local", componentFirst: true }]);
  });

  test("that is doubted asks for what it took for granted, and so do later calls until it is found again", async () => {
    await earlier(...types);
    const next = finder();
    next.takeForGranted(types);
    there = { ...there, bridge: "component" };
    expect([next.doubt(), next.doubt()]).toEqual([true, false]);
    expect(next.takenForGranted()).toEqual([]);
    expect(await next.find("bridge")).toMatchObject({ what: "component" });
    const later = finder();
    later.takeForGranted(types);
    expect(later.takenForGranted()).toEqual([]);
    await later.find("bridge");
    expect(asked.map(({ type }) => type)).toEqual(["bridge", "bridge"]);
  });
});

describe("what earlier calls found", () => {
  test("is bounded: with more types than a node has, all are looked for anew", () => {
    const found: Found = { kind: "found", what: "native", path: "/p", identity };
    const here = finds.on(path);
    for (let type = 0; type < 1024; type++) here.keep(String(type), found);
    here.keep("0", found);
    expect([here.of("0"), here.of("1023")]).toEqual([found, found]);
    here.keep("one more", found);
    expect([here.of("0"), here.of("one more")]).toEqual([undefined, found]);
    for (let other = 0; other < 15; other++) finds.on(String(other));
    expect(finds.on(path)).toBe(here);
    finds.on("one more");
    expect(finds.on(path)).not.toBe(here);
  });

  test("is forgotten where it is gone", () => {
    const here = finds.on(path);
    here.keep("bridge", { kind: "found", what: "native", path: "/p", identity });
    here.keep("bridge", { kind: "found", what: "nothing", path: "", identity: "" });
    expect(here.of("bridge")).toBeUndefined();
  });
});
