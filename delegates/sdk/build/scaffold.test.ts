import { spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { runInJco } from "../testing/run-in-jco.ts";
import { answerOf, comparable } from "../testing/run-vectors.ts";
import { readVectors } from "../testing/vector.ts";
import { readHostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { capabilitiesOf, currentAbi } from "./abi.ts";
import { buildDelegate } from "./build-delegate.ts";
import { parseDeclaration } from "./declaration.ts";
import { scaffold, writeScaffold } from "./scaffold.ts";

test("E-2: a new delegate builds without warnings and its unchanged vectors pass", async () => {
  const root = await mkdtemp(join(tmpdir(), "plexus-scaffold-"));
  try {
    const dir = join(root, "my-delegate");
    await writeScaffold(dir, "my-delegate");
    const built = await buildDelegate({ dir, outFile: join(root, "my-delegate.wasm"), cacheDir: null, quick: true });
    expect(built.declaration.name).toBe("my-delegate");
    expect(built.warnings).toEqual([]);
    const vectors = await readVectors(join(dir, "vectors"));
    expect(vectors).toHaveLength(2);
    for (const vector of vectors) {
      const expected = vector.answer ?? {};
      expect(comparable(await answerOf(vector, built.bytes, runInJco), expected)).toEqual(expected);
    }
    // Existing files are not overwritten.
    await expect(writeScaffold(dir, "my-delegate")).rejects.toThrow(/EEXIST/);
    expect(await readFile(join(root, "my-delegate.wasm"))).toEqual(Buffer.from(built.bytes));
  } finally {
    await rm(root, { recursive: true });
  }
});

test("E-7 a new delegate declares the requested capabilities, and its README has valid grants for them", () => {
  const every = capabilitiesOf(currentAbi) ?? [];
  const files = scaffold("my-delegate", every);
  const declaration = parseDeclaration(files.get("delegate.json") ?? "", capabilitiesOf);
  expect(Object.keys(declaration.capabilities).toSorted()).toEqual([...every].toSorted());
  expect(Object.values(declaration.capabilities)).not.toContain("Give the reason.");
  const [, granting = ""] = /```json\n([^`]*)```/.exec(files.get("README.md") ?? "") ?? [];
  const { wasm } = JSON.parse(granting) as { readonly wasm: { readonly grants: Readonly<Record<string, object>> } };
  const read = readHostConfiguration({ name: "n", type: "plexus", delegates: [{ type: "x" }], wasm });
  expect(read).toMatchObject({ ok: true });
  expect(Object.keys(wasm.grants["my-delegate"] ?? {}).toSorted()).toEqual([...every].toSorted());
  expect(() => parseDeclaration(scaffold("my-delegate", ["link"]).get("delegate.json") ?? "", capabilitiesOf)).toThrow(/links/);
});

test.each([[[]], [["links", "delegation"]]])("a new delegate with %j has the project's format", async (capabilities) => {
  const root = await mkdtemp(join(tmpdir(), "plexus-scaffold-"));
  try {
    await writeScaffold(join(root, "my-delegate"), "my-delegate", capabilities);
    const oxfmt = spawnSync("node_modules/.bin/oxfmt", ["--check", join(root, "my-delegate")], { encoding: "utf8" });
    expect({ status: oxfmt.status, output: `${oxfmt.stdout}${oxfmt.stderr}` }).toMatchObject({ status: 0 });
  } finally {
    await rm(root, { recursive: true });
  }
});
