import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EarlierState } from "./earlier-state.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-earlier-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** The recycled files that 0.1.0 left in a state directory. */
function leaveFiles(state: string): string {
  const spares = join(state, ".plexus-spares");
  mkdirSync(spares, { recursive: true });
  writeFileSync(join(spares, ".plexus-spare-1"), "x", { mode: 0o600 });
  return spares;
}

test("The recycled files of 0.1.0 are removed from each state directory, once", () => {
  const states = ["one", "two"].map((name) => join(root, name));
  const spares = states.map(leaveFiles);
  const earlier = new EarlierState();
  for (const cniDir of states) earlier.clean({ cniDir });
  expect(spares.map((path) => existsSync(path))).toEqual([false, false]);
  for (const state of states) leaveFiles(state);
  for (const cniDir of states) earlier.clean({ cniDir });
  expect(spares.map((path) => existsSync(path))).toEqual([true, true]);
});

test("Other files of a state directory stay, and a state directory that does not exist is not made", () => {
  const state = join(root, "state");
  leaveFiles(state);
  writeFileSync(join(state, "calls.lock"), "");
  const earlier = new EarlierState();
  for (const cniDir of [state, join(root, "missing")]) earlier.clean({ cniDir });
  expect(["state/calls.lock", "missing"].map((path) => existsSync(join(root, path)))).toEqual([true, false]);
});
