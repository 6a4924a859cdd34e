// A daemon's socket. A new daemon replaces the socket of a dead daemon, never that of a living one. Peers that connect and send nothing cannot keep out others.

import { chmodSync, closeSync, constants, lstatSync, unlinkSync, writeSync } from "node:fs";
import { connect, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { peerUid } from "../../system/libc/libc.ts";
import { socketDescriptor } from "../../system/node-internals.ts";
import { makeDirectory } from "./make-directory.ts";
import { rootSockets } from "./root-sockets.ts";
import { openMade } from "./shared-with-root.ts";

/** A socket of the daemon, and its users. */
export interface DaemonSocket {
  /** Absolute path, at most 107 bytes. */
  readonly socket: string;
  /** User ids that may connect: root's and the daemon's own. */
  readonly uids: readonly number[];
}

/** Listens on the socket `path` (absolute, at most 107 bytes), mode 0600; with a group of the user's own 0660. Fault DAEMON_SOCKET. */
export async function listenOn(server: Server, path: string): Promise<Result<void>> {
  try {
    const opened = rootSockets()?.listen(path);
    if (opened !== undefined) {
      if (!("error" in opened)) await listening(server, { fd: opened.descriptor });
      return "error" in opened ? failed(fault("DAEMON_SOCKET", refusalText(path, opened.error))) : ok(undefined);
    }
    makeDirectory(dirname(path), 0o711);
    if (lstatSync(path, { throwIfNoEntry: false })?.isSocket() === true) {
      if (await isListenedTo(path)) return failed(fault("DAEMON_SOCKET", `${path}: a daemon already listens on this socket`));
      unlinkSync(path);
    }
    await listening(server, { path });
    // Root without CAP_DAC_OVERRIDE, such as a container's, reaches another user's socket by the group. The peer's uid decides about its requests.
    chmodSync(path, hasOwnGroup() ? 0o660 : 0o600);
    return ok(undefined);
  } catch (error) {
    return failed(fault("DAEMON_SOCKET", `${path}: ${error instanceof Error ? error.message : String(error)}`));
  }
}

/** Listens at the path, or with the descriptor that listens at it. */
async function listening(server: Server, options: { readonly path: string } | { readonly fd: number }): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(options, resolve);
  await promise;
  server.off("error", reject);
  // A connection that cannot be accepted, for example without a free descriptor, must not end the daemon.
  server.on("error", () => undefined);
}

function refusalText(path: string, error: string): string {
  return `${path}: ${error === "EADDRINUSE" ? "a daemon already listens on this socket" : `the launch server could not listen there: ${error}`}`;
}

/** Ends what `listenOn` began. Node removes the socket that it has made itself. */
export function stopListening(server: Server, path: string): void {
  server.close();
  rootSockets()?.remove(path);
}

/** Whether this process' user is not root, and has a group of the same number: no other user is in it. */
function hasOwnGroup(): boolean {
  const uid = process.getuid?.() ?? 0;
  return uid !== 0 && uid === process.getgid?.();
}

/**
 * Renews the mark beside the socket `path` that tells shims when the daemon went: they wait a moment for the next daemon (PROTOCOL.md). Best
 * effort: without the mark they do not wait.
 */
export function markAway(path: string): void {
  const { O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
  try {
    const fd = openMade(`${path}.away`, O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK, 0o600);
    try {
      writeSync(fd, "\0", 0);
    } finally {
      closeSync(fd);
    }
  } catch {
    // For example a directory that was removed.
  }
}

/** Whether a process listens on the socket; a full backlog (EAGAIN) counts as listening. */
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

/** The inode at `path`; undefined if the path does not exist or cannot be examined. */
export function inodeOf(path: string): bigint | undefined {
  try {
    return lstatSync(path, { bigint: true }).ino;
  } catch {
    return undefined;
  }
}

/** The uid of the peer process (`SO_PEERCRED`); undefined if the socket is closed or the kernel gives no uid. */
export function uidOf(socket: Socket): number | undefined {
  const fd = socketDescriptor(socket);
  return fd === undefined ? undefined : peerUid(fd);
}

/** The connections of one server that have not sent a complete request, or no further one. */
export class SilentConnections {
  /** In order of their silence, the longest first. */
  readonly #sockets = new Set<Socket>();
  /** Sockets whose end this object learns of. */
  readonly #watched = new WeakSet<Socket>();
  readonly #max: number;

  constructor(max: number) {
    this.#max = max;
  }

  /** Counts a connection as silent from now on. Closes the connection that is silent for longest if there are too many. */
  add(socket: Socket): void {
    if (socket.destroyed) return;
    this.#sockets.add(socket);
    if (!this.#watched.has(socket)) socket.once("close", () => this.#sockets.delete(socket));
    this.#watched.add(socket);
    const [oldest] = this.#sockets;
    if (this.#sockets.size > this.#max) oldest?.destroy();
  }

  /** The connection has sent a request. */
  delete(socket: Socket): void {
    this.#sockets.delete(socket);
  }
}
