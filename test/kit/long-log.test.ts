// A long line of log and a flood of lines: what is cut is counted (issue 33).

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDelegate } from "../../delegates/sdk/build/build-delegate.ts";
import { writeScaffold } from "../../delegates/sdk/build/scaffold.ts";
import { commands } from "../../delegates/sdk/program/commands.ts";
import { runProgram } from "../../delegates/sdk/program/run-program.ts";

let root: string;
let component: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "plexus-log-"));
  const dir = join(root, "chatty");
  await writeScaffold(dir, { name: "chatty", capabilities: [], home: { kind: "repository", sdk: "0.1.0" } });
  const file = join(dir, "assembly/index.ts");
  const loop = `if (request.network.name == "long") log.write(log.Level.Info, "x".repeat(3000000));
  for (let i = 0; i < 300; i++) log.write(log.Level.Info, i.toString());
  if (request.network.name == "trap") assert(false, "the end");
  log.write(`;
  writeFileSync(
    file,
    readFileSync(file, "utf8").replace("log.write(", () => loop),
  );
  component = join(root, "chatty.wasm");
  await buildDelegate({ dir, outFile: component, quick: true });
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

async function run(name: string, ...args: readonly string[]): Promise<readonly string[]> {
  const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/run/netns/pod-1", CNI_IFNAME: "eth0" };
  const stdin = { cniVersion: "1.1.0", name, type: "chatty", prevResult: { cniVersion: "1.1.0" } };
  const request = join(root, "request.json");
  writeFileSync(request, JSON.stringify({ about: "A run.", verb: "ADD", env, stdin }));
  const lines: string[] = [];
  const output = { say: () => undefined, warn: (line: string) => void lines.push(line), colour: false };
  await runProgram({ commands, version: "0.1.0" }, ["run", component, "ADD", `--request=${request}`, ...args], output);
  return lines;
}

test("a line of 3 MB says how much of it is shown, and how much the node's limit cut", async () => {
  const lines = await run("long");
  expect(lines).toEqual([
    expect.stringMatching(/^info: x+… \(the first 2000 of 65542 characters; --log=FILE writes the whole log\)$/),
    "warn: 2934464 of 3000000 bytes of this line and the rest of the log is cut (at most 65536 bytes, 256 lines)",
  ]);
});

test("a flood of lines ends with the number of those that are left out, and --log has them", async () => {
  const file = join(root, "all.log");
  const lines = await run("flood", `--log=${file}`);
  expect(lines.slice(0, 50).at(-1)).toBe("info: 49");
  expect(lines.slice(50)).toEqual([`(207 more of 257 lines; ${file})`]);
  expect(readFileSync(file, "utf8").split("\n").slice(-3)).toEqual([
    "info: 255",
    "warn: the rest of the log is cut (at most 65536 bytes, 256 lines)",
    "",
  ]);
});
