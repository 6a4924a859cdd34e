import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { abandonedNests, nestOfCall, removeAbandonedNests } from "./nest-directory.ts";

const hourAgo = Date.now() / 1000 - 3600;

test("Nests of calls without a container are told apart; all go once they are old and nobody holds them", async () => {
  const run = mkdtempSync(join(tmpdir(), "plexus-nests-"));
  const nest = (old: boolean): string => {
    const path = nestOfCall(run);
    mkdirSync(path, { mode: 0o700 });
    symlinkSync("/kept", join(path, "ipam"));
    if (old) utimesSync(path, hourAgo, hourAgo);
    return path;
  };
  nest(true);
  const [fresh, held] = [nest(false), nest(true)];
  // Of containers; and what is none.
  for (const name of ["0123456789abcdef", "fedcba9876543210", "0123456789abcdef0"]) mkdirSync(join(run, name));
  symlinkSync(fresh, join(run, "a-link"));
  for (const name of ["0123456789abcdef", "0123456789abcdef0"]) utimesSync(join(run, name), hourAgo, hourAgo);
  const hands = spawn("flock", [held, "sh", "-c", "echo held; read line"], { stdio: ["pipe", "pipe", "inherit"] });
  await once(hands.stdout, "data");
  expect(abandonedNests(run)).toHaveLength(2);
  removeAbandonedNests(run);
  const kept = ["fedcba9876543210", "0123456789abcdef0", "a-link", fresh.slice(run.length + 1)];
  expect(readdirSync(run).toSorted()).toEqual([...kept, held.slice(run.length + 1)].toSorted());
  hands.stdin.end("\n");
  await once(hands, "close");
  removeAbandonedNests(run);
  expect(readdirSync(run).toSorted()).toEqual(kept.toSorted());
  expect(readdirSync(fresh)).toEqual(["ipam"]);
  removeAbandonedNests(join(run, "nowhere"));
  rmSync(run, { recursive: true });
});
