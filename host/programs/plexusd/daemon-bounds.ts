// The paths that the daemon may write to, and the network configuration that its launch server writes for it, from the daemon's options.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { nodeKubeconfigName } from "../../cluster/kube/in-cluster.ts";
import { kubeletDirectory, podResourcesSocket } from "../../cluster/kubelet/kubelet-paths.ts";
import { defaultMultusDirectory } from "../../../src/configuration/keys/place-keys.ts";
import { defaultDeviceRecords, defaultLeaseDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { readTemplate } from "../../../src/configuration/written-configuration.ts";
import { deviceInfoDirectory } from "../../../src/npwg/device-info.ts";
import { isDelegated, ownCgroup } from "../../sandbox/launcher/cgroups.ts";
import type { DaemonBounds, DaemonUser, SharedDirectories, SocketsOfRoot } from "../../sandbox/launcher/launch-server.ts";
import { makeDirectory } from "../../store/files/make-directory.ts";
import { isShared } from "../../store/files/shared-with-root.ts";
import { statsOf } from "../../store/files/stats-of.ts";
import type { CniConfigurationOptions, DaemonOptions } from "./options.ts";

const deviceInfoDirectories = ["cni", "dp"].map((name) => `${deviceInfoDirectory}/${name}`);

/** The bounds. Makes the directories that the daemon would make: a rule of Landlock is for a file that exists. */
export function boundsOf({ cniConfiguration, ...options }: DaemonOptions): DaemonBounds {
  const { socket, statusSocket, residents, stateDir, writeTo, uid, kubeconfig } = options;
  const configuration = cniConfiguration && {
    path: join(cniConfiguration.directory, cniConfiguration.fileName),
    type: typeIn(cniConfiguration.template),
    template: cniConfiguration.template,
    kubeconfig: kubeconfig ?? nodeKubeconfigOf(cniConfiguration, socket),
  };
  const group = uid === undefined ? groupOf(stateDir) : undefined;
  if (writeTo.length === 0 && uid === undefined) return { configuration, writable: [], group };
  const listened = [socket, statusSocket, ...residents.flatMap((part) => part.sockets)];
  for (const path of listened) made(dirname(path), 0o711);
  const listens: readonly string[] = uid === undefined ? [] : rootSocketsOf({ cniConfiguration, ...options }).listens;
  const sockets = listened.filter((path) => !listens.includes(path)).map((path) => dirname(path));
  // A user of its own passes through the directories above.
  if (uid !== undefined) made(dirname(stateDir), 0o755);
  made(stateDir, 0o700);
  const credentials = cniConfiguration?.nodeCredentials;
  if (credentials !== undefined) made(credentials, 0o700);
  const own = [...sockets, stateDir, credentials, ownCgroup(), "/dev/null"];
  const writable = writeTo.length === 0 ? [] : [...new Set([...writeTo, ...own.flatMap((path) => path ?? [])])];
  return { configuration, writable, group, user: uid === undefined ? undefined : userOf(uid, { cniConfiguration, ...options }) };
}

/** The kubeconfig of one-shot engines that the written configuration names where neither the template nor the command line names one. */
export function nodeKubeconfigOf({ nodeCredentials }: CniConfigurationOptions, socket: string): string {
  return join(nodeCredentials ?? join(dirname(socket), "credentials"), nodeKubeconfigName);
}

/**
 * The sockets that a daemon with a user of its own gets from its launch server. The directories of the daemon's other sockets are shared with its group: there it
 * needs no help, and the launch server would give none.
 */
export function rootSocketsOf(options: DaemonOptions): SocketsOfRoot {
  const { residents, socketsOfRoot } = options;
  const { shared, sharedAlone } = sharedDirectoriesOf(options);
  const isRoots = (path: string): boolean =>
    !sharedAlone.includes(dirname(path)) && !shared.some((directory) => path.startsWith(`${directory}/`));
  const connects = [podResourcesSocket(kubeletDirectory), ...socketsOfRoot, ...residents.flatMap((part) => part.connects ?? [])];
  return {
    connects: [...new Set(connects.filter(isRoots))],
    listens: [...new Set(residents.flatMap((part) => part.sockets).filter(isRoots))],
  };
}

/** The daemon's user, the directories in which it works beside root's programs, and its sockets in root's directories. */
function userOf(uid: number, options: DaemonOptions): DaemonUser {
  const { open, shared, sharedAlone } = sharedDirectoriesOf(options);
  for (const path of open) made(path, 0o755);
  // The directory above it is root's, so the daemon cannot make it at the first device.
  made(defaultDeviceRecords, 0o700);
  // Only root may divide a cgroup that is delegated to root.
  const cgroup = isDelegated() ? ownCgroup() : undefined;
  return {
    uid,
    shared,
    sharedAlone: [...sharedAlone, ...(cgroup === undefined ? [] : [cgroup])],
    ...rootSocketsOf(options),
  };
}

/** `open`: those of `shared` that other users may read. */
function sharedDirectoriesOf({
  stateDir,
  sharedDirectories,
  socket,
  statusSocket,
  cniConfiguration,
  residents,
}: DaemonOptions): SharedDirectories & { readonly open: readonly string[] } {
  const ofParts = residents.flatMap((part) => part.directories ?? []);
  const open = [defaultLeaseDirectory, ...deviceInfoDirectories, ...sharedDirectories, ...ofParts];
  const credentials = cniConfiguration?.nodeCredentials;
  return {
    open,
    // The DEL of a pod that Multus attached reads and removes Multus' files. A directory that is missing stays so.
    shared: [
      ...new Set([
        stateDir,
        defaultMultusDirectory,
        defaultDeviceRecords,
        ...open,
        ...(credentials === undefined ? [] : [credentials]),
      ]),
    ],
    // The directories of other sockets may be another program's, such as the kubelet's.
    sharedAlone: [...new Set([dirname(socket), dirname(statusSocket)])],
  };
}

/** The group with which a daemon with a user of its own has shared the directory: a daemon of root without CAP_DAC_OVERRIDE goes on there as a member. */
function groupOf(directory: string): number | undefined {
  const stats = statsOf(directory);
  return stats !== undefined && isShared(stats) && stats.gid !== 0 ? stats.gid : undefined;
}

/** Best effort: the daemon's own attempt reports the reason. */
function made(path: string, mode: number): void {
  try {
    makeDirectory(path, mode);
  } catch {
    // For example a read-only file system.
  }
}

/** The type under which the runtime calls Plexus. A template that cannot be read is reported by the writer of the configuration. */
function typeIn(path: string): string {
  try {
    const template = readTemplate(readFileSync(path, "utf8"), path);
    return template.ok ? template.value.type : "plexus";
  } catch {
    return "plexus";
  }
}
