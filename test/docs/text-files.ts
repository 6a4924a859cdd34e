// The repository's texts, for tests that look at each of them.

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { root } from "../lab/compiled.ts";

/** Files without prose: programs, pictures, archives, and what npm writes. */
const withoutProse = /\.(?:wasm|png|svg|gz|tgz|bin|der|woff2?)$|(?:^|\/)package-lock\.json$/;

/** The texts below `folders` that git knows or would add, by their paths from the root. Throws outside of a git work tree. */
export function textFiles(folders: readonly string[]): readonly string[] {
  const args = ["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", ...folders];
  const { status, stdout, stderr } = spawnSync("git", args, { cwd: root, encoding: "utf8", maxBuffer: 16 << 20 });
  if (status !== 0) throw new Error(`git ls-files: ${stderr}`);
  return stdout.split("\0").filter((file) => file !== "" && !withoutProse.test(file) && existsSync(join(root, file)));
}
