import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterEach, beforeEach, expect, test } from "vitest";

import { ComponentNames, nameOf } from "../../sandbox/component-names.ts";
import { ReadyComponents } from "./ready-components.ts";

let directory = "";
let cni = "";
let taken: string[] = [];
const opened: ReadyComponents[] = [];
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-ready-"));
  cni = join(directory, "cni");
  mkdirSync(cni);
  taken = [];
});
afterEach(() => {
  for (const each of opened.splice(0)) each.close();
  rmSync(directory, { recursive: true, force: true });
});

const open = (): ReadyComponents => {
  const made = new ReadyComponents({
    maxBytes: 100,
    take: (bytes) => void taken.push(Buffer.from(bytes).toString()),
  });
  opened.push(made);
  return made;
};
/** Writes the file atomically. */
const write = (name: string, text: string): void => {
  writeFileSync(join(directory, name), text);
  renameSync(join(directory, name), join(cni, name));
};
const expectTaken = (...texts: readonly string[]): Promise<void> =>
  expect.poll(() => taken.toSorted(), { timeout: 30_000 }).toEqual(texts.toSorted());

test("reads all components in the directory of a used one, then each new or replaced component once", async () => {
  write("one.wasm", "1");
  write("two.wasm", "2");
  write("native", "3");
  write("large.wasm", "4".repeat(101));
  mkdirSync(join(cni, "directory.wasm"));
  const ready = open();
  ready.used(join(cni, "one.wasm"));
  await expectTaken("1", "2");
  write("three.wasm", "3");
  await expectTaken("1", "2", "3");
  write("two.wasm", "22");
  await expectTaken("1", "2", "3", "22");
});

test("a name learned for a file counts only if the file's identity would show every later change", () => {
  const names = new ComponentNames();
  write("one.wasm", "1");
  const path = join(cni, "one.wasm");
  const found = (agedMs: number): { path: string; identity: string } => {
    const { dev, ino, size, mtimeNs, ctimeNs } = statSync(path, { bigint: true });
    return { path, identity: `${dev}:${ino}:${size}:${mtimeNs}:${ctimeNs - BigInt(agedMs) * 1_000_000n}` };
  };
  const bytes = readFileSync(path);
  const fresh = found(0);
  expect(names.learn(fresh, bytes)).toBe(nameOf(bytes));
  expect(names.known(fresh)).toBe(undefined);
  const rested = found(60_000);
  expect(names.learn(rested, bytes)).toBe(nameOf(bytes));
  expect(names.known(rested)).toBe(nameOf(bytes));
  // Same size and modification time, as for files of an archive: only the time of change differs.
  copyFileSync(path, join(cni, "copy"));
  const { atime, mtime } = statSync(path);
  write("one.wasm", "2");
  utimesSync(path, atime, mtime);
  expect(names.known(found(60_000))).toBe(undefined);
});
