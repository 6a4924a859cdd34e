// Unpacks programs of Debian packages without installing them: installing a daemon's package would start that daemon on the machine.

import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

/** The cache directory, outside of the repository, of files that take long to build. */
export const testCache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "plexus");

/** Replaces `directory` with the files of these packages. `options`: further ones for apt-get. Answers the reason of a failure, or undefined. */
export function unpackPackages(
  packages: readonly string[],
  directory: string,
  options: readonly string[] = [],
): string | undefined {
  mkdirSync(testCache, { recursive: true });
  const work = mkdtempSync(join(testCache, "unpacking-"));
  try {
    const downloaded = spawnSync("apt-get", [...options, "download", ...packages], { cwd: work, encoding: "utf8" });
    if (downloaded.status !== 0) return `apt-get download: ${(downloaded.stderr ?? "no apt-get").trim().slice(-300)}`;
    const root = join(work, "root");
    for (const file of readdirSync(work).filter((name) => name.endsWith(".deb"))) {
      const extracted = spawnSync("dpkg-deb", ["-x", join(work, file), root], { encoding: "utf8" });
      if (extracted.status !== 0) return `dpkg-deb -x ${file}: ${extracted.stderr}`;
    }
    rmSync(directory, { recursive: true, force: true });
    renameSync(root, directory);
    return undefined;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
