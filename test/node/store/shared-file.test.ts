// Processes that write one file at the same time: no write fails, and the file is never a part of a text.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LeaseDirectories } from "../../../host/store/files/lease-directories.ts";
import { writeShared } from "../../../host/store/files/shared-file.ts";
import { root } from "../../lab/compiled.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-shared-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const writes = 300;
/** Writes lines of its own letter, and prints each failure and each text that is not whole. */
const writer = (letter: string): string => `
  const { writeShared } = await import(${JSON.stringify(join(root, "host/store/files/shared-file.ts"))});
  const { readFileSync } = await import("node:fs");
  const path = process.argv[1];
  for (let n = 0; n < ${writes}; n++) {
    const written = writeShared(path, "${letter}".repeat(100_000), false);
    if (!written.ok) console.log(written.fault.msg);
    const text = readFileSync(path, "utf8");
    if (text !== text[0].repeat(100_000)) console.log("not whole: " + text.length);
  }`;

test("no write fails while other processes write the file, each reader sees a whole text, and no temporary file is left", async () => {
  const path = join(directory, "list");
  const outputs = await Promise.all(
    ["a", "b", "c"].map(async (letter) => {
      const args = ["--disable-warning=ExperimentalWarning", "--input-type=module", "-e", writer(letter), path];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
      const output: string[] = [];
      child.stdout.on("data", (chunk: Buffer) => output.push(chunk.toString()));
      const [status] = await once(child, "close");
      return { status, output: output.join("") };
    }),
  );
  expect(outputs).toEqual(outputs.map(() => ({ status: 0, output: "" })));
  expect(readFileSync(path, "utf8")).toMatch(/^(?:a+|b+|c+)$/u);
  expect(readdirSync(directory)).toEqual(["list"]);
});

const temporary = (digit: string): string => `.${digit.repeat(36)}.shared`;

test("a write removes the temporary file of a killed writer, and leaves that of a writer which may still run", () => {
  const path = join(directory, "list");
  for (const name of [temporary("1"), temporary("2"), ".other"]) writeFileSync(join(directory, name), "part");
  for (const name of [temporary("1"), ".other"]) utimesSync(join(directory, name), 1, 1);
  expect(writeShared(path, "whole")).toEqual({ ok: true, value: undefined });
  expect(readdirSync(directory).toSorted()).toEqual([temporary("2"), ".other", "list"]);
});

test("a name that is as long as the file system allows is written", () => {
  expect(writeShared(join(directory, "n".repeat(255)), "whole")).toEqual({ ok: true, value: undefined });
});

test("the list of lease directories is written where another process has a temporary file", () => {
  writeFileSync(join(directory, ".lease-directories"), "of another process");
  const list = new LeaseDirectories(directory);
  expect(list.add([directory])).toMatchObject({ ok: true });
  expect(readFileSync(join(directory, ".lease-directories"), "utf8")).toBe("of another process");
  expect([...new LeaseDirectories(directory).all]).toEqual([directory]);
});
