import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { nameOf } from "../../sandbox/component-names.ts";
import { systemClock } from "../../system/clock.ts";
import { ComponentCopies } from "./component-copies.ts";

let directory = "";
beforeEach(() => {
  directory = join(mkdtempSync(join(tmpdir(), "plexus-copies-")), "components");
});
afterEach(() => rmSync(join(directory, ".."), { recursive: true, force: true }));

const keep = (copies: ComponentCopies, text: string): Promise<void> => copies.keep(nameOf(Buffer.from(text)), Buffer.from(text));
const fileOf = (text: string): string => `${nameOf(Buffer.from(text)).slice(7)}.wasm`;
/** The copies that the next daemon loads, in order. */
async function loaded(max = 100): Promise<readonly string[]> {
  const texts: string[] = [];
  await new ComponentCopies(directory, 100, systemClock).load(max, async (bytes, name) => {
    expect(name).toBe(nameOf(bytes));
    texts.push(Buffer.from(bytes).toString());
  });
  return texts;
}

test("the next daemon loads the used components, except those that are too large", async () => {
  const copies = new ComponentCopies(directory, 100, systemClock);
  for (const text of ["one", "two", "one", "x".repeat(101)]) await keep(copies, text);
  expect((await loaded()).toSorted()).toEqual(["one", "two"]);
});

test("only the most recently used components are kept", async () => {
  const first = new ComponentCopies(directory, 100, systemClock);
  for (let number = 0; number < 8; number++) {
    await keep(first, `c${number}`);
    utimesSync(join(directory, fileOf(`c${number}`)), 1000 + number, 1000 + number);
  }
  const next = new ComponentCopies(directory, 100, systemClock);
  await keep(next, "c0");
  await keep(next, "new");
  const texts = await loaded();
  expect(new Set(texts.slice(0, 2))).toEqual(new Set(["c0", "new"]));
  expect(texts.slice(2)).toEqual(["c7", "c6", "c5", "c4", "c3", "c2"]);
  expect(readdirSync(directory)).toHaveLength(8);
  expect(await loaded(3)).toEqual(texts.slice(0, 3));
});

test("files with other names, links, directories, and copies with a wrong digest are not loaded", async () => {
  const copies = new ComponentCopies(directory, 100, systemClock);
  await keep(copies, "good");
  await keep(copies, "torn");
  writeFileSync(join(directory, fileOf("torn")), "to");
  writeFileSync(join(directory, "other.wasm"), "other");
  writeFileSync(join(directory, "target"), "linked");
  symlinkSync("target", join(directory, fileOf("linked")));
  mkdirSync(join(directory, fileOf("directory")));
  expect(await loaded()).toEqual(["good"]);
  expect(await loaded()).toEqual(["good"]);
});

test("a directory that cannot be written causes no error", async () => {
  writeFileSync(join(directory, "..", "file"), "");
  const copies = new ComponentCopies(join(directory, "..", "file", "components"), 100, systemClock);
  await keep(copies, "one");
  expect(await loaded()).toEqual([]);
});
