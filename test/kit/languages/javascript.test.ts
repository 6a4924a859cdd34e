// Delegates in JavaScript and TypeScript: built by the kit, with the vectors that every language has. Mistakes in Python that need no toolchain.

import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { artifactLimits, defaultLimits } from "../../../host/sandbox/limits.ts";
import { inspectComponent } from "../../../delegates/sdk/component/inspect.ts";
import { catalogue } from "../../../delegates/sdk/conformance/catalogue.ts";
import { componentSubject } from "../../../delegates/sdk/conformance/component/component-subject.ts";
import { runChecks } from "../../../delegates/sdk/conformance/run-checks.ts";
import { readSetup } from "../../../delegates/sdk/conformance/setup-file.ts";
import { prepared, type Run } from "../../../delegates/sdk/component/run.ts";
import { docsOf } from "../../../wit/codegen/docs.ts";
import { javaScriptTypes } from "../../../wit/codegen/javascript/declarations.ts";
import { checkVector } from "../../../delegates/sdk/testing/check-vectors.ts";
import { readVectors, vectorOf } from "../../../delegates/sdk/testing/vector.ts";
import { currentAbi, readAbi } from "../../../delegates/sdk/build/abi.ts";
import { buildDelegate, type BuiltDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { languageIn } from "../../../delegates/sdk/build/language.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "plexus-languages-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let count = 0;

/** A new delegate in a directory of its own, with the contract's files where the kit's package has them. */
async function newDelegate(language: "js" | "ts"): Promise<string> {
  count += 1;
  const dir = join(root, `d${count}`);
  await writeScaffold(dir, { name: "greeter", capabilities: [], language, home: { kind: "repository", sdk: "0.1.0" } });
  const abi = readAbi(currentAbi);
  if (abi === null) throw new Error("no ABI");
  const wit = join(dir, "node_modules/@plexus-cni/sdk/wit", currentAbi);
  await mkdir(wit, { recursive: true });
  await writeFile(join(wit, "delegate.d.ts"), javaScriptTypes(abi.model, docsOf(abi.wit)));
  return dir;
}

const build = (dir: string): Promise<BuiltDelegate> => buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm") });

/** Replaces text of a file, which must have it. */
async function edit(file: string, from: string, to: string): Promise<void> {
  const text = await readFile(file, "utf8");
  expect(text).toContain(from);
  await writeFile(
    file,
    text.replace(from, () => to),
  );
}

/** The answer of a node to ADD with this greeting. */
function add(bytes: Uint8Array, greeting: unknown): Run {
  const component = prepared({ type: "greeter", bytes, granted: undefined, limits: defaultLimits });
  if (!component.ok) throw new Error(component.fault.msg);
  const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/run/netns/pod-1", CNI_IFNAME: "eth0" };
  const stdin = { cniVersion: "1.1.0", name: "net", type: "greeter", greeting, prevResult: { cniVersion: "1.1.0" } };
  return component.value.call(vectorOf("run", JSON.stringify({ about: "A run.", verb: "ADD", env, stdin }), "run"));
}

/** The TypeScript compiler's complaints about a delegate's directory. */
function typeErrors(dir: string, config: string): string {
  return spawnSync(resolve("node_modules/.bin/tsc"), ["-p", join(dir, config)], { encoding: "utf8", cwd: dir }).stdout;
}

describe.each(["js", "ts"] as const)("a new delegate in %s", (language) => {
  const source = `src/index.${language}`;
  let dir: string;
  let built: BuiltDelegate;
  beforeAll(async () => {
    dir = await newDelegate(language);
    built = await build(dir);
  });

  test("passes the vectors of every language in the sandbox of a node", async () => {
    expect(built.warnings).toEqual([]);
    const vectors = await readVectors(join(dir, "vectors"));
    expect(vectors.map(({ verb }) => verb)).toEqual(["ADD", "ADD", "DEL", "CHECK", "STATUS"]);
    for (const vector of vectors) expect(await checkVector(vector, built.bytes)).toMatchObject({ lines: [] });
  });

  test("passes the conformance checks", async () => {
    const file = join(dir, "build/greeter.wasm");
    const setup = await readSetup({ config: undefined, request: undefined }, file, "greeter");
    const component = prepared({ type: "greeter", bytes: built.bytes, granted: undefined, limits: defaultLimits });
    if (!component.ok) throw new Error(component.fault.msg);
    const outcomes = await runChecks(componentSubject("greeter", component.value), setup, catalogue);
    expect(outcomes.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(outcomes.filter(({ verdict }) => verdict === "passed").length).toBeGreaterThan(20);
  });

  test("imports nothing but what it declares, and a node admits it within the default limits", () => {
    const { loads, imports, capabilities } = inspectComponent("greeter.wasm", built.bytes, artifactLimits);
    expect(loads).toBe(true);
    expect(imports.filter((name) => !name.startsWith("wasi:")).toSorted()).toEqual(
      ["log", "types"].map((name) => `cni:delegate/${name}@${currentAbi}`),
    );
    expect(capabilities).toMatchObject([{ name: "log", imported: true }]);
  });

  test("has no type errors, and a wrong use of the contract is one, with its place", async () => {
    const config = language === "js" ? "jsconfig.json" : "tsconfig.json";
    expect(typeErrors(dir, config)).toBe("");
    const wrong = await newDelegate(language);
    await edit(join(wrong, source), 'write("info",', 'write("loud",');
    expect(typeErrors(wrong, config)).toMatch(new RegExp(`^${source.replace(".", "\\.")}\\(\\d+,9\\): error TS2345: .*"loud"`));
  });

  test("comes from the cache until a source changes", async () => {
    const again = await build(dir);
    expect(again.cached).toBe(true);
    expect(Buffer.from(again.bytes).equals(Buffer.from(built.bytes))).toBe(true);
    // A mistake in a new file shows in less time than a component that the build made anew.
    await writeFile(join(dir, `src/more.${language}`), `import { read } from "cni:delegate/links@${currentAbi}";\n`);
    await expect(build(dir)).rejects.toThrow("greeter calls links: declare it in delegate.json, with a reason");
  });
});

test("an exception has its message and its place in the author's TypeScript, in details and in the log", async () => {
  const dir = await newDelegate("ts");
  await writeFile(
    join(dir, "src/fail.ts"),
    `interface Named {\n  name: string;\n}\n\nexport function fail(named: Named): never {\n  throw new TypeError(\`no \${named.name}\`);\n}\n`,
  );
  await edit(join(dir, "src/index.ts"), "import { write }", `import { fail } from "./fail.ts";\nimport { write }`);
  await edit(
    join(dir, "src/index.ts"),
    "  write(",
    '  if (greeting === "fail") fail({ name: "luck" });\n  console.warn("greets", { greeting });\n  write(',
  );
  const { bytes } = await build(dir);
  const { succeeded, stdout, log } = add(bytes, "fail");
  expect(succeeded).toBe(false);
  expect(stdout).toContain("no luck");
  expect(stdout).toMatch(/at fail \(\/src\/fail\.ts:6:\d+\)/);
  expect(log.join("\n")).toMatch(/^error: .*no luck.*at fail \(\/src\/fail\.ts:6:\d+\).*at add \(\/src\/index\.ts:\d+:\d+\)/ms);
  // console writes to the log.
  expect(add(bytes, "hi").log).toEqual(['warn: greets {"greeting":"hi"}', "info: hi, pod-1"]);
});

test("an error of a capability that the delegate does not catch is the delegate's answer", async () => {
  const dir = await newDelegate("js");
  await edit(join(dir, "delegate.json"), '"log":', '"leases": "Reserves.",\n    "log":');
  await edit(
    join(dir, "src/index.js"),
    "import { write }",
    `import { reserve } from "cni:delegate/leases@${currentAbi}";\nimport { write }`,
  );
  await edit(
    join(dir, "src/index.js"),
    "  write(",
    '  reserve({ set: 0 }, greeting, { containerId: attachment.containerId, ifname: "eth0" });\n  write(',
  );
  const { bytes, warnings } = await build(dir);
  expect(warnings).toEqual([]);
  expect(JSON.parse(add(bytes, "nonsense").stdout)).toMatchObject({
    code: 999,
    msg: expect.stringContaining(`"nonsense" is not an IP address`),
  });
});

test("an npm package of the delegate's dependencies is part of the component", async () => {
  const dir = await newDelegate("js");
  const folder = join(dir, "node_modules/upper/lib");
  await mkdir(folder, { recursive: true });
  await writeFile(
    join(dir, "node_modules/upper/package.json"),
    '{ "name": "upper", "type": "module", "exports": "./lib/index.js" }',
  );
  await writeFile(join(folder, "index.js"), "export const upper = (text) => text.toUpperCase();\n");
  await edit(join(dir, "package.json"), '"devDependencies"', '"dependencies": { "upper": "1.0.0" },\n  "devDependencies"');
  await edit(join(dir, "src/index.js"), "import { write }", 'import { upper } from "upper";\nimport { write }');
  await edit(join(dir, "src/index.js"), "${greeting},", "${upper(greeting)},");
  expect(add((await build(dir)).bytes, "hi").log).toEqual(["info: HI, pod-1"]);
});

/** Builds a delegate whose source has other text in one place. */
const broken = async (from: string, to: string, language: "js" | "ts" = "js"): Promise<BuiltDelegate> => {
  const dir = await newDelegate(language);
  await edit(join(dir, `src/index.${language}`), from, to);
  return build(dir);
};

/** A new delegate in Python whose source has another import. */
const importing = async (text: string): Promise<string> => {
  count += 1;
  const dir = join(root, `d${count}`);
  await writeScaffold(dir, {
    name: "greeter",
    capabilities: [],
    language: "python",
    home: { kind: "repository", sdk: "0.1.0" },
  });
  await edit(join(dir, "src/delegate.py"), "import json\n", `import json\n${text}\n`);
  return dir;
};

describe("the build of Python reports, before it needs componentize-py,", () => {
  test.each([
    "from wit_world.imports import leases",
    "from wit_world.imports import (\n    types,  # all of them\n    leases as store,\n)",
    "import wit_world.imports.leases",
    "from wit_world.imports.leases import reserve",
  ])("a capability that is imported but not declared: %s", async (text) => {
    await expect(build(await importing(text))).rejects.toThrow(
      "greeter calls leases: declare it in delegate.json, with a reason",
    );
  });

  test("a link among the sources", async () => {
    const dir = await importing("");
    await symlink("/etc/hostname", join(dir, "src/host.py"));
    await expect(build(dir)).rejects.toThrow("host.py is a symbolic link, which a build does not follow");
  });

  test("that componentize-py is missing, and its remedy", async () => {
    const dir = await importing("");
    const path = process.env["PATH"];
    process.env["PATH"] = dir;
    try {
      await expect(build(dir)).rejects.toThrow(/componentize-py does not start .*pip install componentize-py==\d/);
    } finally {
      process.env["PATH"] = path;
    }
  });
});

describe("the build of JavaScript reports", () => {
  test("a missing verb", async () => {
    await expect(broken("export function gc", "function gc")).rejects.toThrow("src/index.js does not export the function gc");
  });

  test("a syntax error, with its place", async () => {
    await expect(broken("  greetingIn(network);", "  greetingIn(network;")).rejects.toThrow(/src\/index\.js:\d+/);
  });

  test("TypeScript that is more than types", async () => {
    await expect(broken("/** Must", "enum Colour { Red }\n/** Must", "ts")).rejects.toThrow(
      /src\/index\.ts: .*enum is not supported/,
    );
  });

  test("a capability that is called but not declared", async () => {
    await expect(
      broken("import { write }", `import { read } from "cni:delegate/links@${currentAbi}";\nimport { write }`),
    ).rejects.toThrow("greeter calls links: declare it in delegate.json, with a reason");
  });

  test("an interface of another version", async () => {
    await expect(broken(`cni:delegate/log@${currentAbi}`, "cni:delegate/log@9.0.0")).rejects.toThrow(
      /src\/index\.js: cni:delegate\/log@9\.0\.0 does not exist for the ABI version of delegate\.json; valid: cni:delegate\/log@/,
    );
  });

  test("a package that is not installed", async () => {
    const dir = await newDelegate("js");
    await edit(join(dir, "package.json"), '"devDependencies"', '"dependencies": { "absent": "1.0.0" },\n  "devDependencies"');
    await expect(build(dir)).rejects.toThrow("the package absent is not in node_modules: npm install installs it");
  });

  test("two languages in one directory, and none", async () => {
    const dir = await newDelegate("js");
    await writeFile(join(dir, "src/index.ts"), "");
    expect(() => languageIn(dir)).toThrow("has src/index.js and src/index.ts: remove the one that is not in use");
    expect(() => languageIn(root)).toThrow(
      /has no source that the kit knows: add one of assembly\/index\.ts \(AssemblyScript\), /,
    );
  });
});
