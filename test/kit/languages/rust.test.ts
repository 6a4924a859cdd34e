// A delegate in Rust: the template, built by the kit with cargo, has the vectors of every language.

import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentAbi } from "../../../delegates/sdk/build/abi.ts";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";
import { prepared } from "../../../delegates/sdk/component/run.ts";
import { checkVector } from "../../../delegates/sdk/testing/check-vectors.ts";
import { readVectors } from "../../../delegates/sdk/testing/vector.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { testDist } from "../../lab/compiled.ts";
import { command, missing } from "../../lab/requires.ts";
import { cargoEnvironment } from "../../lab/rust/toolchain.ts";
import { type KeptBuilds, keptBytes, keptMessage } from "./kept-outcomes.ts";

const environment = cargoEnvironment();
const unable = missing("delegates in Rust", () => ("missing" in environment ? environment.missing : undefined));

describe.skipIf(unable)("a new delegate in Rust", () => {
  let dir: string;
  let bytes: Uint8Array;
  const build = async (): Promise<Uint8Array> => {
    const built = await buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm") });
    if (built.warnings.length > 0) throw new Error(built.warnings.join("\n"));
    return built.bytes;
  };
  const kept = (): KeptBuilds => ({
    directory: join(testDist, "rust-delegates"),
    dir,
    files: /\.(?:rs|toml|wit)$|^delegate\.json$/,
    tools: [JSON.stringify(environment), execFileSync(process.env["RUSTC"] ?? "rustc", ["--version"], { encoding: "utf8" })],
  });
  const changed = new Map<string, string | undefined>();

  beforeAll(async () => {
    for (const [name, value] of Object.entries(environment)) {
      changed.set(name, process.env[name]);
      process.env[name] = value;
    }
    dir = mkdtempSync(join(tmpdir(), "plexus-rust-"));
    await writeScaffold(dir, { name: "greeter", capabilities: [], language: "rust", home: { kind: "repository", sdk: "0.1.0" } });
    cpSync(join("wit", currentAbi), join(dir, "node_modules/@plexus-cni/sdk/wit", currentAbi), { recursive: true });
    bytes = await keptBytes(kept(), "built", build);
  });

  afterAll(() => {
    for (const [name, value] of changed) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
    rmSync(dir, { recursive: true, force: true });
  });

  /** Replaces text of the source, which must have it. */
  const edit = (from: string, to: string): void => {
    const file = join(dir, "src/lib.rs");
    const text = readFileSync(file, "utf8");
    expect(text).toContain(from);
    writeFileSync(
      file,
      text.replace(from, () => to),
    );
  };

  test("passes the vectors of every language in the sandbox of a node", async () => {
    const vectors = await readVectors(join(dir, "vectors"));
    expect(vectors.map(({ verb }) => verb)).toEqual(["ADD", "ADD", "DEL", "CHECK", "STATUS"]);
    for (const vector of vectors) expect(await checkVector(vector, bytes)).toMatchObject({ lines: [] });
  });

  test("has a panic's message, file and line in details and in the log", async () => {
    edit(
      "log_panics();\n        let greeting",
      'log_panics();\n        panic!("no luck");\n        #[allow(unreachable_code)]\n        let greeting',
    );
    const component = prepared({
      type: "greeter",
      bytes: await keptBytes(kept(), "panics", build),
      granted: undefined,
      limits: defaultLimits,
    });
    if (!component.ok) throw new Error(component.fault.msg);
    const [vector] = await readVectors(join(dir, "vectors"));
    if (vector === undefined) throw new Error("no vector");
    const { succeeded, stdout, log } = component.value.call(vector);
    expect(succeeded).toBe(false);
    expect(stdout).toMatch(/panicked at src\/lib\.rs:\d+:\d+:\\nno luck/);
    expect(log.join("\n")).toMatch(/^error: panicked at src\/lib\.rs:\d+:\d+:\s+no luck/);
  });

  test("reports cargo's errors with their place, and a capability that is not declared", async () => {
    edit('panic!("no luck");', 'let _ = cni::delegate::resolver::read("/etc/resolv.conf");');
    const undeclared = /^greeter calls resolver: declare it in delegate\.json, with a reason/;
    expect(await keptMessage(kept(), "undeclared", undeclared, build)).toMatch(undeclared);
    edit("let _ = cni", "let wrong: u32 = cni");
    const mistake = /does not compile:[\s\S]*src\/lib\.rs:\d+:\d+[\s\S]*expected `u32`/;
    expect(await keptMessage(kept(), "mistake", mistake, build)).toMatch(mistake);
  });
});

const noRustc = missing("a Rust toolchain without the target", command("rustc", "--version"));
test.skipIf(noRustc)("a missing Rust target is named before cargo compiles anything", async () => {
  const dir = mkdtempSync(join(tmpdir(), "plexus-rust-"));
  const earlier = process.env["RUSTC"];
  try {
    await writeScaffold(dir, { name: "greeter", capabilities: [], language: "rust", home: { kind: "repository", sdk: "0.1.0" } });
    const rustc = join(dir, "rustc");
    writeFileSync(rustc, `#!/bin/sh\nexec ${earlier ?? "rustc"} --sysroot ${dir} "$@"\n`, { mode: 0o755 });
    process.env["RUSTC"] = rustc;
    await expect(buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm") })).rejects.toThrow(
      /has no target wasm32-unknown-unknown: .* does not exist\. To do: rustup target add wasm32-unknown-unknown \(Debian:/,
    );
    expect(existsSync(join(dir, "target"))).toBe(false);
  } finally {
    if (earlier === undefined) delete process.env["RUSTC"];
    else process.env["RUSTC"] = earlier;
    rmSync(dir, { recursive: true });
  }
});
