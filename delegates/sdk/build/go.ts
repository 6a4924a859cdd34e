// A delegate in Go becomes a component: Go's own compiler makes a core module for WASI, and the functions of WASI are linked into the component.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import { componentEmbed, componentNew, parse } from "@bytecodealliance/jco";
import { type Abi, capabilitiesOf } from "./abi.ts";
import type { CompiledComponent, LanguageInput } from "./compiled-component.ts";
import { withoutCustomSections } from "./core-module.ts";
import { delegateWorld, witOfDelegate } from "./delegate-world.ts";
import { type CoreFunctionImport, withUniqueImports } from "./go-imports.ts";
import { goRuntimeText, wasiModule } from "./go-runtime.ts";
import { goPackagePath, goVersion } from "./language.ts";

/** Compiles the module of `go.mod`. Throws an Error for the author, with the compiler's messages. */
export async function compileGo({ dir, declaration, abi }: LanguageInput): Promise<CompiledComponent> {
  await requireGo(dir);
  await requirePackage(dir, abi);
  const { imports, module } = withUniqueImports(await goBuild(dir));
  const declared = Object.keys(declaration.capabilities);
  const called = calledIn(imports, abi);
  // The component's world lacks a capability that is not declared; the caller's message says what to do.
  if (called.some((name) => !declared.includes(name))) return { bytes: new Uint8Array(), called };
  // Go's runtime writes panics to the log, and fmt.Print what it prints.
  const logs = declared.includes("log");
  const used = logs ? [...new Set([...called, "log"])].toSorted() : called;
  const core = await embedded(module, witOfDelegate(abi, used), delegateWorld);
  const runtime = await runtimeModule(imports, abi, logs);
  return { bytes: withoutCustomSections(await componentNew(core, [[wasiModule, runtime]])), called: used };
}

function embedded(binary: Uint8Array, witSource: string, world: string): Promise<Uint8Array> {
  return componentEmbed({ binary, witSource, world, stringEncoding: "utf8" });
}

/** The functions of WASI that the module imports. */
async function runtimeModule(imports: readonly CoreFunctionImport[], abi: Abi, logs: boolean): Promise<Uint8Array> {
  const wanted = imports.filter(({ module }) => module === wasiModule);
  const binary = await parse(goRuntimeText(wanted, logs ? `cni:delegate/log@${abi.version}` : undefined));
  const world = "go-runtime";
  return embedded(binary, `${abi.wit}\nworld ${world} {\n${logs ? "  import log;\n" : ""}}\n`, world);
}

/** The capabilities that the module imports. Refuses every other import, such as a WASI function that no toolchain but Go's has. */
function calledIn(imports: readonly CoreFunctionImport[], { version }: Abi): readonly string[] {
  const called = new Set<string>();
  for (const { module, name } of imports) {
    if (module === wasiModule) continue;
    const capability = capabilitiesOf(version)?.find((each) => module === `cni:delegate/${each}@${version}`);
    if (capability === undefined)
      throw new Error(`the module imports ${module} ${name}, which is not in cni:delegate@${version}, the ABI of delegate.json`);
    called.add(capability);
  }
  return [...called].toSorted();
}

/** Refuses a machine without Go, or with an older release, before anything is compiled. */
async function requireGo(dir: string): Promise<void> {
  const { status, output } = await run(["env", "GOVERSION"], dir);
  const [, minor = ""] = /^go1\.(\d+)/m.exec(output) ?? [];
  // A development version, or a toolchain that does not answer, leaves the verdict to the compiler.
  if (status !== 0 || minor === "" || Number(minor) >= Number(goVersion.slice("1.".length))) return;
  throw new Error(
    `delegates in Go need Go ${goVersion} or newer, and ${output.trim()} is installed. To do: install Go from https://go.dev/dl`,
  );
}

/** Refuses a directory in which npm has not installed the kit, and the Go packages of another ABI. */
async function requirePackage(dir: string, { version }: Abi): Promise<void> {
  const manifest = await readFile(join(dir, "go.mod"), "utf8");
  const [, path] = /^\s*(?:replace\s+)?plexus(?:\s+v\S+)?\s+=>\s+(\S+)/m.exec(manifest) ?? [];
  // Without this line the packages are those of a workspace, or the compiler says that they are missing.
  if (path === undefined) return;
  if (basename(path) !== version)
    throw new Error(
      `${join(dir, "go.mod")} has the packages ${path}, and delegate.json the ABI ${version}: write replace plexus => ./${goPackagePath(version)}`,
    );
  if (existsSync(join(resolve(dir, path), "go.mod"))) return;
  throw new Error(
    `${resolve(dir, path)} does not exist: run npm install, which brings the Go packages of cni:delegate@${version}`,
  );
}

/** Runs the compiler, and answers the module. */
async function goBuild(dir: string): Promise<Uint8Array> {
  const root = await mkdtemp(join(tmpdir(), "plexus-go-"));
  try {
    const file = join(root, "delegate.wasm");
    // Two builds of the same sources have the same bytes: no paths of this machine, no state of the repository.
    const args = ["build", "-buildmode=c-shared", "-trimpath", "-buildvcs=false", "-ldflags=-s -w -buildid=", "-o", file, "."];
    const { status, output } = await run(args, dir);
    if (status !== 0) throw new Error(`${dir} does not compile:\n${output.trim()}`);
    return await readFile(file);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

function run(args: readonly string[], cwd: string): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((done, reject) => {
    const env = { ...process.env, GOOS: "wasip1", GOARCH: "wasm" };
    const child = spawn("go", args, { cwd, stdio: ["ignore", "pipe", "pipe"], env });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => chunks.push(chunk));
    child.on("error", (cause) => {
      reject(new Error(`go does not start (${cause.message}): install Go ${goVersion} or newer from https://go.dev/dl`));
    });
    child.on("close", (status) => done({ status, output: Buffer.concat(chunks).toString() }));
  });
}
