// Listens for the hands on a unix socket. Each connection is one call of a runtime.

import { chmodSync, lstatSync, mkdirSync, unlinkSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { dirname } from "node:path";
import { printError } from "../../src/cni/error-json.ts";
import { fault, type Fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { HandsGone, type NestedCallHandler } from "../hands/hands.ts";
import type { Reply, Request } from "../hands/messages.ts";
import { peerUid } from "../libc/libc.ts";
import { CallQueue, type QueueBounds } from "./call-queue.ts";
import { ConnectedHands } from "./connected-hands.ts";

/** Serves calls: one for each connection. */
export interface CallService {
  /** Answers the call. `hands` carries out its effects; `nested` is to be given what its plugins call meanwhile. */
  readonly serve: (request: Request, hands: ConnectedHands, nested: NestedCalls) => Promise<Omit<Reply, "kind">>;
  readonly warn: (text: string) => void;
}

/** Where a call says who serves its nested ones. */
export interface NestedCalls {
  handler: NestedCallHandler | undefined;
}

export interface CallServerInit extends QueueBounds {
  /** Absolute path, at most 107 bytes. */
  readonly socket: string;
  /** Uids that may call: root's and our own. */
  readonly uids: readonly number[];
  /** How long a connection may take to send its request, in ms. */
  readonly requestMs: number;
}

/** The server of one daemon. */
export class CallServer {
  readonly queue: CallQueue;
  readonly #init: CallServerInit;
  readonly #service: CallService;
  readonly #server: Server;
  readonly #open = new Set<Socket>();
  #closing = false;

  constructor(init: CallServerInit, service: CallService) {
    this.#init = init;
    this.#service = service;
    this.queue = new CallQueue(init);
    this.#server = createServer((socket) => void this.#connection(socket));
    // Whoever is beyond the queue's bounds is answered; whoever is far beyond waits in the kernel's backlog.
    this.#server.maxConnections = init.active + init.waiting + 64;
  }

  /** Listens; takes over the socket of a daemon that has died, not that of one that listens. Faults: DAEMON_SOCKET. */
  async listen(): Promise<Result<void>> {
    const { socket } = this.#init;
    try {
      mkdirSync(dirname(socket), { recursive: true, mode: 0o711 });
      if (lstatSync(socket, { throwIfNoEntry: false })?.isSocket() === true) {
        if (await isListenedTo(socket)) return failed(fault("DAEMON_SOCKET", `${socket}: a daemon listens there already`));
        unlinkSync(socket);
      }
      const { promise, resolve, reject } = Promise.withResolvers<void>();
      this.#server.once("error", reject);
      this.#server.listen(socket, resolve);
      await promise;
      chmodSync(socket, 0o600);
      return ok(undefined);
    } catch (error) {
      return failed(fault("DAEMON_SOCKET", `${socket}: ${error instanceof Error ? error.message : String(error)}`));
    }
  }

  /** Accepts nothing more, waits for the calls under way `graceMs` at most; answers how many were cut off. */
  async close(graceMs: number): Promise<number> {
    this.#closing = true;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    // A connection's own "close" may come after the server's: what is open then is no call that goes on.
    this.#server.close(() => resolve(true));
    const timer = setTimeout(() => resolve(false), graceMs);
    const ended = await promise;
    clearTimeout(timer);
    const cut = ended ? 0 : this.#open.size;
    for (const socket of this.#open) socket.destroy();
    return cut;
  }

  async #connection(socket: Socket): Promise<void> {
    this.#open.add(socket);
    socket.once("close", () => this.#open.delete(socket));
    const nested: NestedCalls = { handler: undefined };
    const hands = new ConnectedHands(socket, async (request) =>
      nested.handler === undefined
        ? refusal(fault("HANDS_PROTOCOL", `a nested call of ${request.name} before its parent's`))
        : nested.handler(request),
    );
    const uid = uidOf(socket);
    if (uid === undefined || !this.#init.uids.includes(uid)) {
      this.#service.warn(`${this.#init.socket}: uid ${uid ?? "unknown"} called, which may not`);
      socket.destroy();
      return;
    }
    hands.welcome();
    const late = setTimeout(() => socket.destroy(), this.#init.requestMs);
    try {
      const request = await hands.call;
      clearTimeout(late);
      hands.reply(await this.#serve(request, hands, nested));
      socket.end();
    } catch (error) {
      clearTimeout(late);
      socket.destroy();
      if (!(error instanceof HandsGone)) throw error;
    }
  }

  async #serve(request: Request, hands: ConnectedHands, nested: NestedCalls): Promise<Omit<Reply, "kind">> {
    if (this.#closing) return refusal(fault("DAEMON_BUSY", "the daemon is being stopped"));
    const served = this.queue.enter(() => this.#service.serve(request, hands, nested));
    if (served !== undefined) return served;
    const { active, waiting } = this.#init;
    return refusal(fault("DAEMON_BUSY", `${active} calls are being served and ${waiting} are waiting`));
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

/** Node has the descriptor of a socket, but no public name for it. */
function uidOf(socket: Socket): number | undefined {
  const handle: unknown = Reflect.get(socket, "_handle");
  const fd: unknown = typeof handle === "object" && handle !== null ? Reflect.get(handle, "fd") : undefined;
  return typeof fd === "number" && fd >= 0 ? peerUid(fd) : undefined;
}

function refusal(reason: Fault): Omit<Reply, "kind"> {
  return { status: 1, stdout: printError(reason), stderr: "" };
}
