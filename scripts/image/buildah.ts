// Runs buildah, the installed one or an unpacked one, with a storage of its own.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";

/** A buildah to use. */
export interface BuildahInit {
  /** The program; the default is `buildah` on PATH. */
  readonly program?: string;
  /** The directory of its images; the default is buildah's own. */
  readonly storage?: string;
}

/** Runs buildah with arguments. Answers its stdout. Throws with its stderr. */
export type Buildah = (...args: readonly string[]) => Promise<string>;

/**
 * The storage driver `vfs` and the isolation `chroot` need no overlay file system, no container runtime and no cgroups, so the build runs
 * inside of a container, too.
 */
export function buildahWith({ program = "buildah", storage }: BuildahInit): Buildah {
  const options = storage === undefined ? [] : storageOptions(storage);
  const env: Record<string, string> = { BUILDAH_ISOLATION: "chroot", BUILDAH_FORMAT: "oci" };
  if (storage !== undefined) env["CONTAINERS_REGISTRIES_CONF"] = join(storage, "registries.conf");
  const policy = storage === undefined ? [] : ["--signature-policy", join(storage, "policy.json")];
  return async (...args) => {
    const length = args[0] === "manifest" ? 2 : 1;
    const command = args.slice(0, length);
    const more = policyCommands.has(command.join(" ")) ? policy : [];
    const { stdout } = await execa(program, [...options, ...command, ...more, ...args.slice(length)], {
      env,
      maxBuffer: 64 << 20,
    });
    return stdout;
  };
}

const policyCommands: ReadonlySet<string> = new Set(["build", "from", "commit", "manifest push"]);

function storageOptions(storage: string): readonly string[] {
  mkdirSync(storage, { recursive: true });
  writeFileSync(join(storage, "policy.json"), '{"default": [{"type": "insecureAcceptAnything"}]}\n');
  writeFileSync(join(storage, "registries.conf"), "");
  return ["--root", join(storage, "root"), "--runroot", join(storage, "run"), "--storage-driver", "vfs"];
}
