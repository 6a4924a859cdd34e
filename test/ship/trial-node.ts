// For tests of `plexusctl install`: directories that play a node's, and another release than the build.

import { spawnSync } from "node:child_process";
import { appendFileSync, cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { dist } from "../lab/plexus.ts";

/** The end of one run of plexusctl. */
export interface Installed {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the build's `plexusctl install` with these arguments. */
export function runInstall(...args: readonly string[]): Installed {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(dist, "plexusctl.cjs"), "install", ...args], {
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

/** The document of `-o json`. */
export function reportOf({ stdout }: Installed): Readonly<Record<string, unknown>> {
  return JSON.parse(stdout);
}

/** The content of a release's component `loopback`. */
export function loopbackOf(release: string): Buffer {
  return readFileSync(join(release, "delegates/loopback.wasm"));
}

/** An empty node below a temporary directory. */
export class TrialNode {
  readonly directory = mkdtempSync(join(tmpdir(), "plexus-install-"));
  readonly home = join(this.directory, "node/opt/plexus");
  readonly bin = join(this.directory, "node/opt/cni/bin");

  /** Installs into the node's directories. */
  install(...args: readonly string[]): Installed {
    return runInstall("--home", this.home, "--cni-bin", this.bin, ...args);
  }

  /** Name, inode, size and change time of each entry: a file that is written or renamed changes them. */
  snapshot(): readonly string[] {
    return readdirSync(this.directory, { recursive: true, encoding: "utf8" })
      .filter((name) => !name.includes("/cache"))
      .map((name) => {
        const { ino, size, ctimeMs } = statSync(join(this.directory, name));
        return `${name} ${ino} ${size} ${ctimeMs}`;
      })
      .toSorted();
  }

  /** A copy of the build with another content of the code and of one component. */
  otherRelease(name: string): string {
    const copy = join(this.directory, "releases", name);
    cpSync(dist, copy, { recursive: true, filter: (path) => !/\/(?:test|cache)/.test(path.slice(dist.length)) });
    appendFileSync(join(copy, "engine", "once.cjs"), `// ${name}\n`);
    cpSync(join(dist, "delegates/tuning.wasm"), join(copy, "delegates", "loopback.wasm"));
    return copy;
  }

  dispose(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
