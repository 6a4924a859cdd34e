// A delegate in Rust becomes a component: cargo makes a core module for wasm32-unknown-unknown, which has no WASI.

import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { componentNew } from "@bytecodealliance/jco";
import { capabilitiesOf } from "./abi.ts";
import type { CompiledComponent, LanguageInput } from "./compiled-component.ts";
import { coreImports, withoutCustomSections } from "./core-module.ts";

const target = "wasm32-unknown-unknown";

/** Compiles the crate of `Cargo.toml`. Throws an Error for the author, with cargo's messages. */
export async function compileRust({ dir, abi }: LanguageInput): Promise<CompiledComponent> {
  await requireTarget(dir);
  const module = await readFile(await cargoBuild(dir));
  const called = new Set<string>();
  for (const { module: from, name } of coreImports(module)) {
    const capability = capabilitiesOf(abi.version)?.find((each) => from === `cni:delegate/${each}@${abi.version}`);
    if (capability === undefined) {
      throw new Error(`the crate imports ${from} ${name}, which is not in cni:delegate@${abi.version}, the ABI of delegate.json`);
    }
    called.add(capability);
  }
  return { bytes: withoutCustomSections(await componentNew(module, [])), called: [...called].toSorted() };
}

/**
 * Refuses a toolchain without the target before cargo compiles the crate's build dependencies for a minute. Debian's package of the target is
 * another one than rustup's.
 */
async function requireTarget(dir: string): Promise<void> {
  const rustc = process.env["RUSTC"] ?? "rustc";
  const { status, stdout } = await run(rustc, ["--print", "target-libdir", "--target", target], dir);
  const directory = stdout.trim();
  // A toolchain that does not answer leaves the verdict to cargo.
  if (status !== 0 || directory === "" || existsSync(directory)) return;
  throw new Error(
    `the Rust toolchain has no target ${target}: ${directory} does not exist. To do: rustup target add ${target} (Debian: apt install libstd-rust-dev-wasm32)`,
  );
}

/** Runs cargo, and answers the path of the module that it made. */
async function cargoBuild(dir: string): Promise<string> {
  const args = ["build", "--release", "--target", target, "--message-format=json-render-diagnostics"];
  const { status, stdout, stderr } = await run("cargo", args, dir);
  if (status !== 0) {
    const remedy = /target may not be installed/.test(stderr) ? `\nTo do: rustup target add ${target}` : "";
    throw new Error(`${dir} does not compile:\n${stderr.trim()}${remedy}`);
  }
  const files = stdout.split("\n").flatMap((line) => artifactFiles(line));
  const [file] = files.filter((each) => each.endsWith(".wasm"));
  if (file === undefined) throw new Error(`${dir}: cargo made no .wasm: Cargo.toml needs [lib] crate-type = ["cdylib"]`);
  return file;
}

/** The files of a message of cargo about an artifact. */
function artifactFiles(line: string): readonly string[] {
  if (!line.startsWith("{")) return [];
  const message: unknown = JSON.parse(line);
  if (typeof message !== "object" || message === null || Reflect.get(message, "reason") !== "compiler-artifact") return [];
  const files: unknown = Reflect.get(message, "filenames");
  return Array.isArray(files) ? files.filter((each) => typeof each === "string") : [];
}

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function run(program: string, args: readonly string[], cwd: string): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const out: Buffer[] = [];
    const err: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => out.push(chunk));
    child.stderr.on("data", (chunk: Buffer) => err.push(chunk));
    child.on("error", (cause) => {
      reject(
        new Error(
          `${program} does not start (${cause.message}): install Rust (https://rustup.rs), and run rustup target add ${target}`,
        ),
      );
    });
    child.on("close", (status) => {
      resolve({ status, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}
