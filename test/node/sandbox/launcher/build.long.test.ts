import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

import { buildShim } from "../../../../host/shim/build.ts";
import { protectionsOf } from "../../shim/testing/elf.ts";
import { buildLauncher } from "../../../../host/sandbox/launcher/build.ts";

let outDir = "";
beforeAll(() => {
  outDir = mkdtempSync(join(tmpdir(), "plexus-launcher-build-"));
});
afterAll(() => rmSync(outDir, { recursive: true, force: true }));

test("the launcher is hardened like the shim: position-independent, no writable code, no executable stack, no loader", async () => {
  const [launcher, shim] = [await buildLauncher({ outDir }), await buildShim({ outDir })];
  const { ibt, shadowStack } = protectionsOf(shim.path);
  expect(protectionsOf(launcher.path)).toMatchObject({
    pie: launcher.linkage !== "static",
    stackNotExecutable: true,
    fullRelro: true,
    writableCode: 0,
    mixedCode: false,
    symbols: false,
  });
  expect(protectionsOf(launcher.path).interpreter === undefined).toBe(launcher.linkage !== "dynamic");
  // A libc that was built without these marks takes them from a static program.
  const marks = launcher.linkage === shim.linkage ? { ibt, shadowStack } : {};
  expect(protectionsOf(launcher.path)).toMatchObject(marks);
});
