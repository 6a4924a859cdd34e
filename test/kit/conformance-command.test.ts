// The command `conformance`: set-ups, formats and exit codes, on Plexus' own delegates.

import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildDelegate } from "../../delegates/sdk/build/build-delegate.ts";
import { commands } from "../../delegates/sdk/program/commands.ts";
import { runProgram } from "../../delegates/sdk/program/run-program.ts";

let root: string;
let tuning: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "plexus-conformance-"));
  tuning = join(root, "build", "tuning.wasm");
  mkdirSync(join(root, "build"));
  await buildDelegate({ dir: directoryOf("tuning"), outFile: tuning });
  copyFileSync(join(directoryOf("tuning"), "conformance.json"), join(root, "conformance.json"));
});
afterAll(() => rmSync(root, { recursive: true }));

function directoryOf(name: string): string {
  return fileURLToPath(new URL(`../../delegates/${name}`, import.meta.url));
}

async function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const lines: { out: string[]; err: string[] } = { out: [], err: [] };
  const output = { say: (l: string) => void lines.out.push(l), warn: (l: string) => void lines.err.push(l), colour: false };
  const code = await runProgram({ commands, version: "1.2.3" }, ["conformance", ...args], output);
  return { code, out: lines.out.join("\n"), err: lines.err.join("\n") };
}

describe("conformance", () => {
  test.each([
    "bandwidth",
    "bridge-adapter",
    "dummy",
    "external-port",
    "firewall",
    "ipvlan",
    "macvlan",
    "ovs",
    "tap",
    "vlan",
    "vrf",
    "ipam-host-local",
    "loopback",
    "tuning",
    "portmap",
    "sbr",
    "status-shaper",
  ])("X-7: the delegate %s fails no check", async (name) => {
    const file = join(root, `${name}.wasm`);
    await buildDelegate({ dir: directoryOf(name), outFile: file });
    const { code, out } = await run(file, `--config=${join(directoryOf(name), "conformance.json")}`);
    expect(out).not.toContain("FAILED");
    expect(code).toBe(0);
    // All verbs ran: a check of each group passed.
    for (const id of ["VER-4", "ADD-3", "DEL-3", "CHK-1", "GC-3", "STA-1", "ERR-1", "OUT-2", "CON-3"]) {
      expect(out).toMatch(new RegExp(`^passed +${id} `, "m"));
    }
  });

  test("finds conformance.json one directory above the component, and prints each reason of a skip", async () => {
    const { code, out, err } = await run(tuning);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^skipped {2}DEL-2 {3}.*\n {17}sysctls end with/m);
    expect(out).toMatch(/^62 checks of tuning \(component\): \d+ passed, 0 failed, \d+ skipped$/m);
  });

  test("takes the configuration and the state from a vector", async () => {
    const vector = join(directoryOf("tuning"), "vectors", "01-passes-the-result.in.json");
    const { code, out } = await run(tuning, `--request=${vector}`, "--only=PREV-1,CHK-1");
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining("2 checks of tuning (component): 2 passed, 0 failed, 0 skipped"),
    });
  });

  test("prints TAP, JUnit and JSON with verdict, reason and section, and ends with 1 for a failure", async () => {
    const wrong = join(root, "wrong.json");
    const sysctl = { "net/core/somaxconn": "4096" };
    const configuration = { sysctl: { "net.core.somaxconn": "512" } };
    writeFileSync(wrong, JSON.stringify({ role: "chained", configuration, sysctl, invalid: { mtu: 1400 } }));
    const args = [tuning, `--config=${wrong}`, "--only=DEL-2,ERR-7,STA-2,OUT-1"];
    const human = await run(...args);
    expect(human.code).toBe(1);
    expect(human.out).toMatch(
      /^FAILED {3}ERR-7 .*\n {17}ADD with the invalid configuration succeeds\n {17}Section 5: Error: https:.*#error$/m,
    );
    const tap = await run(...args, "--tap");
    expect(tap.code).toBe(1);
    expect(tap.out).toMatch(
      /^TAP version 14\n1\.\.4\nnot ok 1 - DEL-2 DEL removes all that ADD made\.\n {2}---\n {2}message: "sysctl /,
    );
    expect(tap.out).toMatch(/^ok 2 - STA-2 .* # SKIP conformance\.json has no notReady$/m);
    const junit = await run(...args, "--junit");
    expect(junit.out).toContain('<testsuite name="CNI conformance of tuning" tests="4" failures="2" errors="0" skipped="1"');
    expect(junit.out).toContain('<skipped message="conformance.json has no notReady"/>');
    const json = await run(...args, "--json");
    expect(JSON.parse(json.out)).toMatchObject({
      apiVersion: "plexus/v1",
      kind: "ConformanceReport",
      type: "tuning",
      subject: "component",
      passed: 1,
      failed: 2,
      skipped: 1,
      checks: [
        {
          id: "DEL-2",
          verdict: "failed",
          section: expect.stringContaining("#del-remove"),
          why: expect.stringContaining("sysctl"),
        },
        { id: "STA-2", verdict: "skipped" },
        { id: "ERR-7", verdict: "failed" },
        { id: "OUT-1", verdict: "passed" },
      ],
    });
  });

  test("lists the checks, and names the mistake of a command line or a set-up", async () => {
    expect((await run("--list")).out).toMatch(/^DEL-3 {3}A second DEL succeeds\.$/m);
    expect(await run(tuning, "--only=DEL-33")).toMatchObject({ code: 2, err: expect.stringContaining("no check DEL-33") });
    expect(await run(tuning, "--tap", "--json")).toMatchObject({ code: 2, err: expect.stringContaining("choose one format") });
    const wrong = join(root, "typo.json");
    writeFileSync(wrong, JSON.stringify({ configuration: {}, notready: {} }));
    expect(await run(tuning, `--config=${wrong}`)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`${wrong}: notready: no such member; did you mean notReady?`),
    });
    const alone = join(root, "build", "alone.wasm");
    copyFileSync(tuning, alone);
    rmSync(join(root, "conformance.json"));
    expect(await run(alone)).toMatchObject({ code: 2, err: expect.stringContaining("no valid configuration of alone is known") });
  });
});
