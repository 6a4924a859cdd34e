// The options of `plexusctl install` that could remove more than Plexus.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCommandLine } from "./run-command-line.ts";

const root = mkdtempSync(join(tmpdir(), "plexus-purge-"));
afterAll(() => rmSync(root, { recursive: true }));

const purge = (directory: string) => {
  const socket = join(root, "absent.sock");
  const words = ["--root", root, "--status-socket", socket, "--purge-state", directory];
  return runCommandLine(["install", "--remove", "--if-unneeded", ...words], false);
};

test.each(["", "/", "/var", "/var/lib/cni", "/var/lib/cni/.", "/var/lib/cni/plexus/..", "/opt/cni", "/opt/plexus"])(
  "--purge-state refuses a directory that has more than Plexus' state: %s",
  async (directory) => {
    expect(await purge(`${root}${directory}`)).toMatchObject({ status: 2, stderr: expect.stringContaining("--purge-state") });
  },
);

test("--purge-state takes a directory of Plexus alone; without a daemon's word nothing is removed", async () => {
  expect(await purge(`${root}/var/lib/cni/plexus`)).toMatchObject({ status: 0, stdout: expect.stringContaining("files stay") });
});
