// Whether the daemon's user can read the kubeconfig and the files that it names. Root can read each, so the check reads them as that user.

import { kubeconfigCredentials } from "../../cluster/kube/credentials.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { statsOf } from "../../store/files/stats-of.ts";
import { failed, type NodeCheck, noted, passed } from "./node-check.ts";

/** The user of the daemon that made a socket; root without a socket. */
interface DaemonUser {
  readonly uid: number;
  readonly gid: number;
}

const name = "kubeconfig";
const why = "the daemon and one-shot engines find pods and networks by it";

/** No check without a kubeconfig in the configuration. */
export async function checkKubeconfig(configuration: HostConfiguration, statusSocket: string): Promise<readonly NodeCheck[]> {
  const { kubeconfig: path, kubernetes } = configuration;
  if (path === undefined) return [];
  const { allowInsecure } = kubernetes;
  // Also loads the reader of YAML, whose file the daemon's user need not reach.
  const own = await kubeconfigCredentials(path, { allowInsecure })();
  if (!own.ok) return [failed(name, own.fault.msg, why, "Correct the file, or the key kubeconfig.")];
  const { uid, gid } = statsOf(statusSocket) ?? { uid: 0, gid: 0 };
  if (uid === (process.geteuid?.() ?? 0)) return [passed(name, `${path} is readable`)];
  const user = `the daemon's user ${uid}`;
  if (process.geteuid?.() !== 0) {
    const found = `not tried for ${user}, which root alone can become`;
    return [noted(name, found, why, "Run plexusctl doctor as root.")];
  }
  const daemons = await asUser({ uid, gid }, kubeconfigCredentials(path, { allowInsecure }));
  if (daemons.ok) return [passed(name, `${path} is readable by ${user}`)];
  const remedy = `Give ${path} and the files that it names the group ${gid} and the mode 0640, and each directory above them search for all.`;
  return [failed(name, `${user} cannot read it: ${daemons.fault.msg}`, why, remedy)];
}

/** Runs `read` with the user's rights, and takes those of root again. All threads of the process have them meanwhile. */
async function asUser<T>({ uid, gid }: DaemonUser, read: () => Promise<T>): Promise<T> {
  const groups = process.getgroups?.() ?? [];
  const group = process.getegid?.() ?? 0;
  process.setgroups?.([]);
  process.setegid?.(gid);
  process.seteuid?.(uid);
  try {
    return await read();
  } finally {
    process.seteuid?.(0);
    process.setegid?.(group);
    process.setgroups?.(groups);
  }
}
