// Refuses sockets that a sandbox process could replace with a socket of its own.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { Jail } from "../../sandbox/launcher/jail.ts";
import { writableDirectory } from "../../store/files/writable-directory.ts";

/** Checks the directories of the daemon's sockets. Fault DAEMON_SOCKET: a sandbox process can write to one of them, or above. */
export function checkSockets(sockets: readonly string[], { uids }: Jail): Result<void> {
  const isSandbox = (id: number): boolean => uids !== "same" && id >= uids.first && id < uids.first + uids.count;
  for (const socket of sockets) {
    const directory = writableDirectory(socket, isSandbox);
    if (directory !== undefined)
      return failed(fault("DAEMON_SOCKET", `${socket}: a sandbox process could replace the socket: ${directory}`));
  }
  return ok(undefined);
}
