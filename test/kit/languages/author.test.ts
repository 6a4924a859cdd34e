// An author's whole way, outside of the tree and from the packages' archives: create, install, test, edit, build, and a pod on a node.

import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { npmPack } from "../../../scripts/release/npm-package.ts";
import { makeSdkPackages, sdkModules, stageCreate, stageLauncher, stageSdk } from "../../../scripts/release/sdk-packages.ts";
import { version } from "../../../host/system/version.ts";
import { installTestDelegate } from "../../lab/delegates/built.ts";
import { root } from "../../lab/compiled.ts";
import { command, go, missing, privateNamespaces } from "../../lab/requires.ts";
import { openStage } from "../../lab/stage.ts";
import { authorPath, linkPackages, mebibytes, missingPackageCache, missingRegistry, type Ran, run } from "./author.ts";

/** The answer of a program that succeeded. */
function succeeded(ran: Ran): Ran {
  if (ran.status !== 0) throw new Error(`status ${ran.status}: ${ran.stdout}${ran.stderr}`);
  return ran;
}

const repository = "git+https://example.invalid/plexus.git";

describe.skipIf(missing("the packages for authors", command("npm", "--version")))("the packages for authors", () => {
  let directory: string;
  let staged: { readonly sdk: string; readonly create: string; readonly launcher: string };
  let archives: { readonly sdk: string; readonly create: string; readonly launcher: string };
  beforeAll(async () => {
    directory = realpathSync(mkdtempSync(join(tmpdir(), "plexus-author-")));
    const part = (name: string): string => join(directory, "staged", name);
    staged = { sdk: part("sdk"), create: part("create"), launcher: part("launcher") };
    await stageSdk(root, staged.sdk, repository);
    await stageCreate(root, staged.create, repository);
    await stageLauncher(root, staged.launcher, repository);
    const out = join(directory, "out");
    archives = {
      sdk: await npmPack(staged.sdk, out),
      create: await npmPack(staged.create, out),
      launcher: await npmPack(staged.launcher, out),
    };
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test("publint finds nothing, and no package has a symbolic link or TypeScript for Node", () => {
    for (const each of Object.values(staged)) {
      const publint = run(
        each,
        process.env["PATH"] ?? "",
        process.execPath,
        join(root, "node_modules/publint/src/cli.js"),
        "--strict",
        each,
      );
      expect(publint).toMatchObject({ status: 0, stdout: expect.stringContaining("All good!") });
      const entries = readdirSync(each, { recursive: true, withFileTypes: true });
      expect(entries.filter((entry) => entry.isSymbolicLink())).toEqual([]);
      const sources = entries.filter((entry) => /(?<!\.d)\.ts$/.test(entry.name)).map((entry) => entry.parentPath);
      // The guest library is source text for the AssemblyScript compiler.
      expect(sources.filter((folder) => !folder.startsWith(join(each, "assembly")))).toEqual([]);
    }
    for (const name of ["delegates/sdk", "delegates/sdk/create"])
      expect(JSON.parse(readFileSync(join(root, name, "package.json"), "utf8"))).toMatchObject({ version });
  });

  test("the kit has the licences of the packages whose code it contains", () => {
    const text = readFileSync(join(staged.sdk, "dist/THIRD-PARTY.md"), "utf8");
    const names = [...text.matchAll(/^## (\S+) \d+\.\d+\.\d+$/gm)].map(([, name]) => name);
    expect(names).toEqual([
      "@assemblyscript/loader",
      "@bytecodealliance/jco-transpile",
      "@bytecodealliance/preview2-shim",
      "yaml",
      "zod",
    ]);
    expect(text).toContain("Licence: (Apache-2.0 WITH LLVM-exception)");
  });

  test("the kit's pages link to files of the package only", () => {
    const pages = readdirSync(staged.sdk, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".md"));
    expect(pages).toContain("docs/how-to/write-a-delegate.md");
    const links = pages.flatMap((page) => {
      const text = readFileSync(join(staged.sdk, page), "utf8");
      return [...text.matchAll(/\]\((?!https?:|#)([^)#\s]+)/g)].map(([, path = ""]) => join(staged.sdk, dirname(page), path));
    });
    expect(links.length).toBeGreaterThan(5);
    expect(links.filter((path) => !existsSync(path))).toEqual([]);
  });

  test("README.md begins with the commands that these tests run", () => {
    const [, block = ""] =
      /## Five minutes[\s\S]*?```sh\n([^`]*)```/.exec(readFileSync(join(root, "delegates/sdk/README.md"), "utf8")) ?? [];
    const lines = block.split("\n").map((line) => line.replace(/ +#.*/, ""));
    expect(lines).toEqual(["npm create plexus-delegate greeter", "npm --prefix greeter install-test", ""]);
  });

  test("a second staging and packing gives the same bytes", async () => {
    const again = await makeSdkPackages({ root, outDir: join(directory, "again"), repository });
    for (const [index, archive] of [archives.sdk, archives.create, archives.launcher].entries())
      expect(readFileSync(again[index] ?? "").equals(readFileSync(archive))).toBe(true);
  });

  test("npx plexus-delegate makes a delegate outside of a project, and says where the other commands are", () => {
    const home = join(directory, "outside");
    mkdirSync(home);
    const path = process.env["PATH"] ?? "";
    const npx = ["--yes", "--offline", `--package=${archives.launcher}`, "plexus-delegate"];
    expect(run(home, path, "npx", ...npx, "new", "greeter")).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("Created greeter/."),
    });
    const lost = run(home, path, "npx", ...npx, "test", "--quick");
    expect(lost).toMatchObject({ status: 3, stderr: expect.stringContaining("npx @plexus-cni/sdk test") });
    expect(lost.stderr).toContain(`neither ${home} nor a directory above has the kit`);
  });

  describe.each([
    { how: "with the tree's packages", offline: true },
    { how: "with packages of npm's registry", offline: false },
  ])("$how", ({ how, offline }) => {
    const unable = missing(`an author's way ${how}`, () => (offline ? missingPackageCache() : missingRegistry()));

    test.skipIf(unable)("E-1 from nothing to a component that attaches a pod", async () => {
      const home = join(directory, offline ? "offline" : "online");
      mkdirSync(home);
      const path = offline ? (process.env["PATH"] ?? "") : authorPath();
      const steps: Record<string, number> = {};
      const step = (name: string, ran: Ran): Ran => {
        expect({ name, ...ran }).toMatchObject({ status: 0 });
        steps[name] = Number(ran.seconds.toFixed(1));
        return ran;
      };

      const npx = ["--yes", "--offline", `--package=${archives.create}`, "create-plexus-delegate"];
      step("create", run(home, path, "npx", ...npx, "greeter", `--sdk=file:${archives.sdk}`));
      const greeter = join(home, "greeter");
      if (offline) linkPackages(greeter);
      const flags = [...(offline ? ["--offline"] : []), "--no-audit", "--no-fund", "--loglevel=error"];
      const first = step("install and test", run(home, path, "npm", "--prefix", "greeter", "install-test", ...flags));
      expect(first.stdout).toContain("5 passed, 0 failed: build/greeter.wasm");
      expect(mebibytes(join(greeter, "node_modules"))).toBeLessThanOrEqual(120);

      // The delegate sets the pod's domain from its configuration.
      const source = join(greeter, "assembly/index.ts");
      const text = readFileSync(source, "utf8");
      const written = text
        .replace(
          "  log.write(",
          '  const domain = config.string("domain");\n  if (domain !== null) {\n    const dns = new Dns();\n    dns.domain = domain;\n    result.dns = dns;\n  }\n  log.write(',
        )
        .replace("import { Config }", 'import { Dns } from "plexus/abi/types";\nimport { Config }');
      expect(written).not.toBe(text);
      writeFileSync(source, written);
      const question = JSON.parse(readFileSync(join(greeter, "vectors/01-passes-on.in.json"), "utf8"));
      question.stdin.domain = "pods.example";
      writeFileSync(join(greeter, "vectors/03-domain.in.json"), JSON.stringify(question));
      expect(step("build", run(greeter, path, "npm", "run", "build")).stdout).toMatch(
        /build\/greeter\.wasm: \d+\.\d KiB, \d+\.\d s/,
      );
      step("vectors", run(greeter, path, "npm", "run", "vectors"));
      const answer = JSON.parse(readFileSync(join(greeter, "vectors/03-domain.out.json"), "utf8"));
      expect(answer).toMatchObject({ result: { dns: { domain: "pods.example" } } });
      expect(step("test again", run(greeter, path, "npm", "test")).stdout).toContain("6 passed, 0 failed");

      // A wrong answer fails with its place.
      writeFileSync(join(greeter, "vectors/03-domain.out.json"), JSON.stringify({ ...answer, log: [] }));
      const failed = run(greeter, path, "npx", "plexus-delegate", "test", ".", "03-domain");
      expect(failed.status).toBe(1);
      expect(failed.stdout).toContain('vectors/03-domain.out.json: log.0: expected nothing, answered "info: welcome, pod-1"');

      // Every exported module loads, and its types are accepted by a strict compiler.
      const modules = Object.keys(sdkModules);
      const loads = modules.map((name) => `await import("@plexus-cni/sdk/${name}");`).join("\n");
      writeFileSync(join(greeter, "loads.mjs"), loads);
      expect(run(greeter, path, "node", "loads.mjs")).toMatchObject({ status: 0, stderr: "" });
      const uses = `import { buildDelegate } from "@plexus-cni/sdk/build-delegate";\nimport { answerOnNode } from "@plexus-cni/sdk/answer-on-node";
import { readVectors } from "@plexus-cni/sdk/vector";\n${modules.map((name, at) => `import * as m${at} from "@plexus-cni/sdk/${name}";\nvoid m${at};`).join("\n")}
const { bytes } = await buildDelegate({ dir: ".", outFile: "x.wasm" });\nfor (const vector of await readVectors("vectors")) await answerOnNode(vector, bytes);
const wrong: number = bytes;\n`;
      writeFileSync(join(greeter, "uses.mts"), uses);
      const tsc = [
        join(root, "node_modules/typescript/bin/tsc"),
        "--ignoreConfig",
        "--noEmit",
        "--strict",
        "--module",
        "nodenext",
      ];
      const types = run(greeter, path, process.execPath, ...tsc, "--target", "es2024", "--skipLibCheck", "uses.mts");
      expect(types.stdout.trim().split("\n")).toEqual([
        expect.stringMatching(/^uses\.mts\(\d+,7\): error TS2322: .*not assignable to type 'number'/),
      ]);
      process.stdout.write(`an author's way ${how}, in seconds: ${JSON.stringify(steps)}\n`);
      if (offline) component = join(greeter, "build/greeter.wasm");
    });
  });

  test.skipIf(missing("an author's way in JavaScript", missingPackageCache))(
    "E-1 the same way in JavaScript, up to the conformance checks",
    () => {
      const home = join(directory, "javascript");
      mkdirSync(home);
      const path = process.env["PATH"] ?? "";
      const steps: Record<string, number> = {};
      const step = (name: string, ran: Ran): Ran => {
        expect({ name, ...ran }).toMatchObject({ status: 0 });
        steps[name] = Number(ran.seconds.toFixed(1));
        return ran;
      };
      const npx = ["--yes", "--offline", `--package=${archives.create}`, "create-plexus-delegate"];
      step("create", run(home, path, "npx", ...npx, "welcomer", "--language=js", `--sdk=file:${archives.sdk}`));
      const welcomer = join(home, "welcomer");
      linkPackages(welcomer);
      step("install", run(welcomer, path, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"));
      expect(step("test", run(welcomer, path, "npm", "test")).stdout).toContain("5 passed, 0 failed: build/welcomer.wasm");

      const source = join(welcomer, "src/index.js");
      const text = readFileSync(source, "utf8");
      const written = text.replace("  return prevResult;", "  return withDomain(prevResult, network);\n");
      expect(written).not.toBe(text);
      const withDomain = `
/**
 * @param {Success} result
 * @param {Network} network
 */
function withDomain(result, network) {
  const { domain } = JSON.parse(network.config);
  if (domain === undefined) return result;
  if (domain === "fail") throw new RangeError("no such domain");
  return { ...result, dns: { nameservers: [], domain, search: [], options: [] } };
}
`;
      writeFileSync(source, `${written}${withDomain}`);
      const question = JSON.parse(readFileSync(join(welcomer, "vectors/01-passes-on.in.json"), "utf8"));
      const asked = (domain: string): string => JSON.stringify({ ...question, stdin: { ...question.stdin, domain } });
      writeFileSync(join(welcomer, "vectors/06-domain.in.json"), asked("pods.example"));
      step("build", run(welcomer, path, "npm", "run", "build"));
      step("vectors", run(welcomer, path, "npm", "run", "vectors"));
      const answer = JSON.parse(readFileSync(join(welcomer, "vectors/06-domain.out.json"), "utf8"));
      expect(answer).toMatchObject({ result: { dns: { domain: "pods.example" } } });
      expect(step("test again", run(welcomer, path, "npm", "test")).stdout).toContain("6 passed, 0 failed");

      // An exception reaches the author with its place.
      writeFileSync(join(welcomer, "fail.json"), asked("fail"));
      const program = ["npx", "plexus-delegate"] as const;
      const failed = run(welcomer, path, ...program, "run", "build/welcomer.wasm", "ADD", "--request=fail.json");
      const line = `${written}${withDomain}`.split("\n").findIndex((each) => each.includes("RangeError")) + 1;
      expect(failed.status).toBe(1);
      expect(JSON.parse(failed.stdout)).toMatchObject({
        code: 999,
        details: expect.stringMatching(new RegExp(`no such domain.*at withDomain \\(/src/index\\.js:${line}:`, "s")),
      });

      const checks = step("conformance", run(welcomer, path, ...program, "conformance", "build/welcomer.wasm"));
      expect(checks.stdout).toMatch(/checks of welcomer \(component\): \d+ passed, 0 failed/);
      process.stdout.write(`an author's way in JavaScript, in seconds: ${JSON.stringify(steps)}\n`);
      javaScriptComponent = join(welcomer, "build/welcomer.wasm");
    },
  );

  test.skipIf(missing("an author's way in Go", missingPackageCache, go))(
    "E-1 the same way in Go, up to the conformance checks",
    () => {
      const home = join(directory, "go");
      mkdirSync(home);
      const path = process.env["PATH"] ?? "";
      const npx = ["--yes", "--offline", `--package=${archives.create}`, "create-plexus-delegate"];
      succeeded(run(home, path, "npx", ...npx, "gopher", "links", "--language=go", `--sdk=file:${archives.sdk}`));
      const gopher = join(home, "gopher");
      linkPackages(gopher);
      succeeded(run(gopher, path, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error"));
      const first = succeeded(run(gopher, path, "npm", "test"));
      expect(first.stdout).toContain("5 passed, 0 failed: build/gopher.wasm");
      expect(first.stderr).toContain("gopher declares links and never calls it");
      // The author's machine checks the same packages without WebAssembly.
      succeeded(run(gopher, path, "go", "vet", "./..."));
      const checks = succeeded(run(gopher, path, "npx", "plexus-delegate", "conformance", "build/gopher.wasm"));
      expect(checks.stdout).toMatch(/checks of gopher \(component\): \d+ passed, 0 failed/);
    },
  );

  let component: string | undefined;
  let javaScriptComponent: string | undefined;
  test.skipIf(missing("an author's component on a node", privateNamespaces, missingPackageCache))(
    "E-1 the components attach a pod as steps of a list",
    async () => {
      const stage = openStage({ native: [], components: [] });
      try {
        await installTestDelegate("puppet", stage.plexus.cniPath);
        copyFileSync(component ?? "", join(stage.plexus.cniPath, "greeter.wasm"));
        copyFileSync(javaScriptComponent ?? "", join(stage.plexus.cniPath, "welcomer.wasm"));
        const plugins = [
          { type: "puppet", do: { ADD: [{ end: "interface" }] } },
          { type: "greeter", domain: "first.example" },
          { type: "welcomer", domain: "pods.example" },
        ];
        const config = stage.network(plugins, {
          wasm: { grants: { puppet: { log: {}, delegation: { plugins: [] } }, greeter: { log: {} }, welcomer: { log: {} } } },
        });
        const attaching = { config, containerId: "one", pod: stage.pod() };
        // The delegate's greeting is in the call's log, which is stderr.
        const added = await stage.call("ADD", attaching);
        expect(added).toMatchObject({ status: 0, json: { interfaces: [{ name: "eth0" }], dns: { domain: "pods.example" } } });
        await stage.succeed("DEL", attaching);
      } finally {
        stage.dispose();
      }
    },
  );
});
