// The parts that archives and packages of a release have in common.

import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs `work` in a new directory, which is removed afterwards. `name` is a part of the directory's name. */
export async function inTemporaryDirectory<T>(name: string, work: (directory: string) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), `plexus-${name}-`));
  try {
    return await work(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Copies the licence and the systemd units of the repository at `root` into the release's directory. */
export function stageCommonFiles(root: string, directory: string): void {
  mkdirSync(join(directory, "systemd"), { recursive: true });
  for (const unit of readdirSync(join(root, "deploy/systemd")))
    copyFileSync(join(root, "deploy/systemd", unit), join(directory, "systemd", unit));
  stageLicence(root, directory);
}

/** Copies the licence of the repository at `root`. */
export function stageLicence(root: string, directory: string): void {
  copyFileSync(join(root, "LICENSE"), join(directory, "LICENSE"));
}

/** The members of a package's manifest that come from the manifest in the repository. */
export interface PackageNames {
  readonly name: string;
  readonly version: string;
  readonly description: string;
  readonly license: string;
}

/** Writes `package.json`. `repository`: the URL as the registry's provenance names it; undefined: the package can't be published with provenance. */
export function writeManifest(
  directory: string,
  { name, version, description, license }: PackageNames,
  repository: string | undefined,
  more: object,
): void {
  const manifest = {
    name,
    version,
    description,
    license,
    ...more,
    ...(repository === undefined ? {} : { repository: { type: "git", url: repository } }),
    publishConfig: { access: "public", provenance: true },
  };
  writeFileSync(join(directory, "package.json"), `${JSON.stringify(manifest, undefined, 2)}\n`);
}
