import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { buildShim } from "./build.ts";

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

  test("is hardened: position-independent, no writable code, no lazy binding", async (context) => {
    const { path, linkage } = await buildShim({ outDir });
    if (spawnSync("readelf", ["--version"]).error !== undefined) return context.skip("no readelf here");
    const elf = execFileSync("readelf", ["-hlW", path], { encoding: "utf8" });
    expect(/Type:\s+DYN/.test(elf)).toBe(linkage !== "static");
    expect(elf).toMatch(/GNU_STACK.* RW +0x/);
    expect(elf).toContain("GNU_RELRO");
    expect(elf).not.toMatch(/LOAD.* RWE/);
    expect(elf.includes("INTERP")).toBe(linkage === "dynamic");
  });

  test("reports the compiler's output if it cannot compile", async () => {
    await expect(buildShim({ outDir: join(outDir, "other"), cc: "/bin/false" })).rejects.toThrow("false");
  });
});
