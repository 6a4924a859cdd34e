// The npm packages for authors of delegates: `@plexus-cni/sdk`, `create-plexus-delegate` and `plexus-delegate`, as JavaScript with types.

import { chmodSync, cpSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";
import { z } from "zod";
import { readAbi, releasedAbis } from "../../delegates/sdk/build/abi.ts";
import { docsOf } from "../../wit/codegen/docs.ts";
import { contractPath, modelPath } from "../../wit/codegen/releases.ts";
import { writeBindings } from "../write-bindings.ts";
import { writeGoModule } from "../write-go-module.ts";
import { javaScriptTypes } from "../../wit/codegen/javascript/declarations.ts";
import { refuseUnresolved } from "../refuse-unresolved.ts";
import { npmPack } from "./npm-package.ts";
import { stageDocs } from "./sdk-docs.ts";
import { inTemporaryDirectory, stageLicence, writeManifest } from "./staging.ts";
import { thirdPartyText } from "./third-party.ts";
import { writeTypes } from "./package-types.ts";

/** The settings of the packages. */
export interface SdkPackagesInit {
  /** The repository's directory. */
  readonly root: string;
  readonly outDir: string;
  /** The repository's URL, as the registry's provenance names it; undefined: the packages can't be published with provenance. */
  readonly repository: string | undefined;
}

/** The modules that authors may import, by the name of their export, with their source below `delegates/sdk/`. */
export const sdkModules = {
  "build-delegate": "build/build-delegate.ts",
  "answer-on-node": "testing/answer-on-node.ts",
  "check-vectors": "testing/check-vectors.ts",
  "load-guest": "testing/load-guest.ts",
  "run-vectors": "testing/run-vectors.ts",
  vector: "testing/vector.ts",
} as const;

const Manifest = z.object({
  name: z.string(),
  version: z.string(),
  description: z.string(),
  license: z.string(),
  bin: z.record(z.string(), z.string()),
  peerDependencies: z.record(z.string(), z.string()).default({}),
  peerDependenciesMeta: z.record(z.string(), z.object({ optional: z.boolean() })).default({}),
  engines: z.object({ node: z.string() }),
});

/** Writes the archives of the packages into `outDir` and answers their paths, the kit's first. Rejects with the tool's message. */
export function makeSdkPackages({ root, outDir, repository }: SdkPackagesInit): Promise<string[]> {
  return inTemporaryDirectory("sdk", async (directory) => {
    const [sdk, create, launcher] = [join(directory, "sdk"), join(directory, "create"), join(directory, "launcher")];
    await stageSdk(root, sdk, repository);
    await stageCreate(root, create, repository);
    await stageLauncher(root, launcher, repository);
    return [await npmPack(sdk, outDir), await npmPack(create, outDir), await npmPack(launcher, outDir)];
  });
}

/** Writes the files of `@plexus-cni/sdk` into `directory`. */
export async function stageSdk(root: string, directory: string, repository: string | undefined): Promise<void> {
  const kit = join(root, "delegates/sdk");
  const manifest = manifestOf(kit);
  const modules = Object.entries(sdkModules);
  const programs = { "plexus-delegate": "program/main.ts", "compile-worker": "build/compile-worker.ts" };
  const input = Object.fromEntries([...modules, ...Object.entries(programs)].map(([name, file]) => [name, join(kit, file)]));
  // The shim is a package of authors for componentize-js only; jco's part has its own.
  const compilers = Object.keys(manifest.peerDependencies).filter(
    (name) => !Object.keys(wasmToolsAlias).some((each) => each.startsWith(`${name}/`)),
  );
  await bundleInto(join(directory, "dist"), input, compilers);
  stageWasmTools(root, join(directory, "dist"));
  await writeTypes(
    root,
    modules.map(([, file]) => join(kit, file)),
    join(directory, "types"),
  );
  // The guest library is source text for the AssemblyScript compiler: Node never loads it.
  cpSync(join(kit, "assembly"), join(directory, "assembly"), { recursive: true });
  writeBindings(join(directory, "assembly/abi"));
  for (const version of releasedAbis()) stageAbi(root, directory, version);
  cpSync(join(kit, "tsconfig.guest.json"), join(directory, "tsconfig.guest.json"));
  stageDocs(
    root,
    directory,
    releasedAbis().map((version) => `wit/${version}/delegate.wit`),
  );
  cpSync(join(root, "asconfig.json"), join(directory, "asconfig.json"));
  const exported = modules.map(([name, file]) => [
    `./${name}`,
    { types: `./types/delegates/sdk/${file.replace(/\.ts$/, ".d.ts")}`, default: `./dist/${name}.js` },
  ]);
  const files = ["package.json", "tsconfig.guest.json", "wit/*", "assembly/*"].map((file) => [`./${file}`, `./${file}`]);
  finish(root, directory, manifest, repository, {
    // Each language's compilers: an author installs those of one language.
    peerDependencies: manifest.peerDependencies,
    peerDependenciesMeta: manifest.peerDependenciesMeta,
    exports: Object.fromEntries([...exported, ...files]),
    files: ["dist", "docs", "types", "assembly", "go", "wit", "asconfig.json", "tsconfig.guest.json"],
  });
}

/** Writes the contract of one version, with its types for JavaScript and its Go module. */
function stageAbi(root: string, directory: string, version: string): void {
  for (const path of [contractPath(version), modelPath(version)]) cpSync(join(root, "wit", path), join(directory, "wit", path));
  const abi = readAbi(version);
  if (abi === null) throw new Error(`wit/${version} can't be read`);
  writeFileSync(join(directory, "wit", version, "delegate.d.ts"), javaScriptTypes(abi.model, docsOf(abi.wit)));
  writeGoModule(join(directory, "go", version), version);
}

/** Writes the files of `create-plexus-delegate` into `directory`. */
export async function stageCreate(root: string, directory: string, repository: string | undefined): Promise<void> {
  const source = join(root, "delegates/sdk/create");
  await bundleInto(join(directory, "dist"), { "create-plexus-delegate": join(source, "main.ts") }, []);
  cpSync(join(source, "README.md"), join(directory, "README.md"));
  const more = { exports: { "./package.json": "./package.json" }, files: ["dist"] };
  finish(root, directory, manifestOf(source), repository, more);
}

/** Writes the files of `plexus-delegate`. Without a package of this name, `npx plexus-delegate` outside of a project would ask for a stranger's. */
export async function stageLauncher(root: string, directory: string, repository: string | undefined): Promise<void> {
  const source = join(root, "delegates/sdk/create");
  await bundleInto(join(directory, "dist"), { "plexus-delegate": join(source, "launcher.ts") }, []);
  cpSync(join(source, "README.md"), join(directory, "README.md"));
  const manifest = {
    ...manifestOf(source),
    name: "plexus-delegate",
    description: "npx plexus-delegate new NAME: makes the repository of a delegate of Plexus.",
    bin: { "plexus-delegate": "dist/plexus-delegate.js" },
  };
  finish(root, directory, manifest, repository, { exports: { "./package.json": "./package.json" }, files: ["dist"] });
}

/** The part of jco that makes components. The rest of jco has 400 MB of dependencies. */
const wasmTools = "node_modules/@bytecodealliance/jco-transpile";

/** jco's shim for browsers has no worker thread and reaches no file: the tools get texts and bytes. */
const wasmToolsAlias = {
  "@bytecodealliance/jco": resolve(wasmTools, "dist/wasm-tools.js"),
  "@bytecodealliance/preview2-shim/cli": resolve(browserShim("cli")),
  "@bytecodealliance/preview2-shim/filesystem": resolve(browserShim("filesystem")),
  "@bytecodealliance/preview2-shim/io": resolve(browserShim("io")),
  "@bytecodealliance/preview2-shim/random": resolve(browserShim("random")),
};

function browserShim(name: string): string {
  return `node_modules/@bytecodealliance/jco-transpile/node_modules/@bytecodealliance/preview2-shim/dist/browser/${name}.js`;
}

/** Puts the modules of these tools beside the code that loads them. */
function stageWasmTools(root: string, dist: string): void {
  for (const name of ["wasm-tools.core.wasm", "wasm-tools.core2.wasm"])
    cpSync(join(root, wasmTools, "vendor", name), join(dist, name));
}

type SourceManifest = z.infer<typeof Manifest>;

function manifestOf(directory: string): SourceManifest {
  return Manifest.parse(JSON.parse(readFileSync(join(directory, "package.json"), "utf8")));
}

/** Bundles ES modules, all in one directory: the code finds the kit's files one level above. */
async function bundleInto(
  outDir: string,
  input: Readonly<Record<string, string>>,
  dependencies: readonly string[],
): Promise<void> {
  const bundle = await rolldown({
    input,
    platform: "node",
    external: [/^node:/, ...dependencies.map((name) => new RegExp(`^${name}(?:/|$)`))],
    onLog: (level, log, report) => {
      // jco's code begins with "use components", which no bundler knows.
      if (log.code !== "MODULE_LEVEL_DIRECTIVE") refuseUnresolved(level, log, report);
    },
    resolve: { alias: wasmToolsAlias },
    transform: { target: "node20" },
  });
  const { output } = await bundle.write({
    dir: outDir,
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  await bundle.close();
  const licences = thirdPartyText(output.flatMap((each) => (each.type === "chunk" ? each.moduleIds : [])));
  if (licences !== undefined) writeFileSync(join(outDir, "THIRD-PARTY.md"), licences);
}

/** Makes the programs of a staged package executable, and adds its licence and its manifest. */
function finish(root: string, directory: string, source: SourceManifest, repository: string | undefined, more: object): void {
  const { bin, engines } = source;
  for (const program of Object.values(bin)) {
    const file = join(directory, program);
    writeFileSync(file, `#!/usr/bin/env node\n${readFileSync(file, "utf8")}`);
    chmodSync(file, 0o755);
  }
  stageLicence(root, directory);
  writeManifest(directory, source, repository, { type: "module", bin, ...more, engines });
}
