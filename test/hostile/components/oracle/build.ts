// Components that other toolchains make: JavaScript in QuickJS (jco's componentize) and Rust (wit-bindgen).

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

/** `echo.js` in a component, WASI stubbed out. This backend imports all that the world has, used or not: so it gets one of its own. */
export async function buildQuickJs(): Promise<Uint8Array> {
  mkdirSync(output, { recursive: true });
  const file = join(output, "echo-js.wasm");
  const wit = join(output, "delegate.wit");
  const own = `world echo {\n${capabilities.map((name) => `  import ${name};\n`).join("")}  export plugin;\n}\n`;
  writeFileSync(wit, readFileSync(resolve("wit/0.1.0/delegate.wit"), "utf8") + own);
  const backend = ["--backend", "qjs", "--backend-qjs-stub-wasi", "--backend-qjs-disable-async"];
  const jco = resolve("node_modules/@bytecodealliance/jco/dist/jco.js");
  await run(process.execPath, [
    jco,
    "componentize",
    join(here, "echo.js"),
    "--wit",
    wit,
    "--world-name",
    "echo",
    ...backend,
    "-o",
    file,
  ]);
  return declared(readFileSync(file), "echo-js", capabilities);
}

/** `rust/` in a component, or the reason why it can't be built here. */
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
    const said = error instanceof Error && "stderr" in error ? String(error.stderr) : String(error);
    if (/could not compile|error\[E/.test(said)) throw error;
    return { skipped: `cargo could not get its crates: ${said.trim().split("\n")[0]}` };
  }
  const core = readFileSync(join(targetDirectory, target, "release", "echo.wasm"));
  return declared(await componentOf(core), "echo-rust", capabilities);
}
