import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { backgroundWriter } from "../daemon/background-writer.ts";
import { writingNow } from "./file-writer.ts";
import { Spares } from "./spares.ts";

const rules = { most: 1000, durable: true };

describe.each([
  ["at once", writingNow],
  ["in the background", backgroundWriter()],
  ["by threads, because the disk is slow", backgroundWriter({ patienceMs: 0 })],
  ["with spares", backgroundWriter({ spares: new Spares() })],
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

  test("many at a time, in a directory that isn't there, each is whole and its owner's alone", async () => {
    const names = Array.from({ length: 50 }, (_each, index) => `f${index}`);
    const place = join(directory, "a", "b");
    const files = await Promise.all(names.map((name) => written(join(place, name), `of ${name}\n`)));
    await Promise.all(files.map(({ close }) => close()));
    expect(readdirSync(place).toSorted()).toEqual(names.toSorted());
    for (const name of names) expect(readFileSync(join(place, name), "utf8")).toBe(`of ${name}\n`);
    expect([statSync(join(place, "f7")).mode & 0o777, statSync(place).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  test("what is appended stands in the order of the calls, also where nobody waits for it, and close ends it", async () => {
    const path = join(directory, "f");
    const file = await written(path, "0\n");
    const lines = Array.from({ length: 40 }, (_each, index) => `${index + 1}\n`);
    for (const line of lines) void file.append(line);
    await file.close();
    expect(readFileSync(path, "utf8")).toBe(["0\n", ...lines].join(""));
  });

  test("what comes in the place of a removed file holds nothing of it, shorter or longer, and what is appended is its end", async () => {
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

  test("what is to survive a power loss is synced once it is asked for, and not through a descriptor that is another file's by then", async () => {
    const early = await written(join(directory, "early"), "0\n");
    expect(await early.sync()).toEqual({ ok: true, value: undefined });
    await early.close();
    expect(await early.sync()).toEqual({ ok: true, value: undefined });
    const late = await written(join(directory, "late"), "0\n");
    await late.close();
    // One that writes at once has synced it already.
    const expected = writer === writingNow ? { ok: true } : { ok: false, fault: { kind: "STORE_FAILED" } };
    expect(await late.sync()).toMatchObject(expected);
  });

  test("nothing is appended beyond the bound, and what fits afterwards is", async () => {
    const path = join(directory, "f");
    const file = await written(path, "0\n");
    expect(await file.append("x".repeat(999))).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
    expect(await file.append("1\n")).toEqual({ ok: true, value: undefined });
    await file.close();
    expect(readFileSync(path, "utf8")).toBe("0\n1\n");
  });

  test("what a crash or somebody else left in its way is replaced, and not written into", async () => {
    const [path, elsewhere] = [join(directory, "f"), join(directory, "elsewhere")];
    writeFileSync(elsewhere, "theirs");
    symlinkSync(elsewhere, join(directory, ".f"));
    writeFileSync(path, "old");
    await (await written(path, "new\n")).close();
    expect([readFileSync(path, "utf8"), readFileSync(elsewhere, "utf8")]).toEqual(["new\n", "theirs"]);
    expect(readdirSync(directory).toSorted()).toEqual(["elsewhere", "f"]);
  });

  test("what can't be written is a fault that names the file, and leaves neither a file nor a descriptor", async () => {
    const path = join(directory, "taken");
    mkdirSync(path);
    const failed = async () => expect(await writer.replace(path, "x", rules)).toMatchObject({ fault: { kind: "STORE_FAILED" } });
    await failed();
    const before = readdirSync("/proc/self/fd").length;
    for (let time = 0; time < 20; time++) await failed();
    await expect.poll(() => readdirSync("/proc/self/fd").length).toBeLessThan(before + 10);
    expect(readdirSync(directory)).toEqual(["taken"]);
  });

  test("a file is removed with what an interrupted write left of it, and twice is no error", async () => {
    writeFileSync(join(directory, ".f"), "half");
    writeFileSync(join(directory, "f"), "whole");
    expect(await writer.remove(join(directory, "f"))).toEqual({ ok: true, value: undefined });
    expect(await writer.remove(join(directory, "f"))).toEqual({ ok: true, value: undefined });
    expect(readdirSync(directory)).toEqual([]);
  });
});
