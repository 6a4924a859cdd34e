import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { checkVector } from "../../delegates/sdk/testing/check-vectors.ts";
import { readVectors } from "../../delegates/sdk/testing/vector.ts";
import { readHostConfiguration } from "../../src/configuration/read-host-configuration.ts";
import { capabilitiesOf, currentAbi } from "../../delegates/sdk/build/abi.ts";
import { buildDelegate } from "../../delegates/sdk/build/build-delegate.ts";
import { parseDeclaration } from "../../delegates/sdk/build/declaration.ts";
import { scaffold, scaffoldCapabilities, writeScaffold } from "../../delegates/sdk/build/scaffold.ts";

const home = { kind: "repository", sdk: "0.1.0" } as const;

test("E-2: a new delegate builds without warnings and its unchanged vectors pass", async () => {
  const root = await mkdtemp(join(tmpdir(), "plexus-scaffold-"));
  try {
    // The name of mistakes.test.ts, so that one build serves both.
    const dir = join(root, "mine");
    await writeScaffold(dir, { name: "mine", capabilities: [], home });
    const built = await buildDelegate({ dir, outFile: join(root, "mine.wasm"), quick: true });
    expect(built.declaration.name).toBe("mine");
    expect(built.warnings).toEqual([]);
    const vectors = await readVectors(join(dir, "vectors"));
    expect(vectors).toHaveLength(5);
    for (const vector of vectors) expect(await checkVector(vector, built.bytes)).toMatchObject({ lines: [] });
    // Existing files are not overwritten.
    await expect(writeScaffold(dir, { name: "mine", capabilities: [], home })).rejects.toThrow(
      /delegate\.json exists: choose another name/,
    );
    expect(await readFile(join(root, "mine.wasm"))).toEqual(Buffer.from(built.bytes));
  } finally {
    await rm(root, { recursive: true });
  }
});

test("E-7 a new delegate declares the requested capabilities, and its README has valid grants for them", () => {
  const every = capabilitiesOf(currentAbi) ?? [];
  const files = scaffold({ name: "my-delegate", capabilities: every, home });
  const declaration = parseDeclaration(files.get("delegate.json") ?? "", capabilitiesOf);
  expect(Object.keys(declaration.capabilities).toSorted()).toEqual([...every].toSorted());
  expect(Object.values(declaration.capabilities)).not.toContain("Give the reason.");
  const [, granting = ""] = /```json\n([^`]*)```/.exec(files.get("README.md") ?? "") ?? [];
  const { wasm } = JSON.parse(granting) as { readonly wasm: { readonly grants: Readonly<Record<string, object>> } };
  const read = readHostConfiguration({ name: "n", type: "plexus", delegates: [{ type: "x" }], wasm });
  expect(read).toMatchObject({ ok: true });
  expect(Object.keys(wasm.grants["my-delegate"] ?? {}).toSorted()).toEqual([...every].toSorted());
  expect(scaffoldCapabilities.toSorted()).toEqual(every.toSorted());
});

test.each([[[]], [["links", "delegation"]]])("a new delegate with %j has the project's format", async (capabilities) => {
  const root = await mkdtemp(join(tmpdir(), "plexus-scaffold-"));
  try {
    await writeScaffold(join(root, "my-delegate"), { name: "my-delegate", capabilities, home });
    const oxfmt = spawnSync("node_modules/.bin/oxfmt", ["--check", join(root, "my-delegate")], { encoding: "utf8" });
    expect({ status: oxfmt.status, output: `${oxfmt.stdout}${oxfmt.stderr}` }).toMatchObject({ status: 0 });
  } finally {
    await rm(root, { recursive: true });
  }
});

test.each([
  ["sdk", [], /the name sdk belongs to Plexus/],
  ["plexus", [], /the name plexus belongs to Plexus/],
  ["bridge", [], /the name bridge belongs to a reference plugin of CNI, .* such as my-bridge/],
  ["host-local", [], /belongs to a reference plugin of CNI/],
  ["../up", [], /the name "\.\.\/up" must be 1 to 63 of a-z/],
  ["", [], /must be 1 to 63 of a-z/],
  ["mine", ["link"], /link is no capability: there are .*links/],
])("a delegate %j with %j is refused, and nothing is written", async (name, capabilities, message) => {
  const root = await mkdtemp(join(tmpdir(), "plexus-scaffold-"));
  try {
    await expect(writeScaffold(join(root, "new"), { name, capabilities, home })).rejects.toThrow(message);
    expect(await readdir(root)).toEqual([]);
  } finally {
    await rm(root, { recursive: true });
  }
});
