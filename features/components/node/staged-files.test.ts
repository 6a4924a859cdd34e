// Several files that are replaced together.

import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { replaceFiles } from "./staged-files.ts";

describe("files that are replaced together", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-staged-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  test("are readable by all whatever the umask, in directories that are made", () => {
    const path = join(directory, "new", "a.wasm");
    const umask = process.umask(0o077);
    try {
      expect(replaceFiles([{ path, content: Buffer.from([1, 2]) }])).toEqual({ ok: true, value: undefined });
    } finally {
      process.umask(umask);
    }
    expect(readFileSync(path)).toEqual(Buffer.from([1, 2]));
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(readdirSync(join(directory, "new"))).toEqual(["a.wasm"]);
  });

  test("stay as they were if one of them can't be written", () => {
    const first = join(directory, "a.wasm");
    writeFileSync(first, "old");
    writeFileSync(join(directory, "file"), "");
    const replaced = replaceFiles([
      { path: first, content: "new" },
      { path: join(directory, "file", "b.wasm"), content: "new" },
    ]);
    expect(replaced).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED" } });
    expect(readFileSync(first, "utf8")).toBe("old");
    expect(readdirSync(directory).toSorted()).toEqual(["a.wasm", "file"]);
  });

  test("replace the temporary file of an interrupted write, and never write through a link", () => {
    const path = join(directory, "a.wasm");
    const victim = join(directory, "victim");
    writeFileSync(victim, "untouched");
    symlinkSync(victim, join(directory, ".a.wasm.new"));
    expect(replaceFiles([{ path, content: "new" }]).ok).toBe(true);
    expect(readFileSync(victim, "utf8")).toBe("untouched");
    expect(readFileSync(path, "utf8")).toBe("new");
  });

  test("fail if a directory has a file's name", () => {
    const path = join(directory, "a.wasm");
    mkdirSync(path);
    expect(replaceFiles([{ path, content: "new" }])).toMatchObject({ ok: false, fault: { msg: expect.stringContaining(path) } });
  });
});
