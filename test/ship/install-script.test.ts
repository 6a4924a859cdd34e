import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { missing } from "../lab/requires.ts";
import { missingBuild } from "../lab/plexus.ts";

test.skipIf(missing("installing", () => missingBuild()))(
  "N1-58 installing writes no CNI configuration: a runtime uses Plexus only after the administrator has configured it",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "plexus-install-"));
    try {
      const [home, bin] = [join(directory, "opt"), join(directory, "bin")];
      for (let twice = 0; twice < 2; twice++) {
        const installed = spawnSync(process.execPath, ["scripts/install.ts", "--home", home, "--cni-bin", bin], {
          encoding: "utf8",
        });
        expect([installed.status, installed.stderr]).toEqual([0, ""]);
      }
      expect(readdirSync(directory).toSorted()).toEqual(["bin", "opt"]);
      const all = readdirSync(directory, { recursive: true, encoding: "utf8" });
      expect(all.filter((name) => /\.(?:conf|conflist|json|new|old)$/.test(name))).toEqual([]);
      expect(readdirSync(bin)).toContain("plexus");
      const code = expect.stringMatching(/^engine-[0-9a-f]{12}$/);
      const programs = ["installed-files", "plexusctl.cjs", "plexusd.cjs"];
      expect(readdirSync(home).toSorted()).toEqual(["bin", "engine", code, ...programs]);
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
);
