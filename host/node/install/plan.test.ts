// The plan of an installation on a node that has an earlier one, with or without a one-shot engine.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { digestOf, listName, listNameBesidePlugins, listText } from "../uninstall/installed-files.ts";
import { removeEngine } from "./earlier-installation.ts";
import { isComplete, makePlan, type PlannedFile } from "./plan.ts";
import type { Source } from "./source.ts";

type OneShot = "node" | "off";
/** The content of tuning.wasm on the node, and the content that each list of installed files has for it. */
interface Case {
  readonly oneShot: OneShot;
  readonly present: string | undefined;
  readonly listed: { readonly home?: string; readonly plugins?: string };
  readonly kept: string | undefined;
}

function linesOf({ source: { content } }: PlannedFile): readonly string[] {
  return "text" in content ? content.text.trim().split("\n") : [];
}

describe("the plan of an installation", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-plan-"));
    for (const each of ["release/engine", "home", "bin"]) mkdirSync(join(directory, each), { recursive: true });
    writeFileSync(join(directory, "release/engine/once.cjs"), "");
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const at = (path: string) => ({ onNode: join(directory, path), here: join(directory, path) });
  const release = (): Source => ({
    home: [{ name: "engine.cjs", content: { text: "engine" }, mode: 0o644 }],
    code: join(directory, "release/engine"),
    shim: { name: "plexus", content: { text: "shim" }, mode: 0o755 },
    components: [{ name: "tuning.wasm", content: { text: "new" }, mode: 0o644 }],
  });

  function digest(content: string): string {
    const path = join(directory, "content");
    writeFileSync(path, content);
    return digestOf(path);
  }

  function list(path: string, contents: Readonly<Record<string, string>>): void {
    const files = Object.entries(contents).map(([name, content]) => {
      const place = name.endsWith(".wasm") ? ("cni-bin" as const) : ("home" as const);
      return { place, name, digest: digest(content) };
    });
    writeFileSync(join(directory, path), listText(files));
  }

  function planned(oneShot: OneShot, init: Source = release()) {
    const plan = makePlan(init, at("bin"), at("home"), oneShot);
    if (!plan.ok) throw new Error(plan.fault.msg);
    return plan.value;
  }

  test.each<[string, Case]>([
    ["nothing", { oneShot: "node", present: undefined, listed: {}, kept: undefined }],
    ["an unlisted component", { oneShot: "node", present: "own", listed: {}, kept: "was not installed by Plexus" }],
    ["node, then node", { oneShot: "node", present: "old", listed: { home: "old" }, kept: undefined }],
    ["off, then node", { oneShot: "node", present: "old", listed: { plugins: "old" }, kept: undefined }],
    ["node, then off", { oneShot: "off", present: "old", listed: { home: "old" }, kept: undefined }],
    ["off, then off", { oneShot: "off", present: "old", listed: { plugins: "old" }, kept: undefined }],
    [
      "off, then an interrupted change to node",
      { oneShot: "node", present: "newer", listed: { plugins: "old", home: "newer" }, kept: undefined },
    ],
    [
      "off, and a change by the administrator, then node",
      { oneShot: "node", present: "own", listed: { plugins: "old" }, kept: "was changed since it was installed" },
    ],
    [
      "node, and a change by the administrator, then off",
      { oneShot: "off", present: "own", listed: { home: "old" }, kept: "was changed since it was installed" },
    ],
  ])("after %s", (_, { oneShot, present, listed, kept }) => {
    if (present !== undefined) writeFileSync(join(directory, "bin/tuning.wasm"), present);
    if (listed.home !== undefined) list(join("home", listName), { "tuning.wasm": listed.home });
    if (listed.plugins !== undefined) list(join("bin", listNameBesidePlugins), { "tuning.wasm": listed.plugins });
    const plan = planned(oneShot);
    expect(plan.kept.map(({ why }) => why)).toEqual(kept === undefined ? [] : [kept]);
    expect(plan.components).toHaveLength(kept === undefined ? 1 : 0);
    expect(plan.obsolete === undefined).toBe(oneShot === "node" || listed.home === undefined);
    expect(isComplete(plan)).toBe(false);
    // One line for each file, although both lists have it.
    expect(plan.lists).toHaveLength(oneShot === "node" ? 2 : 1);
    for (const each of plan.lists)
      expect(linesOf(each).filter((line) => line.endsWith("tuning.wasm"))).toHaveLength(kept === undefined ? 1 : 0);
  });

  test("a component of both lists that is no longer selected stays, with one line", () => {
    writeFileSync(join(directory, "bin/tuning.wasm"), "old");
    list(join("home", listName), { "tuning.wasm": "old" });
    list(join("bin", listNameBesidePlugins), { "tuning.wasm": "old" });
    const { lists } = planned("off", { ...release(), components: [] });
    expect(lists.flatMap(linesOf).filter((line) => line.endsWith("tuning.wasm"))).toHaveLength(1);
  });

  test("a malformed list of the other kind is no permission to replace or to remove anything", () => {
    writeFileSync(join(directory, "bin/tuning.wasm"), "old");
    writeFileSync(join(directory, "home", listName), "nonsense\n");
    const plan = planned("off");
    expect(plan.obsolete).toBeUndefined();
    expect(plan.kept).toMatchObject([{ why: "was not installed by Plexus" }]);
  });

  test("a changed file of the earlier engine stays, and so does its line", () => {
    writeFileSync(join(directory, "home/engine.cjs"), "changed");
    writeFileSync(join(directory, "home/plexusd.cjs"), "daemon");
    list(join("home", listName), { "engine.cjs": "engine", "plexusd.cjs": "daemon", "tuning.wasm": "old" });
    const { obsolete } = planned("off");
    if (obsolete === undefined) throw new Error("the home directory has a list");
    const path = join(directory, "home/engine.cjs");
    const expected = {
      removed: [join(directory, "home/plexusd.cjs")],
      kept: [{ path, why: "was changed since it was installed" }],
    };
    expect(removeEngine(obsolete, true)).toEqual(expected);
    expect(removeEngine(obsolete, false)).toEqual(expected);
    expect(planned("off").obsolete?.files.map(({ name }) => name)).toEqual(["engine.cjs", "plexusd.cjs"]);
    writeFileSync(path, "engine");
    expect(removeEngine(obsolete, false)).toEqual({ removed: [path], kept: [] });
    expect(planned("off").obsolete).toBeUndefined();
  });
});
