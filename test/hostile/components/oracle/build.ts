// Builds components with other toolchains: JavaScript in QuickJS (jco's componentize) and Rust (wit-bindgen).

import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { componentOf, declared } from "../wat.ts";

const run = promisify(execFile);
const here = fileURLToPath(new URL("./", import.meta.url));
const output = resolve("dist/test/oracle");

const capabilities = ["log", "leases", "resolver"];

/** `echo.js` as a component with WASI stubs. */
export function buildQuickJs(): Promise<Uint8Array> {
  return buildJavaScript("echo-js", readFileSync(join(here, "echo.js"), "utf8"), capabilities);
}

/**
 * JavaScript as a component of this name with WASI stubs. The backend imports every interface of the world, used or not, so that the component
 * gets its own world.
 */
export async function buildJavaScript(name: string, source: string, imported: readonly string[]): Promise<Uint8Array> {
  const directory = join(output, name);
  mkdirSync(directory, { recursive: true });
  const wit = join(directory, "delegate.wit");
  const world = `world ${name} {\n${imported.map((each) => `  import ${each};\n`).join("")}  export plugin;\n}\n`;
  writeFileSync(wit, readFileSync(resolve("wit/0.1.0/delegate.wit"), "utf8") + world);
  const script = join(directory, `${name}.js`);
  writeFileSync(script, source);
  const backend = ["--backend", "qjs", "--backend-qjs-stub-wasi", "--backend-qjs-disable-async"];
  const jco = resolve("node_modules/@bytecodealliance/jco/dist/jco.js");
  const file = join(directory, `${name}.wasm`);
  await run(process.execPath, [jco, "componentize", script, "--wit", wit, "--world-name", name, ...backend, "-o", file]);
  return declared(readFileSync(file), name, imported);
}

/** `rust/` as a component, or the reason why this machine cannot build it. */
export async function buildRust(): Promise<Uint8Array | { readonly skipped: string }> {
  const target = "wasm32-unknown-unknown";
  const targetDirectory = resolve("dist/test/rust");
  const found = await run("rustc", ["--print", "target-libdir", "--target", target]).catch(() => undefined);
  if (found === undefined || !existsSync(found.stdout.trim())) return { skipped: `no rustc with the target ${target}` };
  try {
    const environment = { ...process.env, CARGO_TARGET_DIR: targetDirectory };
    await run("cargo", ["build", "--release", "--quiet", "--target", target], {
      cwd: join(here, "rust"),
      env: environment,
      timeout: 280_000,
    });
  } catch (error) {
    const stderrText = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    if (/could not compile|error\[E/.test(stderrText)) throw error;
    return { skipped: `cargo could not fetch its crates: ${stderrText.trim().split("\n")[0]}` };
  }
  const core = readFileSync(join(targetDirectory, target, "release", "echo.wasm"));
  return declared(await componentOf(core), "echo-rust", capabilities);
}
