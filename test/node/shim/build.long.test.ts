import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { buildShim } from "../../../host/shim/build.ts";
import { protectionsOf } from "./testing/elf.ts";

let outDir = "";
beforeAll(() => {
  outDir = mkdtempSync(join(tmpdir(), "plexus-build-"));
});
afterAll(() => rmSync(outDir, { recursive: true, force: true }));

describe("building the shim", () => {
  test("makes one static executable under 1 MiB, and builds nothing while the inputs are unchanged", async () => {
    const built = await buildShim({ outDir });
    expect(built).toMatchObject({ path: join(outDir, "plexus"), compiled: true });
    expect(built.size).toBe(statSync(built.path).size);
    expect(built.size).toBeLessThan(1 << 20);
    const { ino } = statSync(built.path);
    expect(await buildShim({ outDir })).toEqual({ ...built, compiled: false });
    expect(statSync(built.path).ino).toBe(ino);
    writeFileSync(join(outDir, "plexus.build.json"), "{}");
    utimesSync(built.path, 0, 0);
    expect((await buildShim({ outDir })).compiled).toBe(true);
  });

  test("is hardened: position-independent, no writable code, no executable stack, no lazy binding, no loader", async () => {
    const { path, linkage } = await buildShim({ outDir });
    expect(protectionsOf(path)).toMatchObject({
      pie: linkage !== "static",
      stackNotExecutable: true,
      fullRelro: true,
      writableCode: 0,
      mixedCode: false,
      symbols: false,
    });
    expect(protectionsOf(path).interpreter === undefined).toBe(linkage !== "dynamic");
  });

  test("marks the targets of indirect branches, and allows a shadow stack, if the compiler can", async (context) => {
    const { path } = await buildShim({ outDir });
    const program = join(outDir, "marked");
    const flags = ["-fcf-protection=full", "-nostdlib", "-static", "-ffreestanding", "-x", "c", "-o", program, "-"];
    const compiled = spawnSync("cc", flags, {
      input: "void _start(void) { for (;;) {} }\n",
      stdio: ["pipe", "ignore", "ignore"],
    });
    if (compiled.status !== 0 || !protectionsOf(program).ibt) return context.skip("the compiler has no -fcf-protection here");
    expect(protectionsOf(path)).toMatchObject({ ibt: true, shadowStack: true });
  });

  test("without a flag of the hardening lacks the protection of that flag", () => {
    const program = join(outDir, "weak");
    const source = "int main(void) { return 0; }\n";
    const flags = ["-no-pie", "-Wl,-z,norelro,-z,execstack", "-fcf-protection=none", "-x", "c", "-o", program, "-"];
    if (spawnSync("cc", flags, { input: source, stdio: ["pipe", "ignore", "ignore"] }).status !== 0)
      spawnSync(
        "cc",
        flags.filter((flag) => !flag.startsWith("-fcf")),
        { input: source, stdio: ["pipe", "ignore", "ignore"] },
      );
    const weak = { pie: false, stackNotExecutable: false, fullRelro: false, symbols: true, ibt: false };
    expect(protectionsOf(program)).toMatchObject(weak);
    expect(protectionsOf(program).interpreter).toMatch(/^\//);
  });

  test("reports the compiler's output if it cannot compile", async () => {
    await expect(buildShim({ outDir: join(outDir, "other"), cc: "/bin/false" })).rejects.toThrow("false");
  });
});
