// Prepares the tests of delegates in Rust: a compiler with the target, and the crates of the template. Run outside of private namespaces,
// which reach neither Debian's packages nor the crates. Without cargo, a line says so and the tests are skipped by name.

import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { currentAbi } from "../../../delegates/sdk/build/abi.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";
import { unpackPackages } from "../debian-packages.ts";
import { type CargoEnvironment, debianCompiler, hasTarget, rustCache, rustTarget } from "./toolchain.ts";

const toolchain = join(rustCache, "toolchain");
const ready = join(rustCache, "crates-ready");

if (spawnSync("cargo", ["--version"]).status !== 0) say("no cargo: tests of delegates in Rust are skipped");
else if (!existsSync(ready)) await prepare();

async function prepare(): Promise<void> {
  const reason = hasTarget() ? undefined : getCompiler();
  if (reason !== undefined) return say(`${reason}: tests of delegates in Rust are skipped`);
  const environment = hasTarget() ? {} : (debianCompiler(toolchain) ?? {});
  const directory = mkdtempSync(join(tmpdir(), "plexus-rust-"));
  try {
    say("building the crates of delegates in Rust (once)");
    await writeScaffold(directory, {
      name: "greeter",
      capabilities: [],
      language: "rust",
      home: { kind: "repository", sdk: "0.1.0" },
    });
    const wit = join(directory, "node_modules/@plexus-cni/sdk/wit", currentAbi);
    cpSync(join("wit", currentAbi), wit, { recursive: true });
    const failed = cargo(["build", "--release", "--target", rustTarget], directory, {
      ...environment,
      CARGO_TARGET_DIR: join(rustCache, "crates"),
    });
    if (failed === undefined) writeFileSync(ready, "");
    else say(`${failed}: tests of delegates in Rust are skipped`);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Unpacks Debian's newest compiler and builds the standard library for the target. Answers the reason of a failure. */
function getCompiler(): string | undefined {
  const packages = dependenciesOf("rustc-web", /^(?:libstd-rust-web|libllvm)/);
  const llvm = packages.find((name) => name.startsWith("libllvm"))?.slice("libllvm".length);
  if (llvm === undefined) return "Debian's rustc-web can't be had here";
  const unpacked = join(rustCache, "unpacked");
  mkdirSync(rustCache, { recursive: true });
  const failed = unpackPackages(["rustc-web", ...packages, `lld-${llvm}`, "rust-web-src"], unpacked);
  if (failed !== undefined) return failed;
  const [sources = ""] = readdirSync(join(unpacked, "usr/src"));
  const library = join(unpacked, "usr/src", sources, "library");
  say("building Rust's standard library for WebAssembly (once)");
  const config = join(rustCache, "vendored.toml");
  writeFileSync(
    config,
    `[source.crates-io]\nreplace-with = "vendored"\n[source.vendored]\ndirectory = "${join(library, "vendor")}"\n`,
  );
  const target = join(rustCache, "standard-library");
  const parts = ["-p", "std", "-p", "panic_abort", "--features", "compiler-builtins-mem"];
  // The compiler's own build sets the same flags.
  const notBuilt = cargo(
    ["build", "-Zavoid-dev-deps", "--config", config, "--release", "--offline", "--target", rustTarget, ...parts],
    library,
    {
      ...debianCompiler(unpacked),
      RUSTC_BOOTSTRAP: "1",
      CARGO_TARGET_DIR: target,
      CARGO_PROFILE_RELEASE_DEBUG: "0",
      CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS: "-Zforce-unstable-if-unmarked -Cembed-bitcode=yes",
    },
  );
  if (notBuilt !== undefined) return notBuilt;
  const built = join(target, rustTarget, "release/deps");
  const installed = join(unpacked, "usr/lib/rustlib", rustTarget, "lib");
  mkdirSync(installed, { recursive: true });
  for (const file of readdirSync(built).filter((name) => name.endsWith(".rlib")))
    cpSync(join(built, file), join(installed, file));
  for (const unused of [target, join(unpacked, "usr/src")]) rmSync(unused, { recursive: true, force: true });
  rmSync(toolchain, { recursive: true, force: true });
  renameSync(unpacked, toolchain);
  return undefined;
}

/** The names of a package's dependencies, and theirs, as far as they match. */
function dependenciesOf(name: string, pattern: RegExp): readonly string[] {
  const { stdout } = spawnSync("apt-cache", ["depends", "--no-recommends", "--no-suggests", name], { encoding: "utf8" });
  const direct = [...(stdout ?? "").matchAll(/^ {2}Depends: (\S+)$/gm)].flatMap(([, each = ""]) =>
    pattern.test(each) ? [each] : [],
  );
  return [...new Set(direct.flatMap((each) => [each, ...dependenciesOf(each, pattern)]))];
}

function cargo(args: readonly string[], cwd: string, environment: CargoEnvironment): string | undefined {
  const { status, stderr } = spawnSync("cargo", args, { cwd, encoding: "utf8", env: { ...process.env, ...environment } });
  return status === 0 ? undefined : `cargo ${args[0]}: ${(stderr ?? "").trim().slice(-400)}`;
}

function say(line: string): void {
  process.stderr.write(`plexus: ${line}\n`);
}
