// STATUS on a node whose disk is full. The file system is mounted in the tests' mount namespace, which the suites' daemon does not share.

import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installRecorder } from "../../lab/recorder.ts";
import { missingForMixed } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";

describe.skipIf(missingForMixed("a full disk"))("a full disk", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage({ serving: "one-shot" });
    installRecorder(stage.plexus.cniPath, "recorder");
  });
  afterEach(() => stage.dispose());

  test.each([
    ["space", "size=64k", "bytes"],
    // The directory itself has one of the inodes.
    ["inode", "size=64m,nr_inodes=9", "inodes"],
  ])("MO-13: STATUS fails with code 50 while the disk has no %s for the journal", async (_, size, unit) => {
    const directory = join(stage.plexus.directory, "small");
    mkdirSync(directory);
    execFileSync("mount", ["-t", "tmpfs", "-o", size, "tmpfs", directory]);
    try {
      const config = stage.network([{ type: "recorder" }], { cniVersion: "1.1.0", cniDir: join(directory, "state") });
      expect(await stage.request({ verb: "STATUS", config })).toMatchObject({
        status: 1,
        json: {
          code: 50,
          msg: expect.stringMatching(new RegExp(String.raw`^journal in .*/small/state: its file system has \d+ ${unit} left`)),
        },
      });
    } finally {
      execFileSync("umount", [directory]);
    }
  });
});
