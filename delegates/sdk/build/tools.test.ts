import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { nodeVersion, requireTools, toolVersions } from "./tools.ts";

const manifest = (path: string): Readonly<Record<string, Readonly<Record<string, string>>>> =>
  JSON.parse(readFileSync(path, "utf8"));

test("the versions of the compilers are those of the repository", () => {
  const root = manifest("package.json");
  const kit = manifest("delegates/sdk/package.json");
  expect({ ...kit["devDependencies"], ...root["devDependencies"] }).toMatchObject(toolVersions);
  expect(root["dependencies"]?.["node"]).toBe(nodeVersion);
  const { typescript: _, ...compilers } = toolVersions;
  expect(kit["peerDependencies"]).toEqual(compilers);
});

test("a missing compiler is named with the command that installs it", () => {
  expect(() => requireTools(["assemblyscript"], "delegates in AssemblyScript")).not.toThrow();
  const absent = "absent-compiler" as "assemblyscript";
  expect(() => requireTools([absent], "delegates in X")).toThrow(
    "delegates in X need absent-compiler, which is not installed. To do: npm install --save-dev absent-compiler@",
  );
});
