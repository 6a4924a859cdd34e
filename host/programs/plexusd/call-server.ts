// Listens for shims on a unix socket. Each connection is one call of a runtime, or an agent.

import { createServer, type Server, type Socket } from "node:net";
import { printError } from "../../../src/cni/error-json.ts";
import { fault, type Fault } from "../../../src/fault/fault.ts";
import type { Result } from "../../../src/fault/result.ts";
import { podNamespace } from "../../../src/kube/pod-identity.ts";
import { ConnectedShim } from "../../protocol/connected-shim.ts";
import { type CallAnswer, notBegunStatus, type Request } from "../../protocol/messages.ts";
import { ShimGone } from "../../protocol/shim.ts";
import { SilentConnections, type DaemonSocket, inodeOf, listenOn, markAway, uidOf } from "../../store/files/unix-socket.ts";
import type { Clock } from "../../system/clock.ts";
import { CallQueue, type QueueBounds } from "./call-queue.ts";
import type { AgentConnection } from "./daemon-calls.ts";

/** The daemon's handlers for connections. */
export interface CallService {
  /** Serves a call, which waited `waitedMs` in the queue; `shim` carries out its effects. */
  readonly serve: (request: Request, shim: ConnectedShim, waitedMs: number) => Promise<CallAnswer>;
  /** An agent has connected; answers a function to call when it disconnects. */
  readonly agent: (connection: AgentConnection) => () => void;
  /** Receives how many milliseconds a call waited in the queue; undefined if the call was refused. */
  readonly waited: (ms: number | undefined) => void;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}

/** Maximum connected agents. A node needs one; a restarted agent may connect before the old connection ends. */
const maxAgents = 16;
/** Maximum connections that have not sent a request. A shim sends its request within a millisecond. */
const maxSilent = 64;
/** Longest time until a connection has sent its request, in ms. */
const requestMs = 10_000;
/** Longest time until a peer has read its reply, in ms. */
const replyMs = 10_000;
/** Interval between checks that the socket's file still exists, in ms. */
const intervalMs = 2000;

/** The server of one daemon. */
export class CallServer {
  readonly queue: CallQueue;
  readonly #at: DaemonSocket;
  readonly #bounds: QueueBounds;
  readonly #service: CallService;
  readonly #server: Server;
  /** Connections of calls, and connections that have not yet sent a request or an agent's greeting. */
  readonly #open = new Set<Socket>();
  readonly #agent = new Set<Socket>();
  readonly #silent = new SilentConnections(maxSilent);
  /** Inode of the socket's file. */
  #file: bigint | undefined;
  /** When each unanswered call came, in ms of the monotonic clock. */
  readonly #arrivals = new Set<{ readonly ms: number }>();
  #closing = false;
  #watch: NodeJS.Timeout | undefined;
  #binding = false;
  #complained = false;
  #lastClosed: () => void = () => undefined;

  constructor(at: DaemonSocket, bounds: QueueBounds, service: CallService) {
    this.#at = at;
    this.#bounds = bounds;
    this.#service = service;
    this.queue = new CallQueue(bounds);
    // The queue bounds the connections with a request, `#silent` bounds those without. A call beyond the queue is refused with an answer.
    this.#server = createServer((socket) => void this.#connection(socket));
  }

  /** Listens. Replaces the socket of a dead daemon, but not of a listening one. Fault DAEMON_SOCKET. */
  async listen(): Promise<Result<void>> {
    const listens = await this.#bind();
    if (listens.ok) this.#watch = setInterval(() => void this.#listenAgain(), intervalMs).unref();
    return listens;
  }

  async #bind(): Promise<Result<void>> {
    const listens = await listenOn(this.#server, this.#at.socket);
    if (listens.ok) this.#file = inodeOf(this.#at.socket);
    return listens;
  }

  /**
   * Creates the socket's file again if it is gone (a cleaned directory, for example). Running calls continue. A different file at the path
   * may belong to another daemon and stays: closing this server would remove it.
   */
  async #listenAgain(): Promise<void> {
    if (this.#closing || this.#binding || inodeOf(this.#at.socket) !== undefined) return;
    this.#binding = true;
    this.#server.close();
    const listens = await this.#bind();
    this.#binding = false;
    const what = listens.ok ? "the socket's file was gone; created it again" : `the socket's file is gone: ${listens.fault.msg}`;
    if (listens.ok || !this.#complained) this.#service.warn(`${this.#at.socket}: ${what}`);
    this.#complained = !listens.ok;
    // The daemon may have been stopped meanwhile.
    if (this.#closing) this.#server.close();
  }

  /** The number of unanswered calls that came before a time of the monotonic clock (ms), whether they are served or wait. */
  callsBefore(ms: number): number {
    return [...this.#arrivals].filter((arrival) => arrival.ms < ms).length;
  }

  /** Whether shims can connect: without its file, a listening socket is unreachable. */
  get listening(): boolean {
    return this.#server.listening && this.#file !== undefined && inodeOf(this.#at.socket) === this.#file;
  }

  /**
   * Accepts no more connections, and gives the waiting calls back to their shims. Waits at most `maxMs` for the running calls and for `finished`, work that an agent carries out.
   * Answers how many calls were aborted.
   */
  async close(maxMs: number, finished: Promise<void>): Promise<number> {
    this.#closing = true;
    clearInterval(this.#watch);
    const { promise, resolve } = Promise.withResolvers<void>();
    // Before the socket goes: a call between the two would not know that the next daemon comes.
    markAway(this.#at.socket);
    this.#server.close();
    this.queue.giveBack();
    this.#lastClosed = resolve;
    if (this.#open.size === 0) resolve();
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, maxMs);
    // `finished` needs the agents' connections, which end below.
    await Promise.race([Promise.all([promise, finished]), late.promise]);
    clearTimeout(timer);
    const aborted = this.#open.size;
    for (const socket of [...this.#open, ...this.#agent]) socket.destroy();
    return aborted;
  }

  async #connection(socket: Socket): Promise<void> {
    this.#open.add(socket);
    socket.once("close", () => this.#noLongerCall(socket));
    const shim = new ConnectedShim(socket);
    const uid = uidOf(socket);
    if (uid === undefined || !this.#at.uids.includes(uid)) {
      const text = `refused uid ${uid ?? "unknown"}: only root and the daemon's user may connect`;
      this.#service.warn(`${this.#at.socket}: ${text}`);
      socket.destroy();
      return;
    }
    this.#silent.add(socket);
    const late = setTimeout(() => socket.destroy(), requestMs);
    try {
      await shim.welcome();
      const purpose = await shim.purpose;
      clearTimeout(late);
      this.#silent.delete(socket);
      if (purpose.kind === "agent") this.#keepAgent(socket, { shim, environment: purpose.environment });
      else this.#reply(socket, shim, await this.#serve(purpose, shim, socket));
    } catch (error) {
      clearTimeout(late);
      socket.destroy();
      if (!(error instanceof ShimGone)) throw error;
    }
  }

  /** Replies. A peer that does not read its reply loses its connection, because replies that wait take memory. */
  #reply(socket: Socket, shim: ConnectedShim, reply: CallAnswer): void {
    shim.reply(reply);
    if (socket.destroyed) return;
    const late = setTimeout(() => socket.destroy(), replyMs);
    socket.once("close", () => clearTimeout(late));
  }

  /** The connection has ended, or is an agent's. */
  #noLongerCall(socket: Socket): void {
    this.#open.delete(socket);
    if (this.#open.size === 0) this.#lastClosed();
  }

  /** Keeps an agent's connection. It is not a call, so close() does not wait for its end. */
  #keepAgent(socket: Socket, connection: AgentConnection): void {
    if (socket.destroyed || this.#closing || this.#agent.size >= maxAgents) {
      socket.destroy();
      return;
    }
    this.#agent.add(socket);
    const remove = this.#service.agent(connection);
    socket.once("close", () => {
      this.#agent.delete(socket);
      remove();
    });
    this.#noLongerCall(socket);
  }

  async #serve(request: Request, shim: ConnectedShim, socket: Socket): Promise<CallAnswer> {
    if (this.#closing) return givenBack;
    const arrival = { ms: this.#service.clock.now() };
    this.#arrivals.add(arrival);
    const turn = await this.queue
      .enter(
        podNamespace(request.environment.get("CNI_ARGS") ?? ""),
        () => {
          const waitedMs = this.#service.clock.now() - arrival.ms;
          this.#service.waited(waitedMs);
          return this.#service.serve(request, shim, waitedMs);
        },
        (leave) => void socket.once("close", leave),
      )
      .finally(() => this.#arrivals.delete(arrival));
    if (turn.kind === "served") return turn.value;
    if (turn.kind === "left") throw new ShimGone(fault("SHIM_GONE", "the shim ended while its call waited in the queue"));
    if (turn.kind === "given-back") return givenBack;
    this.#service.waited(undefined);
    const { active, waiting } = this.#bounds;
    return refusal(fault("DAEMON_BUSY", `the daemon serves ${active} calls and ${waiting} more wait (--calls, --queue)`));
  }
}

/** Refuses a call of which no step has begun: the shim looks for another engine. A shim of an earlier release prints the error. */
const givenBack = { ...refusal(fault("DAEMON_BUSY", "the daemon is stopping")), status: notBegunStatus };

function refusal(reason: Fault): CallAnswer {
  return { status: 1, stdout: printError(reason), stderr: "" };
}
