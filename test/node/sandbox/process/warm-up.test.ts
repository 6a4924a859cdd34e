import { mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ProcessPool } from "../../../../host/sandbox/process/pool.ts";

test("warmUp starts the processes that could not be started before", async () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-pool-"));
  const node = join(directory, "node");
  const pool = new ProcessPool({ node, warm: 1, maxProcesses: 2 });
  try {
    await expect.poll(() => pool.counts).toMatchObject({ idle: 0, starting: 0, started: 1, ended: 1 });
    symlinkSync(process.execPath, node);
    pool.warmUp();
    pool.warmUp();
    await expect.poll(() => pool.counts).toMatchObject({ idle: 1, starting: 0, started: 2, ended: 1 });
  } finally {
    await pool.close();
    rmSync(directory, { recursive: true });
  }
});
