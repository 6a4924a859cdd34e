// Starts the program once more in user, network and mount namespaces of its own, so that native plugins can't touch the machine.

import { spawnSync } from "node:child_process";
import { statSync } from "node:fs";
import { programPath } from "./program-path.ts";

/** The marker of the second start: the inode of its network namespace. */
const marker = "PLEXUS_CONFORMANCE_NAMESPACE";

/** The outcome. */
export type OwnNamespaces =
  /** This process is in namespaces of its own. */
  | { readonly kind: "own" }
  /** The program ran in such namespaces and ended. */
  | { readonly kind: "ended"; readonly status: 0 | 1 | 2 | 3 }
  /** Namespaces can't be made here. */
  | { readonly kind: "refused"; readonly why: string };

// An empty /run for network namespaces, and an empty /var/lib/cni where the directory can be had.
const script = `set -e
mount -t tmpfs -o mode=755 tmpfs /run
mkdir -p /run/netns /run/lock
if mkdir -p /var/lib/cni 2>/dev/null; then mount -t tmpfs -o mode=755 tmpfs /var/lib/cni; fi
ip link set lo up
${marker}=$(stat -L -c %i /proc/self/ns/net)
export ${marker}
exec "$@"`;

/** Runs this program in new namespaces, unless it already is in such. */
export function inOwnNamespaces(): OwnNamespaces {
  if (process.env[marker] === String(statSync("/proc/self/ns/net").ino)) return { kind: "own" };
  const env = { ...process.env, PATH: programPath() };
  const reasons: string[] = [];
  for (const user of process.getuid?.() === 0 ? [[], userNamespace] : [userNamespace]) {
    const how = [...user, "--net", "--mount", "--propagation", "private", "--", "sh", "-c", script, "sh"];
    const tried = spawnSync("unshare", [...how, "true"], { env, encoding: "utf8" });
    if (tried.status !== 0) {
      reasons.push((tried.stderr || String(tried.error ?? "")).trim());
      continue;
    }
    const [program = "", ...args] = process.argv.slice(1);
    const ended = spawnSync("unshare", [...how, process.execPath, ...process.execArgv, program, ...args], {
      env,
      stdio: "inherit",
    });
    const { status } = ended;
    return { kind: "ended", status: status === 0 || status === 1 || status === 2 ? status : 3 };
  }
  return { kind: "refused", why: `namespaces can't be made here: ${reasons.at(-1) ?? "unknown"}` };
}

const userNamespace = ["--user", "--map-root-user"];
