// `plexus-delegate new --template KIND`: each kind's delegate builds, passes its vectors and the conformance checks, and has valid grants.

import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { kinds } from "../../delegates/sdk/build/templates/kinds/kinds.ts";
import { commands } from "../../delegates/sdk/program/commands.ts";
import { runProgram } from "../../delegates/sdk/program/run-program.ts";
import { readHostConfiguration } from "../../src/configuration/read-host-configuration.ts";

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-kinds-"));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(line);
  const code = await runProgram({ commands, version: "0.1.0" }, args, { say: add, warn: add, colour: false });
  return { code, text: lines.join("\n") };
}

describe.each(Object.keys(kinds))("the template %s", (kind) => {
  const name = `my-${kind}`;

  test("passes its vectors without a warning", async () => {
    const dir = join(root, name);
    expect(await run("new", name, `--template=${kind}`, `--dir=${dir}`)).toMatchObject({ code: 0 });
    const { code, text } = await run("test", dir);
    expect({ code, text }).toMatchObject({ code: 0, text: expect.stringContaining("3 passed, 0 failed") });
    expect(text).not.toContain("warning");
  });

  test("passes the conformance checks", async () => {
    const { code, text } = await run("conformance", join(root, name, "build", `${name}.wasm`));
    const failed = text.split("\n").filter((line) => line.startsWith("FAILED"));
    expect({ code, failed, text }).toMatchObject({ code: 0, failed: [] });
  });

  test("has the project's format, and grants that a node reads", () => {
    const dir = join(root, name);
    const oxfmt = spawnSync("node_modules/.bin/oxfmt", ["--check", dir], { encoding: "utf8" });
    expect({ status: oxfmt.status, output: `${oxfmt.stdout}${oxfmt.stderr}` }).toMatchObject({ status: 0 });
    const [, granting = ""] = /```json\n([^`]*)```/.exec(readFileSync(join(dir, "README.md"), "utf8")) ?? [];
    const { wasm } = JSON.parse(granting) as { readonly wasm: object };
    const read = readHostConfiguration({ name: "n", type: "plexus", delegates: [{ type: "x" }], wasm });
    expect(read).toMatchObject({ ok: true });
  });
});

test("an unknown template, and a template in another language, are refused", async () => {
  expect(await run("new", "mine", "--template=mian", `--dir=${join(root, "none")}`)).toEqual({
    code: 2,
    text: "plexus-delegate: new: unknown template mian; did you mean main?",
  });
  expect(await run("new", "mine", "--template=main", "--language=js", `--dir=${join(root, "none")}`)).toMatchObject({
    code: 2,
    text: expect.stringContaining("are in AssemblyScript"),
  });
});
