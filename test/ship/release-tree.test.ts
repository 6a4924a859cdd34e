import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { notTheRelease } from "../../scripts/release/release-tree.ts";

describe("the tree of a release", () => {
  let tree = "";
  const git = (...args: readonly string[]): void => {
    const author = [
      "-c",
      "user.name=t",
      "-c",
      "user.email=t@example.invalid",
      "-c",
      "tag.gpgSign=false",
      "-c",
      "commit.gpgSign=false",
    ];
    execFileSync("git", [...author, ...args], { cwd: tree, stdio: ["ignore", "ignore", "pipe"] });
  };
  const write = (name: string, text: string): void => writeFileSync(join(tree, name), text);
  const commit = (text: string): void => {
    write("tracked", text);
    git("add", "tracked", ".gitignore");
    git("commit", "--quiet", "--message", text);
  };
  beforeEach(() => {
    tree = mkdtempSync(join(tmpdir(), "plexus-release-tree-"));
    git("init", "--quiet");
    write(".gitignore", "dist\n");
    commit("one");
  });
  afterEach(() => rmSync(tree, { recursive: true, force: true }));

  test.each([
    ["lightweight", []],
    ["annotated", ["--annotate", "--message", "1.2.3"]],
  ] as const)("is the commit with a %s tag of its version, beside other tags and ignored files", async (_, options) => {
    git("tag", "v1.2.3-rc.1");
    git("tag", ...options, "v1.2.3");
    write("dist", "");
    expect(await notTheRelease(tree, "1.2.3")).toBeUndefined();
  });

  test("is not a commit without the tag, with another tag, or after the tag", async () => {
    const refusal =
      "HEAD does not have the tag v1.2.3 of package.json's version; check out this tag, or make a trial with --untagged";
    expect(await notTheRelease(tree, "1.2.3")).toBe(refusal);
    for (const other of ["v1.2.30", "1.2.3", "v1.2.3-rc.1"]) git("tag", other);
    expect(await notTheRelease(tree, "1.2.3")).toBe(refusal);
    git("tag", "v1.2.3");
    commit("two");
    expect(await notTheRelease(tree, "1.2.3")).toBe(refusal);
  });

  test("has no changed, staged or untracked file", async () => {
    git("tag", "v1.2.3");
    write("tracked", "changed");
    expect(await notTheRelease(tree, "1.2.3")).toContain(
      "files that are changed or not committed: tracked; commit or remove them",
    );
    git("add", "tracked");
    expect(await notTheRelease(tree, "1.2.3")).toContain(": tracked;");
    git("reset", "--quiet", "--hard");
    git("config", "status.showUntrackedFiles", "no");
    for (let index = 0; index < 7; index += 1) write(`new-${index}`, "");
    expect(await notTheRelease(tree, "1.2.3")).toContain(": new-0, new-1, new-2, new-3, new-4, and 2 more; commit");
  });

  test("is a clone: elsewhere the refusal has git's reason", async () => {
    rmSync(join(tree, ".git"), { recursive: true });
    expect(await notTheRelease(tree, "1.2.3")).toMatch(/^git cannot tell the state of .*not a git repository.*--untagged$/su);
  });
});
