// Builds components with other toolchains: JavaScript in QuickJS (jco's componentize) and Rust (wit-bindgen).

import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { fileURLToPath } from "node:url";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { defaultCacheDir, digestOf, fromCache } from "../../../../delegates/sdk/build/content-cache.ts";
import { componentOf, declared } from "../wat.ts";

const run = promisify(execFile);
const here = fileURLToPath(new URL("./", import.meta.url));

const capabilities = ["log", "leases", "resolver"];

/** `echo.js` as a component with WASI stubs. */
export function buildQuickJs(): Promise<Uint8Array> {
  return buildJavaScript("echo-js", readFileSync(join(here, "echo.js"), "utf8"), capabilities);
}

/**
 * JavaScript as a component of this name with WASI stubs; equal sources are built once. The backend imports every interface of the world, used or not,
 * so that the component gets its own world.
 */
export async function buildJavaScript(name: string, source: string, imported: readonly string[]): Promise<Uint8Array> {
  const world = `world ${name} {\n${imported.map((each) => `  import ${each};\n`).join("")}  export plugin;\n}\n`;
  const wit = readFileSync(resolve("wit/1.0.0/delegate.wit"), "utf8") + world;
  const options = ["--world-name", name, "--backend", "qjs", "--backend-qjs-stub-wasi", "--backend-qjs-disable-async"];
  const make = async (): Promise<{ readonly bytes: Uint8Array }> => {
    const directory = mkdtempSync(join(tmpdir(), "plexus-quickjs-"));
    try {
      const [witFile, script, file] = [
        join(directory, "delegate.wit"),
        join(directory, `${name}.js`),
        join(directory, "out.wasm"),
      ];
      writeFileSync(witFile, wit);
      writeFileSync(script, source);
      const jco = resolve("node_modules/@bytecodealliance/jco/dist/jco.js");
      await run(process.execPath, [jco, "componentize", script, "--wit", witFile, ...options, "-o", file]);
      return { bytes: readFileSync(file) };
    } finally {
      rmSync(directory, { recursive: true });
    }
  };
  const found = await fromCache(defaultCacheDir, await digestOf(["quickjs", wit, source, ...options]), make);
  return declared("cachedBytes" in found ? found.cachedBytes : found.made.bytes, name, imported);
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
