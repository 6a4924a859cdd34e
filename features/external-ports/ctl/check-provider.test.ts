// plexusctl provider conformance, as a command line.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  forbiddenParameters,
  type ProviderServer,
  serverParameters,
  serverToken,
  startProviderServer,
} from "../conformance/testing/provider-server.ts";
import { runCommandLine } from "../../../host/programs/plexusctl/run-command-line.ts";

describe("plexusctl provider conformance", () => {
  let directory: string;
  let right: ProviderServer;
  let wrong: ProviderServer;
  const run = (url: string, ...args: readonly string[]): ReturnType<typeof runCommandLine> =>
    runCommandLine(
      [
        "provider",
        "conformance",
        url,
        "--token-file",
        join(directory, "token"),
        `--parameters=${JSON.stringify(serverParameters)}`,
        ...args,
      ],
      false,
    );

  beforeAll(async () => {
    directory = mkdtempSync(join(tmpdir(), "plexus-provider-"));
    writeFileSync(join(directory, "token"), `${serverToken}\n`);
    [right, wrong] = await Promise.all([startProviderServer(), startProviderServer("refuses a second release")]);
  });
  afterAll(() => {
    right.close();
    wrong.close();
    rmSync(directory, { recursive: true });
  });

  test("ends with 0 and a line for each check of a provider that follows the rules", async () => {
    const { stdout, status } = await run(right.url, "--bad-parameters", JSON.stringify(forbiddenParameters));
    expect(stdout).toContain("passed   ENS-1  ensure makes a port");
    expect(stdout).toMatch(/34 checks of http:\/\/127\.0\.0\.1:\d+: 34 passed, 0 failed, 0 skipped\n$/);
    expect(stdout.split("\n").filter((line) => line.length > 80)).toEqual([]);
    expect([status, right.count()]).toEqual([0, 0]);
  });

  test("says why a check was skipped", async () => {
    const { stdout, status } = await run(right.url, "--only", "PAR-3,REL-1");
    expect(stdout).toContain("skipped  PAR-3");
    expect(stdout).toContain("no such parameters were given: --bad-parameters");
    expect([status, stdout]).toEqual([0, expect.stringContaining("1 passed, 0 failed, 1 skipped")]);
  });

  test("ends with 1 and the reason of a failure, in each form", async () => {
    const table = await run(wrong.url, "--only", "REL-1,REL-2");
    expect(table.stdout).toContain("FAILED   REL-2  a second release of a port succeeds");
    expect(table.stdout).toContain('a second release: the answer is HTTP 404: "no such');
    const json = await run(wrong.url, "--only", "REL-2", "-o", "json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      apiVersion: "plexus/v1",
      kind: "ProviderConformanceReport",
      failed: 1,
      checks: [{ id: "REL-2", verdict: "failed", why: expect.stringContaining("HTTP 404") }],
      remaining: [],
    });
    const name = await run(wrong.url, "--only", "REL-1,REL-2", "-o", "name");
    const junit = await run(wrong.url, "--only", "REL-2", "--junit");
    expect(name.stdout).toBe("REL-2\n");
    expect(junit.stdout).toContain('<testsuites tests="1" failures="1" errors="0" skipped="0"');
    expect(junit.stdout).toContain("<failure message=");
    expect([table, json, name, junit].map(({ status }) => status)).toEqual([1, 1, 1, 1]);
  });

  test.each([
    ["ftp://provider", [], "must be a URL that begins with http:// or https://"],
    ["http://user@provider", [], "without user name"],
    ["http://provider", ["--ports", "1"], "--ports 1: must be 2 to 1000"],
    ["http://provider", ["--only", "ENS-1,XYZ-1"], "--only: no check XYZ-1"],
    ["http://provider", ["--bad-parameters", "[]"], "--bad-parameters: must be a JSON object"],
    ["http://provider", ["--owner", "A"], "--owner A: must have lower-case letters"],
    ["http://provider", ["--junit", "-o", "json"], "--junit: -o is not possible with it"],
  ])("%s %j is a mistake of the command line", async (url, args, message) => {
    const { status, stderr } = await run(url, ...args);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
  });

  test("a token file that cannot be read is named", async () => {
    const { status, stderr } = await runCommandLine(["provider", "conformance", right.url, "--token-file", "/absent"], false);
    expect([status, stderr]).toEqual([1, expect.stringContaining("--token-file /absent: ENOENT")]);
  });
});
