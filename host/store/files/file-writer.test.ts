import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backgroundWriter } from "./background-writer.ts";
import { RecycledFiles } from "./recycled-files.ts";

const rules = { maxBytes: 1000, durable: true };

describe.each([
  ["in the background", backgroundWriter()],
  ["on libuv's threads, as with a slow disk", backgroundWriter(0)],
  ["with recycled files", backgroundWriter(undefined, new RecycledFiles())],
])("writing files %s", (_, writer) => {
  let directory: string;
  beforeEach(() => {
    directory = join(mkdtempSync(join(tmpdir(), "plexus-writer-")), "files");
    mkdirSync(directory);
  });
  afterEach(() => rmSync(dirname(directory), { recursive: true }));

  async function written(path: string, content: string) {
    const file = await writer.replace(path, content, rules);
    if (!file.ok) throw new Error(file.fault.msg);
    return file.value;
  }

  test("many files at a time in a missing directory: each has its content and mode 0600", async () => {
    const names = Array.from({ length: 50 }, (_each, index) => `f${index}`);
    const missingDirectory = join(directory, "a", "b");
    const files = await Promise.all(names.map((name) => written(join(missingDirectory, name), `of ${name}\n`)));
    await Promise.all(files.map(({ close }) => close()));
    expect(readdirSync(missingDirectory).toSorted()).toEqual(names.toSorted());
    for (const name of names) expect(readFileSync(join(missingDirectory, name), "utf8")).toBe(`of ${name}\n`);
    expect([statSync(join(missingDirectory, "f7")).mode & 0o777, statSync(missingDirectory).mode & 0o777]).toEqual([
      0o600, 0o700,
    ]);
  });

  test("appended lines are in the order of the calls, even if no call is awaited, and close waits for them", async () => {
    const path = join(directory, "f");
    const file = await written(path, "0\n");
    const lines = Array.from({ length: 40 }, (_each, index) => `${index + 1}\n`);
    for (const line of lines) void file.append(line);
    await file.close();
    expect(readFileSync(path, "utf8")).toBe(["0\n", ...lines].join(""));
  });

  test("a directory in the temporary file's place hinders no removal, and an empty one no write", async () => {
    const path = join(directory, "f");
    const odd = join(directory, ".f");
    await (await written(path, "a\n")).close();
    mkdirSync(join(odd, "full"), { recursive: true });
    expect(await writer.remove(path)).toEqual({ ok: true, value: undefined });
    expect(readdirSync(directory)).toEqual([".f"]);
    expect(await writer.replace(path, "b\n", rules)).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
    rmSync(join(odd, "full"), { recursive: true });
    await (await written(path, "b\n")).close();
    expect(readFileSync(path, "utf8")).toBe("b\n");
  });

  test("a file that follows a removed one has none of its content, and appended lines are its end", async () => {
    for (const [index, content] of ["a long first one\n", "short\n", "longer than the first one\n", ""].entries()) {
      const path = join(directory, `f${index}`);
      const file = await written(path, content);
      await file.append("end\n");
      await file.close();
      expect(readFileSync(path, "utf8")).toBe(`${content}end\n`);
      expect(await writer.remove(path)).toEqual({ ok: true, value: undefined });
    }
    expect(readdirSync(directory)).toEqual([]);
  });

  test("a durable file is synced on request, and a first request after the close is a fault", async () => {
    const early = await written(join(directory, "early"), "0\n");
    expect(await early.sync()).toEqual({ ok: true, value: undefined });
    await early.close();
    expect(await early.sync()).toEqual({ ok: true, value: undefined });
    const late = await written(join(directory, "late"), "0\n");
    await late.close();
    expect(await late.sync()).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
  });

  test("an append beyond the bound is a fault, and a later append that fits succeeds", async () => {
    const path = join(directory, "f");
    const file = await written(path, "0\n");
    expect(await file.append("x".repeat(999))).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
    expect(await file.append("1\n")).toEqual({ ok: true, value: undefined });
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("0\n1\n");
  });

  test("a link at the temporary path is replaced and not followed", async () => {
    const [path, elsewhere] = [join(directory, "f"), join(directory, "elsewhere")];
    writeFileSync(elsewhere, "foreign");
    symlinkSync(elsewhere, join(directory, ".f"));
    writeFileSync(path, "old");
    await (await written(path, "new\n")).close();
    expect([readFileSync(path, "utf8"), readFileSync(elsewhere, "utf8")]).toEqual(["new\n", "foreign"]);
    expect(readdirSync(directory).toSorted()).toEqual(["elsewhere", "f"]);
  });

  test("a failed write is a fault and leaves neither a file nor a descriptor", async () => {
    const path = join(directory, "taken");
    mkdirSync(path);
    const failed = async () => expect(await writer.replace(path, "x", rules)).toMatchObject({ fault: { kind: "STORE_FAILED" } });
    await failed();
    const before = readdirSync("/proc/self/fd").length;
    for (let time = 0; time < 20; time++) await failed();
    await expect.poll(() => readdirSync("/proc/self/fd").length).toBeLessThan(before + 10);
    expect(readdirSync(directory)).toEqual(["taken"]);
  });

  test("a file is removed with the temporary file of an interrupted write, and a second removal succeeds", async () => {
    writeFileSync(join(directory, ".f"), "half");
    writeFileSync(join(directory, "f"), "whole");
    expect(await writer.remove(join(directory, "f"))).toEqual({ ok: true, value: undefined });
    expect(await writer.remove(join(directory, "f"))).toEqual({ ok: true, value: undefined });
    expect(readdirSync(directory)).toEqual([]);
  });
});
