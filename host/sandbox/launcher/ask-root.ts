// Asks the launch server for files and sockets that root alone may use: to share what root has made in a directory (share.c), such as native host-local's leases, for
// the content of a configuration in the runtime's directory (configuration.c), and for sockets in root's directories (sockets.c).

import { spawnSync } from "node:child_process";
import { closeSync, writeSync } from "node:fs";
import { basename, dirname } from "node:path";
import { getSystemErrorName } from "node:util";
import { isReadableWithin } from "../../system/libc/libc.ts";
import { receiveDescriptor } from "../../system/libc/receive-descriptor.ts";
import type { RootSocket, RootSockets } from "../../store/files/root-sockets.ts";
import type { RootHelp } from "../../store/files/shared-with-root.ts";
import type { LaunchServer } from "./jail.ts";
import { askFileArguments, type SocketsOfRoot } from "./launch-server.ts";

const intBytes = 4;
/** launcher.h: REQUEST_MAX. */
const maxRequestBytes = 4096;

/** Maximum wait for an answer, for example of a file system that hangs. The launch server answers for a child of its that was killed. */
const maxWaitMs = 60_000;
/** launcher: CONTENT_MAX of configuration.c. */
const maxContentBytes = 1024 * 1024;

/** An answer to a request about a path: the errno, or 0, and the descriptor of a socket. Undefined without an answer. */
type AskPath = (
  verb: "connect" | "listen" | "remove" | "share",
  path: string,
) => { readonly errno: number; readonly descriptor: number | undefined } | undefined;

/**
 * The requests about paths. Each waits for the answer: an operation that failed is synchronous, and holds a lock. A request takes a fork and some system calls.
 * Only this process reads from the connection.
 */
export function askPaths({ descriptor: connection }: LaunchServer): AskPath {
  // After a missing answer the next one could be that of an earlier request.
  let answers = true;
  return (verb, path) => {
    const request = Buffer.from(`${verb}\0${path}\0`);
    if (!answers || request.length > maxRequestBytes) return undefined;
    try {
      writeSync(connection, request);
      answers = isReadableWithin(connection, maxWaitMs);
      const answer = answers ? receiveDescriptor(connection) : undefined;
      if (answer === undefined || answer.bytes.length !== intBytes) return undefined;
      return { errno: answer.bytes.readInt32LE(), descriptor: answer.descriptor };
    } catch {
      // The launch server has ended, and the daemon ends after it.
      return undefined;
    }
  };
}

/** The requests about files. `configurations`: the runtime's directory; undefined: the daemon reads none. */
export function rootHelp(
  launcher: string,
  { descriptor }: LaunchServer,
  ask: AskPath,
  configurations: string | undefined,
): RootHelp {
  return {
    share: (directory) => ask("share", directory)?.errno === 0,
    read(path) {
      if (dirname(path) !== configurations) return undefined;
      const { status, stdout } = spawnSync(launcher, askFileArguments("read", basename(path)), {
        cwd: "/",
        env: {},
        stdio: ["ignore", "pipe", "ignore", descriptor],
        maxBuffer: 2 * maxContentBytes,
      });
      return status === 0 ? stdout : undefined;
    },
  };
}

/** The requests about sockets: those that the launch server was started with. */
export function socketsOfRoot(ask: AskPath, { connects, listens }: SocketsOfRoot): RootSockets {
  const opened = (verb: "connect" | "listen", path: string): RootSocket => {
    const answer = ask(verb, path);
    if (answer?.errno === 0 && answer.descriptor !== undefined) return { descriptor: answer.descriptor };
    if (answer?.descriptor !== undefined) closeSync(answer.descriptor);
    return { error: answer === undefined || answer.errno === 0 ? "ECONNRESET" : getSystemErrorName(-answer.errno) };
  };
  return {
    connect: (path) => (connects.includes(path) ? opened("connect", path) : undefined),
    listen: (path) => (listens.includes(path) ? opened("listen", path) : undefined),
    remove(path) {
      if (listens.includes(path)) ask("remove", path);
    },
  };
}
