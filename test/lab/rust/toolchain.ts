// A Rust toolchain for wasm32-unknown-unknown: the machine's own, or Debian's compiler with its standard library built for that target.

import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { testCache } from "../debian-packages.ts";

/** The target of delegates in Rust: it has no WASI. */
export const rustTarget = "wasm32-unknown-unknown";

/** The unpacked compiler, and the crates that test/lab/rust/get.ts built. */
export const rustCache = join(testCache, "debian-rust-web");

/** Environment variables for cargo. */
export type CargoEnvironment = Readonly<Record<string, string>>;

/** The settings with which cargo compiles for the target without a network, or the reason why it can't. */
export function cargoEnvironment(): CargoEnvironment | { readonly missing: string } {
  if (spawnSync("cargo", ["--version"]).status !== 0) return { missing: "no cargo on PATH" };
  const offline = { CARGO_NET_OFFLINE: "true", CARGO_TARGET_DIR: join(rustCache, "crates") };
  if (!existsSync(join(rustCache, "crates-ready"))) return { missing: "node test/lab/rust/get.ts has not built the crates" };
  if (hasTarget()) return offline;
  const compiler = debianCompiler(join(rustCache, "toolchain"));
  return compiler === undefined ? { missing: `no rustc with the target ${rustTarget}` } : { ...offline, ...compiler };
}

/** Whether the machine's own compiler has the target's standard library. */
export function hasTarget(): boolean {
  const { status, stdout } = spawnSync("rustc", ["--print", "target-libdir", "--target", rustTarget], { encoding: "utf8" });
  return status === 0 && existsSync(stdout.trim());
}

/** The settings for the unpacked compiler in a directory; undefined if it is not there. */
export function debianCompiler(directory: string): CargoEnvironment | undefined {
  const rustc = join(directory, "usr/bin/rustc");
  if (!existsSync(rustc)) return undefined;
  const libraries = readdirSync(join(directory, "usr/lib")).filter((name) => name.endsWith("-linux-gnu"));
  const linker = readdirSync(join(directory, "usr/bin")).find((name) => name.startsWith("wasm-ld"));
  if (linker === undefined) return undefined;
  return {
    RUSTC: rustc,
    LD_LIBRARY_PATH: libraries.map((name) => join(directory, "usr/lib", name)).join(":"),
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER: join(directory, "usr/bin", linker),
  };
}
