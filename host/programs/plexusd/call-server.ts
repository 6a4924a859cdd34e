// Listens for the hands on a unix socket. Each connection is one call of a runtime, or resident hands.

import { createServer, type Server, type Socket } from "node:net";
import { printError } from "../../src/cni/error-json.ts";
import { fault, type Fault } from "../../src/fault/fault.ts";
import type { Result } from "../../src/fault/result.ts";
import { HandsGone } from "../hands/hands.ts";
import type { Reply, Request } from "../hands/messages.ts";
import { CallQueue, type QueueBounds } from "./call-queue.ts";
import { ConnectedHands } from "./connected-hands.ts";
import type { ResidentConnection } from "./resident-hands.ts";
import { inodeOf, listenOn, uidOf } from "./unix-socket.ts";

/** Serves calls: one for each connection. */
export interface CallService {
  /** Answers the call, which waited for its turn as long; `hands` carries out its effects. */
  readonly serve: (request: Request, hands: ConnectedHands, waitedMs: number) => Promise<Omit<Reply, "kind">>;
  /** Resident hands have come; answers what is to be done when they have gone. */
  readonly resident: (connection: ResidentConnection) => () => void;
  /** Hears how many milliseconds a call waited for its turn; undefined where it was refused. */
  readonly waited: (ms: number | undefined) => void;
  readonly warn: (text: string) => void;
}

export interface CallServerInit extends QueueBounds {
  /** Absolute path, at most 107 bytes. */
  readonly socket: string;
  /** Uids that may call: root's and our own. */
  readonly uids: readonly number[];
  /** How long a connection may take to send its request, in ms. */
  readonly requestMs: number;
}

/** One is enough; a second one may come before the first has gone. */
const mostResident = 16;
/** How often it is seen whether the hands still find the socket, in ms. */
const watchMs = 2000;

/** The server of one daemon. */
export class CallServer {
  readonly queue: CallQueue;
  readonly #init: CallServerInit;
  readonly #service: CallService;
  readonly #server: Server;
  /** Connections of calls, and of who hasn't said yet what it is. */
  readonly #open = new Set<Socket>();
  readonly #resident = new Set<Socket>();
  /** The socket's file, by its inode. */
  #file: bigint | undefined;
  #closing = false;
  #watch: NodeJS.Timeout | undefined;
  #binding = false;
  #complained = false;
  #lastClosed: () => void = () => undefined;

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
    const listens = await this.#bind();
    if (listens.ok) this.#watch = setInterval(() => void this.#listenAgain(), watchMs).unref();
    return listens;
  }

  async #bind(): Promise<Result<void>> {
    const listens = await listenOn(this.#server, this.#init.socket);
    if (listens.ok) this.#file = inodeOf(this.#init.socket);
    return listens;
  }

  /**
   * Where the socket's file is gone (somebody has cleaned its directory) it is made anew; calls under way go on. Where another file
   * is in its place, that is another daemon's, or somebody's who must know why: closing ours would remove it.
   */
  async #listenAgain(): Promise<void> {
    if (this.#closing || this.#binding || inodeOf(this.#init.socket) !== undefined) return;
    this.#binding = true;
    this.#server.close();
    const listens = await this.#bind();
    this.#binding = false;
    const what = listens.ok ? "its file was gone; made anew" : `its file is gone: ${listens.fault.msg}`;
    if (listens.ok || !this.#complained) this.#service.warn(`${this.#init.socket}: ${what}`);
    this.#complained = !listens.ok;
    // Meanwhile the daemon was told to end.
    if (this.#closing) this.#server.close();
  }

  /** Whether the hands find it: a socket whose file is gone listens, and nobody comes. */
  get listening(): boolean {
    return this.#server.listening && this.#file !== undefined && inodeOf(this.#init.socket) === this.#file;
  }

  /**
   * Accepts nothing more, waits for the calls under way, and for what else is being `finished` by resident hands, `graceMs` at most;
   * answers how many calls were cut off.
   */
  async close(graceMs: number, finished: Promise<void>): Promise<number> {
    this.#closing = true;
    clearInterval(this.#watch);
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close();
    this.#lastClosed = resolve;
    if (this.#open.size === 0) resolve();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, graceMs);
    // Closing ends the resident hands' connections, too.
    await Promise.race([Promise.all([promise, finished]), late.promise]);
    clearTimeout(timer);
    const cut = this.#open.size;
    for (const socket of [...this.#open, ...this.#resident]) socket.destroy();
    return cut;
  }

  async #connection(socket: Socket): Promise<void> {
    this.#open.add(socket);
    socket.once("close", () => this.#isNoCall(socket));
    const hands = new ConnectedHands(socket);
    const uid = uidOf(socket);
    if (uid === undefined || !this.#init.uids.includes(uid)) {
      this.#service.warn(`${this.#init.socket}: uid ${uid ?? "unknown"} called, which may not`);
      socket.destroy();
      return;
    }
    const late = setTimeout(() => socket.destroy(), this.#init.requestMs);
    try {
      await hands.welcome();
      const purpose = await hands.purpose;
      clearTimeout(late);
      if (purpose.kind === "resident") this.#stays(socket, { hands, environment: purpose.environment });
      else hands.reply(await this.#serve(purpose, hands, socket));
    } catch (error) {
      clearTimeout(late);
      socket.destroy();
      if (!(error instanceof HandsGone)) throw error;
    }
  }

  #isNoCall(socket: Socket): void {
    this.#open.delete(socket);
    if (this.#open.size === 0) this.#lastClosed();
  }

  /** Resident hands are no call: nobody waits for them to end. */
  #stays(socket: Socket, connection: ResidentConnection): void {
    if (socket.destroyed || this.#closing || this.#resident.size >= mostResident) {
      socket.destroy();
      return;
    }
    this.#resident.add(socket);
    const remove = this.#service.resident(connection);
    socket.once("close", () => {
      this.#resident.delete(socket);
      remove();
    });
    this.#isNoCall(socket);
  }

  async #serve(request: Request, hands: ConnectedHands, socket: Socket): Promise<Omit<Reply, "kind">> {
    if (this.#closing) return refusal(fault("DAEMON_BUSY", "the daemon is being stopped"));
    const came = performance.now();
    const served = this.queue.enter(
      () => {
        const waitedMs = performance.now() - came;
        this.#service.waited(waitedMs);
        return this.#service.serve(request, hands, waitedMs);
      },
      (leave) => void socket.once("close", leave),
    );
    if (served !== undefined) {
      const reply = await served;
      if (reply === undefined) throw new HandsGone(fault("HANDS_GONE", "hands: they ended while their call waited for its turn"));
      return reply;
    }
    this.#service.waited(undefined);
    const { active, waiting } = this.#init;
    return refusal(fault("DAEMON_BUSY", `${active} calls are being served and ${waiting} are waiting`));
  }
}

function refusal(reason: Fault): Omit<Reply, "kind"> {
  return { status: 1, stdout: printError(reason), stderr: "" };
}
