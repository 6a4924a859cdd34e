// Connections to Unix sockets of other programs, which root opens where this process may not (root-sockets.ts).

import { existsSync } from "node:fs";
import { connect, Socket } from "node:net";
import { type RootSocket, rootSockets } from "./root-sockets.ts";

/** Connects to the socket. As with node:net, the answer emits `connect` or `error`. */
export function connectTo(path: string): Socket {
  const opened = rootSockets()?.connect(path);
  return opened === undefined ? connect({ path }) : connectionOf(path, opened);
}

/** As `connectTo`; undefined without a socket at the path. */
export function connectIfPresent(path: string): Socket | undefined {
  const opened = rootSockets()?.connect(path);
  if (opened === undefined) return existsSync(path) ? connect({ path }) : undefined;
  return "error" in opened && opened.error === "ENOENT" ? undefined : connectionOf(path, opened);
}

function connectionOf(path: string, opened: RootSocket): Socket {
  if ("error" in opened) {
    const socket = new Socket();
    socket.destroy(Object.assign(new Error(`connect ${opened.error} ${path}`), { code: opened.error }));
    return socket;
  }
  const socket = new Socket({ fd: opened.descriptor, readable: true, writable: true });
  process.nextTick(() => socket.emit("connect"));
  return socket;
}
