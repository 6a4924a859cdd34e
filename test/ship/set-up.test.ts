// scripts/run.sh in a tree without packages, as the first command of a newcomer's clone finds it.

import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { command, missing, privateNamespaces, referencePlugins } from "../lab/requires.ts";

/** The first program of this name on PATH. */
function program(name: string): string {
  const found = (process.env["PATH"] ?? "").split(delimiter).find((directory) => existsSync(join(directory, name)));
  if (found === undefined) throw new Error(`${name} is not on PATH`);
  return realpathSync(join(found, name));
}

const needs = [privateNamespaces, referencePlugins("bridge", "host-local"), command("npm", "--version")] as const;

describe.skipIf(missing("the set-up of a fresh clone", ...needs))("the set-up of a fresh clone", () => {
  let directory: string;
  let clone: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-set-up-"));
    // A space in the path is part of every test.
    clone = join(directory, "a clone");
    mkdirSync(join(clone, "scripts"), { recursive: true });
    copyFileSync(join(root, "scripts", "run.sh"), join(clone, "scripts", "run.sh"));
    for (const name of ["package.json", "package-lock.json"]) copyFileSync(join(root, name), join(clone, name));
    // No apt-get: root must not install anything here.
    mkdirSync(join(directory, "bin"));
    for (const name of ["sh", "id", "dirname", "true", "unshare", "touch", "mkdir", "npm", "env"])
      symlinkSync(program(name), join(directory, "bin", name));
    symlinkSync(process.execPath, join(directory, "bin", "node"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  const run = (name: string, more: Readonly<Record<string, string>>): { status: number | null; stderr: string } => {
    const env = {
      PATH: join(directory, "bin"),
      HOME: join(directory, "home"),
      npm_config_cache: join(directory, "npm-cache"),
      npm_config_registry: "http://127.0.0.1:1/",
      npm_config_update_notifier: "false",
      ...more,
    };
    const { status, stderr } = spawnSync("sh", [join(clone, "scripts", "run.sh"), name], { encoding: "utf8", env });
    return { status, stderr };
  };

  test("a missing compiler is named with the command that installs it, before npm installs packages", () => {
    const { status, stderr } = run("demo", { CC: join(directory, "no-compiler") });
    expect(stderr).toMatch(/^plexus: missing: gcc libc6-dev; install them \(Debian: apt-get install gcc libc6-dev; .*\)\n$/);
    expect(status).toBe(3);
    expect(existsSync(join(clone, "node_modules"))).toBe(false);
  });

  test("a compiler without the headers of libc counts as missing", () => {
    const compiler = join(directory, "bin", "compiler");
    writeFileSync(compiler, `#!/bin/sh\nexec ${program("cc")} -nostdinc "$@"\n`, { mode: 0o755 });
    expect(run("demo", { CC: compiler })).toMatchObject({
      status: 3,
      stderr: expect.stringContaining("missing: gcc libc6-dev;"),
    });
  });

  test("a registry that does not answer is named, with what to do, instead of minutes of tries", () => {
    const { status, stderr } = run("test-fast", {});
    const lines = stderr.trimEnd().split("\n");
    expect(lines).toEqual([
      "plexus: installing npm packages (once, some minutes)",
      expect.stringMatching(/^plexus: npm's registry http:\/\/127\.0\.0\.1:1\/ does not answer, .*npm config set registry URL/),
    ]);
    expect(status).toBe(3);
  });

  test("a home directory that cannot be written is replaced by one in the tree", () => {
    // A file in its place, because root may write into every directory.
    writeFileSync(join(directory, "home"), "");
    const { stderr } = run("test-fast", {});
    expect(stderr).toContain(`plexus: the home directory ${join(directory, "home")} cannot be written: dist/home is used\n`);
    expect(existsSync(join(clone, "dist", "home"))).toBe(true);
  });

  test("an interrupted installation is continued, also where Node itself is installed already", () => {
    mkdirSync(join(clone, "node_modules", "node", "bin"), { recursive: true });
    symlinkSync(process.execPath, join(clone, "node_modules", "node", "bin", "node"));
    expect(run("test-fast", {}).stderr).toContain("installing npm packages");
  });
});
