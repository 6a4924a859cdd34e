// The paths that the daemon may write to, and the network configuration that its launch server writes for it, from the daemon's options.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { defaultLeaseDirectory } from "../../../src/configuration/keys/grant-keys.ts";
import { readTemplate } from "../../../src/configuration/written-configuration.ts";
import { deviceInfoDirectory } from "../../../src/npwg/device-info.ts";
import { isDelegated, ownCgroup } from "../../sandbox/launcher/cgroups.ts";
import type { DaemonBounds, DaemonUser } from "../../sandbox/launcher/launch-server.ts";
import { makeDirectory } from "../../store/files/make-directory.ts";
import type { DaemonOptions } from "./options.ts";

const deviceInfoDirectories = ["cni", "dp"].map((name) => `${deviceInfoDirectory}/${name}`);

/** The bounds. Makes the directories that the daemon would make: a rule of Landlock is for a file that exists. */
export function boundsOf({ cniConfiguration, ...options }: DaemonOptions): DaemonBounds {
  const { socket, statusSocket, residents, stateDir, writeTo, uid } = options;
  const configuration = cniConfiguration && {
    path: join(cniConfiguration.directory, cniConfiguration.fileName),
    type: typeIn(cniConfiguration.template),
  };
  if (writeTo.length === 0 && uid === undefined) return { configuration, writable: [] };
  const sockets = [socket, statusSocket, ...residents.flatMap((part) => part.sockets)].map((path) => dirname(path));
  for (const path of sockets) made(path, 0o711);
  // A user of its own passes through the directories above.
  if (uid !== undefined) made(dirname(stateDir), 0o755);
  made(stateDir, 0o700);
  const credentials = cniConfiguration?.nodeCredentials;
  if (credentials !== undefined) made(credentials, 0o700);
  const own = [...sockets, stateDir, credentials, ownCgroup(), "/dev/null"];
  const writable = writeTo.length === 0 ? [] : [...new Set([...writeTo, ...own.flatMap((path) => path ?? [])])];
  return { configuration, writable, user: uid === undefined ? undefined : userOf(uid, options, credentials) };
}

/** The daemon's user, and the directories in which it works beside root's programs. */
function userOf(
  uid: number,
  { stateDir, sharedDirectories, socket, statusSocket }: Omit<DaemonOptions, "cniConfiguration">,
  credentials: string | undefined,
): DaemonUser {
  const open = [defaultLeaseDirectory, ...deviceInfoDirectories, ...sharedDirectories];
  for (const path of open) made(path, 0o755);
  // Only root may divide a cgroup that is delegated to root.
  const cgroup = isDelegated() ? ownCgroup() : undefined;
  return {
    uid,
    shared: [...new Set([stateDir, ...open, ...(credentials === undefined ? [] : [credentials])])],
    // The directories of other sockets may be another program's, such as the kubelet's.
    sharedAlone: [...new Set([dirname(socket), dirname(statusSocket), ...(cgroup === undefined ? [] : [cgroup])])],
  };
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
