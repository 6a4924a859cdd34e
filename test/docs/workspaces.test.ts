// Every package of the repository is an npm workspace with a README that says for whom it is.

import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { textFiles } from "./text-files.ts";

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly description?: string;
  readonly license?: string;
  readonly workspaces?: readonly string[];
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const manifestIn = (folder: string): Manifest => JSON.parse(readFileSync(join(root, folder, "package.json"), "utf8")) as Manifest;
const { workspaces = [], version } = manifestIn(".");

test("each package.json of the repository is a workspace's", () => {
  // An example is another project's; the packages of `npm run mutation` are installed by that command only.
  const others = ["deploy/examples/ec2-provider", "scripts/mutation"];
  const folders = textFiles(["."])
    .filter((file) => basename(file) === "package.json")
    .map(dirname);
  const unnamed = folders.filter((folder) => folder !== "." && ![...workspaces, ...others].includes(folder));
  expect(unnamed).toEqual([]);
});

test("README.md gives the reason for each package", () => {
  const [, table = ""] = readFileSync(join(root, "README.md"), "utf8").split("\n## Packages\n");
  const folders = textFiles(["."])
    .filter((file) => basename(file) === "package.json")
    .map(dirname);
  const own = new Set(workspaces.map((folder) => manifestIn(folder).name));
  const without = folders
    .map(manifestIn)
    .flatMap(({ dependencies = {}, devDependencies = {} }) => Object.keys({ ...dependencies, ...devDependencies }))
    .filter(
      (name) =>
        !own.has(name) &&
        !table.split("\n").some((row) => (row.split("|")[1] ?? "").split(",").some((each) => each.trim() === name)),
    );
  expect(without).toEqual([]);
});

describe.each(workspaces)("%s", (folder) => {
  const manifest = manifestIn(folder);

  test("has Plexus' version, licence and a description", () => {
    expect(manifest).toMatchObject({ version, license: "Apache-2.0" });
    expect(manifest.description).toMatch(/^.{20,}\.$|^npm create .{20,}\.$/);
  });

  test("has a README that says for whom it is", () => {
    const readme = join(root, folder, "README.md");
    expect(existsSync(readme)).toBe(true);
    expect(readFileSync(readme, "utf8")).toMatch(/^# .+\n\nFor: .+/);
  });

  test("is in package-lock.json with its dependencies", () => {
    const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
      readonly packages: Readonly<Record<string, Partial<Manifest> & { readonly resolved?: string }>>;
    };
    expect(packages[folder]).toMatchObject({ name: manifest.name, version });
    expect(packages[folder]?.dependencies).toEqual(manifest.dependencies);
    expect(packages[`node_modules/${manifest.name}`]?.resolved).toBe(folder);
  });
});
