// The paths that the daemon may write to, and the network configuration that its launch server writes for it, from the daemon's options.

import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readTemplate } from "../../../src/configuration/written-configuration.ts";
import { ownCgroup } from "../../sandbox/launcher/cgroups.ts";
import type { DaemonBounds } from "../../sandbox/launcher/launch-server.ts";
import { makeDirectory } from "../../store/files/make-directory.ts";
import type { DaemonOptions } from "./options.ts";

/** The bounds. Makes the directories that the daemon would make: a rule of Landlock is for a file that exists. */
export function boundsOf({ cniConfiguration, ...options }: DaemonOptions): DaemonBounds {
  const { socket, statusSocket, residents, stateDir, writeTo } = options;
  const configuration = cniConfiguration && {
    path: join(cniConfiguration.directory, cniConfiguration.fileName),
    type: typeIn(cniConfiguration.template),
  };
  if (writeTo.length === 0) return { configuration, writable: [] };
  const sockets = [socket, statusSocket, ...residents.flatMap((part) => part.sockets)].map((path) => dirname(path));
  for (const path of sockets) made(path, 0o711);
  made(stateDir, 0o700);
  const credentials = cniConfiguration?.nodeCredentials;
  if (credentials !== undefined) made(credentials, 0o700);
  const own = [...sockets, stateDir, credentials, ownCgroup(), "/dev/null"];
  return { configuration, writable: [...new Set([...writeTo, ...own.flatMap((path) => path ?? [])])] };
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
