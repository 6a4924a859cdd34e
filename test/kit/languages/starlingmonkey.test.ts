// A delegate in TypeScript with StarlingMonkey has the vectors of every language.

import { accessSync, constants, readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { testDist } from "../../lab/compiled.ts";
import { missing } from "../../lab/requires.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { defaultLimits, limitsOf } from "../../../host/sandbox/limits.ts";
import { inspectComponent } from "../../../delegates/sdk/component/inspect.ts";
import { prepared, type PreparedComponent } from "../../../delegates/sdk/component/run.ts";
import { catalogue } from "../../../delegates/sdk/conformance/catalogue.ts";
import { componentSubject } from "../../../delegates/sdk/conformance/component/component-subject.ts";
import { runChecks } from "../../../delegates/sdk/conformance/run-checks.ts";
import { readSetup } from "../../../delegates/sdk/conformance/setup-file.ts";
import { buildCommand } from "../../../delegates/sdk/program/build.ts";
import { readCommandLine } from "../../../delegates/sdk/program/command-line.ts";
import { checkVector } from "../../../delegates/sdk/testing/check-vectors.ts";
import { readVectors } from "../../../delegates/sdk/testing/vector.ts";
import { currentAbi } from "../../../delegates/sdk/build/abi.ts";
import { buildDelegate, type BuiltDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import type { LanguageId } from "../../../delegates/sdk/build/language.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";
import { type KeptBuilds, keptBytes, keptMessage } from "./kept-outcomes.ts";

/** wizer, which componentize-js starts without an environment, keeps compiled code below the home of the user database. */
const writableHome = (): string | undefined => {
  const { homedir: home } = userInfo();
  try {
    accessSync(home, constants.W_OK);
    return undefined;
  } catch {
    return `wizer can't write to ${home}, the home of this uid in the user namespace`;
  }
};
const skip = missing("components with StarlingMonkey", writableHome);

/** The one limit that a component with StarlingMonkey needs: `--component-mib 14`. */
const limits = limitsOf({ componentMiB: 14 });

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "plexus-starlingmonkey-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

async function newDelegate(name: string, language: LanguageId): Promise<string> {
  const dir = join(root, name);
  await writeScaffold(dir, { name: "greeter", capabilities: [], language, home: { kind: "repository", sdk: "0.1.0" } });
  return dir;
}

const build = (dir: string): Promise<BuiltDelegate> =>
  buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm"), interpreter: "starlingmonkey" });

const componentizeJs = readFileSync("node_modules/@bytecodealliance/componentize-js/package.json", "utf8");
const keptIn = (dir: string): KeptBuilds => ({
  directory: join(testDist, "starlingmonkey-delegates"),
  dir,
  files: /\.(?:js|ts|json)$/,
  tools: [componentizeJs],
});

/** Replaces text of the source, which must have it. */
async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  expect(text).toContain(from);
  await writeFile(
    file,
    text.replace(from, () => to),
  );
}

/** A statement for each greeting that uses what a delegate does not have. */
const absences: Readonly<Record<string, string>> = {
  "Date.now(): a delegate has no clock": "new Date()",
  "performance.now(): a delegate has no clock": "performance.now()",
  "setTimeout(): a delegate has no clock": "setTimeout(() => {}, 1)",
  "Math.random(): a delegate has no randomness": "Math.random()",
  "crypto.getRandomValues(): a delegate has no randomness": "crypto.getRandomValues(new Uint8Array(4))",
  "fetch(): a delegate has no network": 'fetch("http://192.0.2.1/")',
};

describe.skipIf(skip)("a new delegate in TypeScript with StarlingMonkey", () => {
  let dir: string;
  let bytes: Uint8Array;
  let component: PreparedComponent;
  beforeAll(async () => {
    dir = await newDelegate("whole", "ts");
    // An exception in a module of the author's own, for one greeting.
    await writeFile(
      join(dir, "src/fail.ts"),
      `interface Named {\n  name: string;\n}\n\nexport function fail(named: Named): never {\n  throw new TypeError(\`no \${named.name}\`);\n}\n`,
    );
    const source = join(dir, "src/index.ts");
    await edit(source, "import { write }", `import { fail } from "./fail.ts";\nimport { write }`);
    const tries = Object.entries(absences).map(([message, code]) => `  if (greeting === ${JSON.stringify(message)}) ${code};\n`);
    const failing = '  if (greeting === "fail") fail({ name: "luck" });\n';
    const date = '  if (greeting === "date") console.warn(new Date(5), { date: Date.UTC(2026, 0) });\n';
    await edit(source, "  write(", `${failing}${date}${tries.join("")}  write(`);
    bytes = await keptBytes(keptIn(dir), "built", async () => {
      const built = await build(dir);
      if (built.warnings.length > 0) throw new Error(built.warnings.join("\n"));
      return built.bytes;
    });
    const ready = prepared({ type: "greeter", bytes, granted: undefined, limits });
    if (!ready.ok) throw new Error(ready.fault.msg);
    component = ready.value;
  });

  test("passes the vectors of every language in the sandbox of a node", async () => {
    const vectors = await readVectors(join(dir, "vectors"));
    expect(vectors.map(({ verb }) => verb)).toEqual(["ADD", "ADD", "DEL", "CHECK", "STATUS"]);
    for (const vector of vectors) expect(await checkVector(vector, bytes, limits)).toMatchObject({ lines: [] });
  });

  test("passes the conformance checks", async () => {
    const setup = await readSetup({ config: undefined, request: undefined }, join(dir, "build/greeter.wasm"), "greeter");
    const outcomes = await runChecks(componentSubject("greeter", component), setup, catalogue);
    expect(outcomes.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(outcomes.filter(({ verdict }) => verdict === "passed").length).toBeGreaterThan(20);
  });

  test("imports the declared capability and no WASI, and needs one raised limit", () => {
    const { imports, loads } = inspectComponent("greeter.wasm", bytes, limits);
    expect(loads).toBe(true);
    expect(imports.toSorted()).toEqual(["log", "types"].map((name) => `cni:delegate/${name}@${currentAbi}`));
    const refused = new Admission().admit(bytes, { granted: ["log"], limits: defaultLimits });
    expect(refused.ok ? "admitted" : refused.fault.msg).toContain("wasm.limits.componentMiB");
  });

  test("an exception has its message and its places in the author's TypeScript", async () => {
    const { stdout, log } = await add("fail");
    const places = /TypeError: no luck\nfail@src\/fail\.ts:6:\d+\nadd@src\/index\.ts:\d+:\d+$/;
    expect(JSON.parse(stdout)).toMatchObject({ code: 999, details: expect.stringContaining("no luck\nfail@src/fail.ts:6:") });
    expect(log.join("\n")).toMatch(new RegExp(`^error: ${places.source}`));
    // console writes to the log; a date that needs no clock works.
    expect((await add("date")).log).toEqual(['warn: "1970-01-01T00:00:00.005Z" {"date":1767225600000}', "info: date, pod-1"]);
  });

  test.each(Object.keys(absences))("an exception says %s", async (message) => {
    const { succeeded, log } = await add(message);
    expect(succeeded).toBe(false);
    expect(log.join("\n")).toMatch(/^error: Error: .+\nadd@src\/index\.ts:\d+:\d+$/);
    expect(log.join("\n")).toContain(message);
  });

  async function add(greeting: string) {
    const [vector] = await readVectors(join(dir, "vectors"));
    if (vector === undefined) throw new Error("no vector");
    return component.call({ ...vector, stdinText: vector.stdinText.replace("welcome", greeting) });
  }
});

describe("the build with StarlingMonkey reports", () => {
  test("an npm package, which only QuickJS can have", async () => {
    const dir = await newDelegate("package", "js");
    await edit(join(dir, "src/index.js"), "import { write }", 'import { upper } from "upper";\nimport { write }');
    await expect(build(dir)).rejects.toThrow(
      "src/index.js imports upper: with StarlingMonkey, a delegate can't have npm packages",
    );
  });

  test.skipIf(skip)("a missing verb", async () => {
    const dir = await newDelegate("verb", "js");
    await edit(join(dir, "src/index.js"), "export function gc", "function gc");
    const missingVerb = /does not compile:\n.*src\/index\.js does not export the function gc/s;
    expect(await keptMessage(keptIn(dir), "missing-verb", missingVerb, () => build(dir))).toMatch(missingVerb);
  });

  test("a delegate in another language", async () => {
    const dir = await newDelegate("rust", "rust");
    await expect(build(dir)).rejects.toThrow(
      "is a delegate in Rust: the interpreter starlingmonkey is for JavaScript and TypeScript",
    );
  });

  test("an unknown interpreter, with the valid one", async () => {
    const dir = await newDelegate("unknown", "js");
    const line = readCommandLine(buildCommand, [dir, "--interpreter=starlingmonky"]);
    await expect(buildCommand.run(line, { say: () => {}, warn: () => {}, colour: false })).rejects.toThrow(
      "--interpreter: unknown interpreter starlingmonky; did you mean starlingmonkey?",
    );
  });
});
