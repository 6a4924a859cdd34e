// The tree of a release: committed as a whole, at the tag of its version.

import { execa } from "execa";

/** Paths that a refusal names at most. */
const maxPaths = 5;

/** Why the tree at `root` is not the one of the release `version`, as a sentence with a remedy; undefined if it is. */
export async function notTheRelease(root: string, version: string): Promise<string | undefined> {
  const tag = `v${version}`;
  const trial = "or make a trial with --untagged";
  // Explicit, because a user's status.showUntrackedFiles=no hides files that chart and archive would contain.
  const status = await git(root, "status", "--porcelain", "--untracked-files=all");
  const tags = await git(root, "tag", "--points-at", "HEAD");
  if ("problem" in status || "problem" in tags) {
    const problem = "problem" in status ? status.problem : "problem" in tags ? tags.problem : "";
    return `git cannot tell the state of ${root}: ${problem}; make the release in a clone at the tag ${tag}, ${trial}`;
  }
  if (status.lines.length > 0) {
    const further = status.lines.length > maxPaths ? `, and ${status.lines.length - maxPaths} more` : "";
    const paths = `${status.lines
      .slice(0, maxPaths)
      .map((line) => line.slice(3))
      .join(", ")}${further}`;
    return `the tree has files that are changed or not committed: ${paths}; commit or remove them, ${trial}`;
  }
  if (tags.lines.includes(tag)) return undefined;
  return `HEAD does not have the tag ${tag} of package.json's version; check out this tag, ${trial}`;
}

async function git(
  root: string,
  ...args: readonly string[]
): Promise<{ readonly lines: readonly string[] } | { readonly problem: string }> {
  const { failed, stdout, stderr, shortMessage } = await execa("git", args, {
    cwd: root,
    reject: false,
    stripFinalNewline: true,
  });
  if (failed) return { problem: stderr.trim() || (shortMessage ?? "git failed") };
  return { lines: stdout === "" ? [] : stdout.split("\n") };
}
