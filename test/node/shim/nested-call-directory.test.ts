import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  unusedNestedCallDirectories,
  temporaryNestedCallDirectory,
  removeUnusedNestedCallDirectories,
} from "../../../host/engine/call/nested-call-directory.ts";

const hourAgo = Date.now() / 1000 - 3600;

test("each call without a container has a directory of its own; old directories without a lock are removed", async () => {
  const run = mkdtempSync(join(tmpdir(), "plexus-nested-call-directories-"));
  const nestedCallDirectory = (old: boolean): string => {
    const path = join(run, temporaryNestedCallDirectory());
    mkdirSync(path, { mode: 0o700 });
    symlinkSync("/kept", join(path, "ipam"));
    if (old) utimesSync(path, hourAgo, hourAgo);
    return path;
  };
  nestedCallDirectory(true);
  const [fresh, held] = [nestedCallDirectory(false), nestedCallDirectory(true)];
  // Two directories of containers, and a name with one digit too many.
  for (const name of ["0123456789abcdef", "fedcba9876543210", "0123456789abcdef0"]) mkdirSync(join(run, name));
  symlinkSync(fresh, join(run, "a-link"));
  for (const name of ["0123456789abcdef", "0123456789abcdef0"]) utimesSync(join(run, name), hourAgo, hourAgo);
  const shim = spawn("flock", [held, "sh", "-c", "echo held; read line"], { stdio: ["pipe", "pipe", "inherit"] });
  await once(shim.stdout, "data");
  expect(unusedNestedCallDirectories(run)).toHaveLength(2);
  removeUnusedNestedCallDirectories(run);
  const kept = ["fedcba9876543210", "0123456789abcdef0", "a-link", fresh.slice(run.length + 1)];
  expect(readdirSync(run).toSorted()).toEqual([...kept, held.slice(run.length + 1)].toSorted());
  shim.stdin.end("\n");
  await once(shim, "close");
  removeUnusedNestedCallDirectories(run);
  expect(readdirSync(run).toSorted()).toEqual(kept.toSorted());
  expect(readdirSync(fresh)).toEqual(["ipam"]);
  removeUnusedNestedCallDirectories(join(run, "nowhere"));
  rmSync(run, { recursive: true });
});
