// A daemon's socket: taken over from a daemon that has died, not from one that lives; and who calls on it.

import { chmodSync, lstatSync, unlinkSync } from "node:fs";
import { connect, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { makeDirectory } from "../files/make-directory.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { peerUid } from "../libc/libc.ts";

/** Listens on the socket, mode 0600; `path` is absolute, at most 107 bytes. Faults: DAEMON_SOCKET. */
export async function listenOn(server: Server, path: string): Promise<Result<void>> {
  try {
    makeDirectory(dirname(path), 0o711);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) {
      if (await isListenedTo(path)) return failed(fault("DAEMON_SOCKET", `${path}: a daemon listens there already`));
      unlinkSync(path);
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    server.once("error", reject);
    server.listen(path, resolve);
    await promise;
    chmodSync(path, 0o600);
    return ok(undefined);
  } catch (error) {
    return failed(fault("DAEMON_SOCKET", `${path}: ${error instanceof Error ? error.message : String(error)}`));
  }
}

/** Whether anybody accepts connections there. One whose backlog is full does. */
async function isListenedTo(path: string): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = connect(path, () => resolve(true));
  socket.once("error", (error) => resolve(!("code" in error && error.code === "ECONNREFUSED")));
  try {
    return await promise;
  } finally {
    socket.destroy();
  }
}

/** Undefined where nothing is there, or it can't be looked at. */
export function inodeOf(path: string): bigint | undefined {
  try {
    return lstatSync(path, { bigint: true }).ino;
  } catch {
    return undefined;
  }
}

/** Node has the descriptor of a socket, but no public name for it. */
export function uidOf(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, "_handle");
  const fd: unknown = typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : undefined;
  return typeof fd === "number" && fd >= 0 ? peerUid(fd) : undefined;
}
