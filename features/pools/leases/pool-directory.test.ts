// Files that are not what the daemon wrote.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { PoolDirectory } from "./pool-directory.ts";

let root: string;
beforeEach(() => void (root = mkdtempSync(join(tmpdir(), "plexus-pools-"))));
afterEach(() => rmSync(root, { recursive: true, force: true }));

test("a symbolic link is not followed: a lease behind it is a fault, and what can be lost counts as lost", () => {
  const directory = new PoolDirectory(join(root, "pools"));
  mkdirSync(join(root, "pools", "storage"), { recursive: true });
  const outside = (name: string, content: string, at: string): void => {
    writeFileSync(join(root, name), content);
    symlinkSync(join(root, name), join(root, "pools", at));
  };
  outside("pool", "{}", "storage.json");
  outside("names", "storage-1\n.", ".claimed");
  outside("note", "storage-1", ".leaving-u1");
  outside("holder", "00000000-0000-4000-8000-000000000000", ".holder");
  outside("lease", "c1\r\nnet1", "storage/10.50.0.20");
  expect([directory.poolText("storage"), directory.claimedNames(), [...directory.leaving()]]).toEqual([
    undefined,
    undefined,
    [["u1", ""]],
  ]);
  for (const read of [directory.holder(), directory.containerOf("storage", "10.50.0.20")])
    expect(read).toMatchObject({ ok: false, fault: { kind: "STORE_FAILED", msg: expect.stringContaining("ELOOP") } });
});

test("a file that is too long is not read", () => {
  writeFileSync(join(root, "storage.json"), "x".repeat(4 * 1024 * 1024 + 1));
  expect(new PoolDirectory(root).poolText("storage")).toBeUndefined();
});
