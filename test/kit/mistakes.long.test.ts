// Twelve mistakes of authors. Each message names the file, the field or function, and the remedy.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeScaffold } from "../../delegates/sdk/build/scaffold.ts";
import { commands } from "../../delegates/sdk/program/commands.ts";
import { runProgram } from "../../delegates/sdk/program/run-program.ts";

let root: string;
let dir: string;
beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "plexus-mistakes-"));
  dir = join(root, "mine");
  await writeScaffold(dir, { name: "mine", capabilities: [], home: { kind: "repository", sdk: "0.1.0" } });
});
afterEach(() => rmSync(root, { recursive: true }));

/** Replaces a text in a file of the delegate. */
function edit(path: string, from: string | RegExp, to: string): void {
  const file = join(dir, path);
  const text = readFileSync(file, "utf8");
  const edited = text.replace(from, () => to);
  expect({ path, edited }).not.toEqual({ path, edited: text });
  writeFileSync(file, edited);
}

/** Runs a command on the delegate: its exit code and all of its lines. */
async function run(...args: readonly string[]): Promise<{ readonly code: number; readonly text: string }> {
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(line);
  const code = await runProgram({ commands, version: "0.1.0" }, args, { say: add, warn: add, colour: false });
  return { code, text: lines.join("\n") };
}

const source = "assembly/index.ts";
const inAdd = (code: string) => () => edit(source, "  log.write(", `${code}\n  log.write(`);
const question = "vectors/01-passes-on.in.json";
const answer = "vectors/01-passes-on.out.json";

interface Mistake {
  readonly mistake: string;
  readonly make: () => void;
  readonly messages: readonly (string | RegExp)[];
  /** Further arguments of the command. */
  readonly args?: readonly string[];
}

const mistake = (name: string, make: () => void, ...messages: readonly (string | RegExp)[]): Mistake => ({
  mistake: name,
  make,
  messages,
});

const mistakes: readonly Mistake[] = [
  mistake(
    "an undeclared capability",
    () => {
      edit(source, "import { Config }", 'import * as state from "plexus/abi/state";\nimport { Config }');
      inAdd("  state.remove(null);")();
    },
    "mine calls state: declare it in delegate.json, with a reason",
  ),
  mistake(
    "a typo in delegate.json",
    () => edit("delegate.json", '"log"', '"lgo"'),
    'delegate.json: capabilities: "lgo" unknown; cni:delegate@1.1.0 has announce, delegation, dhcp, filter, firewall, flows, leases, links, log,',
  ),
  mistake(
    "a wrong ABI",
    () => edit("delegate.json", '"abi": "1.1.0"', '"abi": "0.9.0"'),
    "delegate.json: abi: cni:delegate@0.9.0 does not exist; valid: 1.0.0, 1.1.0",
  ),
  mistake(
    "a trap",
    inAdd('  assert(false, "not yet");'),
    "vector 01-passes-on: DELEGATE_TRAPPED",
    "it logged: error: not yet (assembly/index.ts:",
    "Remedy: answer a Fault for errors that are not defects",
  ),
  // Less time than a node's usual 2000 ms, because the loop burns a CPU until then.
  {
    ...mistake(
      "an endless loop",
      inAdd("  while (true) {}"),
      "vector 01-passes-on: LIMIT_TIME",
      " 200 ms",
      "Remedy: end each loop",
    ),
    args: ["--time-ms=200"],
  },
  mistake(
    "an invalid address",
    () => {
      edit(source, "import { Config }", 'import { IpConfig } from "plexus/abi/types";\nimport { Config }');
      inAdd('  result.ips.push(new IpConfig("10.1.0.300/24"));')();
    },
    "vector 01-passes-on: a node refuses this answer:",
    "10.1.0.300/24",
    "ips",
  ),
  mistake(
    "a missing export",
    () => edit(source, "export function gc(", "export function collect("),
    "assembly/index.ts does not export the function gc. Add: export function gc(request: GcRequest): Fault | null",
  ),
  mistake(
    "a verb of an older contract",
    () => edit(source, "status(request: StatusRequest)", "status(_network: string)"),
    "assembly/index.ts: the function status must be: export function status(request: StatusRequest): Fault | null",
  ),
  mistake(
    "an optional capability that is not declared",
    () => edit("delegate.json", '"capabilities"', '"optional": ["links"], "capabilities"'),
    'delegate.json: optional: "links" is not in capabilities: add it there, with its reason',
  ),
  mistake(
    "too much memory",
    inAdd("  const all = new Array<Uint8Array>();\n  for (let i = 0; i < 100; i++) all.push(new Uint8Array(1 << 20));"),
    "vector 01-passes-on: LIMIT_MEMORY",
    "of its 16777216 bytes",
    "Remedy: make fewer objects",
  ),
  mistake(
    "a typo in a request",
    () => edit(question, '"env"', '"evn"'),
    /01-passes-on\.in\.json: evn: no such member; did you mean env\?/,
  ),
  mistake(
    "a typo in an answer",
    () => edit(answer, '"result"', '"reslut"'),
    /01-passes-on\.out\.json: reslut: no such member; did you mean result\?/,
  ),
  mistake(
    "an answer that is not JSON",
    () => edit(answer, "{", "{,"),
    /01-passes-on\.out\.json is not JSON: line 1, column 2: expected a key/,
  ),
  mistake(
    "a delegate.json that is not JSON",
    () => edit("delegate.json", ",", ",,"),
    /delegate\.json is not JSON: line 2, column \d+/,
  ),
  mistake(
    "a duplicate key",
    () => edit("delegate.json", '"name": "mine",', '"name": "mine", "name": "yours",'),
    /delegate\.json has the key "name" twice in one object: line 2, column \d+/,
  ),
];

test.each(mistakes)("$mistake is named with its remedy", async ({ make, messages, args = [] }) => {
  make();
  const { code, text } = await run("test", dir, "--quick", ...args);
  const absent = messages.filter((message) => (typeof message === "string" ? !text.includes(message) : !message.test(text)));
  expect({ code, absent, text }).toEqual({ code: 1, absent: [], text });
});

test("a component's file with another name than the delegate's is refused", async () => {
  const { code, text } = await run("build", dir, "--quick", `--out=${join(root, "other.wasm")}`);
  expect(code).toBe(2);
  expect(text).toBe(
    `plexus-delegate: --out: a component's file name is its type: ${dir}/delegate.json has the name mine, so the file must be mine.wasm`,
  );
});

test("the name of another plugin is reported by a build, because delegate.json can be edited", async () => {
  edit("delegate.json", '"name": "mine"', '"name": "bridge"');
  const { text } = await run("build", dir, "--quick");
  expect(text).toContain("warning: delegate.json: name: bridge belongs to a reference plugin of CNI: choose another name");
});

test("an answer without a request is refused by its path", async () => {
  writeFileSync(join(dir, "vectors/09-old.out.json"), "{}");
  const { code, text } = await run("test", dir, "--quick");
  expect(code).toBe(1);
  expect(text).toContain("vectors/09-old.out.json is the answer to no request: add 09-old.in.json, or remove the file");
});

test("a second delegate in the same directory is refused, and so is a vector that does not exist", async () => {
  const again = await run("new", "mine", `--dir=${dir}`);
  expect(again).toEqual({ code: 2, text: `plexus-delegate: ${dir}/delegate.json exists: choose another name, or remove it` });
  const { code, text } = await run("test", dir, "01-passes-off", "--quick");
  const help = "did you mean 01-passes-on?";
  expect({ code, text }).toEqual({
    code: 2,
    text: `plexus-delegate: there is no vectors/01-passes-off.in.json in ${dir}; ${help}`,
  });
});

test("a changed logic invalidates answers, which --update renews with each difference", async () => {
  edit(source, "log.write(", 'result.dns = new Dns();\n  (result.dns as Dns).domain = "pods";\n  log.write(');
  edit(source, "import { Network }", "import { Dns, Network }");
  const failed = await run("test", dir, "--quick");
  expect(failed.text).toContain("If the new answers are right: plexus-delegate fmt-vectors --update writes them");
  const missingOnly = await run("fmt-vectors", dir, "--quick");
  const kept = "5 of 5 vectors had an answer, which was not compared: --update renews those that differ";
  expect(missingOnly).toEqual({ code: 0, text: kept });
  const updated = await run("fmt-vectors", dir, "--quick", "--update");
  expect(updated.code).toBe(0);
  expect(updated.text).toContain(
    '01-passes-on.out.json\n  result.dns: was nothing, is now {"domain":"pods"}\n4 of 5 answers stay',
  );
  expect(await run("test", dir, "--quick")).toMatchObject({ code: 0, text: expect.stringContaining("5 passed, 0 failed") });
  const named = await run("fmt-vectors", dir, "02-refuses-nonsense", "--quick", "--update");
  expect(named.text).toBe("1 of 1 answers stay");
});
