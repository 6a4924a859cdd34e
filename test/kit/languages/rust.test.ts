// A delegate in Rust: the template, built by the kit with cargo, has the vectors of every language.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentAbi } from "../../../delegates/sdk/build/abi.ts";
import { buildDelegate, type BuiltDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";
import { prepared } from "../../../delegates/sdk/component/run.ts";
import { checkVector } from "../../../delegates/sdk/testing/check-vectors.ts";
import { readVectors } from "../../../delegates/sdk/testing/vector.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { missing } from "../../lab/requires.ts";
import { cargoEnvironment } from "../../lab/rust/toolchain.ts";

const environment = cargoEnvironment();
const unable = missing("delegates in Rust", () => ("missing" in environment ? environment.missing : undefined));

describe.skipIf(unable)("a new delegate in Rust", () => {
  let dir: string;
  let built: BuiltDelegate;
  const build = (): Promise<BuiltDelegate> => buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm") });
  const changed = new Map<string, string | undefined>();

  beforeAll(async () => {
    for (const [name, value] of Object.entries(environment)) {
      changed.set(name, process.env[name]);
      process.env[name] = value;
    }
    dir = mkdtempSync(join(tmpdir(), "plexus-rust-"));
    await writeScaffold(dir, { name: "greeter", capabilities: [], language: "rust", home: { kind: "repository", sdk: "0.1.0" } });
    cpSync(join("wit", currentAbi), join(dir, "node_modules/@plexus-cni/sdk/wit", currentAbi), { recursive: true });
    built = await build();
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
    expect(built.warnings).toEqual([]);
    const vectors = await readVectors(join(dir, "vectors"));
    expect(vectors.map(({ verb }) => verb)).toEqual(["ADD", "ADD", "DEL", "CHECK", "STATUS"]);
    for (const vector of vectors) expect(await checkVector(vector, built.bytes)).toMatchObject({ lines: [] });
  });

  test("has a panic's message, file and line in details and in the log", async () => {
    edit(
      "log_panics();\n        let greeting",
      'log_panics();\n        panic!("no luck");\n        #[allow(unreachable_code)]\n        let greeting',
    );
    const { bytes } = await build();
    const component = prepared({ type: "greeter", bytes, granted: undefined, limits: defaultLimits });
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
    await expect(build()).rejects.toThrow("greeter calls resolver: declare it in delegate.json, with a reason");
    edit("let _ = cni", "let wrong: u32 = cni");
    await expect(build()).rejects.toThrow(/does not compile:[\s\S]*src\/lib\.rs:\d+:\d+[\s\S]*expected `u32`/);
  });
});
