// One connection to OVSDB's Unix socket. Each message of the server is bounded in size, depth and time, and an invalid message ends the connection.

import type { Socket } from "node:net";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { quote } from "../../../src/json/quote.ts";
import { MessageSplitter } from "../../../src/ovsdb/message-splitter.ts";
import { errnoOf } from "../../store/files/errno.ts";
import { connectTo } from "../../store/files/reach-socket.ts";
import { type Operation, readMessage, type TransactionOutcome, transactRequest } from "../../../src/ovsdb/messages.ts";

/** A database that carries out transactions. */
export interface Database {
  /** Carries out the operations, all or none. Fault: OVS_UNAVAILABLE. A refused transaction is no fault. */
  readonly transact: (operations: readonly Operation[]) => Promise<Result<TransactionOutcome>>;
}

/** The socket, and the time of all transactions of one connection together. */
export interface DatabaseAddress {
  readonly socket: string;
  readonly timeoutMs: number;
  /** A monotonic clock, in milliseconds. */
  readonly clock: () => number;
}

/** One message: the rows of some ten thousand interfaces. All messages: those of a GC that removes as many ports. */
const bounds = { maxMessageBytes: 8 * 1024 * 1024, maxBytes: 64 * 1024 * 1024, maxDepth: 16 };

/** Connects to the database, runs `use`, and closes the connection. Faults: OVS_UNAVAILABLE; those of `use`. */
export async function withDatabase<T>(
  address: DatabaseAddress,
  use: (database: Database) => Promise<Result<T>>,
): Promise<Result<T>> {
  const connection = await connectWithin(address);
  if (!connection.ok) return connection;
  try {
    return await use(connection.value);
  } finally {
    connection.value.close();
  }
}

/** ovsdb-server accepts some ten connections at a time; the kernel refuses further ones with EAGAIN until they are accepted. */
const retryPauseMs = 5;

async function connectWithin({ socket: path, timeoutMs, clock }: DatabaseAddress): Promise<Result<Connection>> {
  const deadline = clock() + timeoutMs;
  for (;;) {
    const socket = connectTo(path);
    const error = await new Promise<Error | undefined>((settle) => {
      socket.once("connect", () => settle(undefined));
      socket.once("error", settle);
    });
    const leftMs = deadline - clock();
    if (error === undefined) return ok(new Connection(path, socket, { timeoutMs, leftMs }));
    socket.destroy();
    if (errnoOf(error) !== "EAGAIN" || leftMs < retryPauseMs)
      return failed(unavailable(path, `cannot be used: ${error.message}`));
    await new Promise((resume) => setTimeout(resume, retryPauseMs));
  }
}

function unavailable(path: string, why: string): Fault {
  return fault("OVS_UNAVAILABLE", `ovs: the database at ${quote(path)} ${why}`);
}

/** The request that waits for its answer. */
interface Pending {
  readonly id: number;
  readonly operations: number;
  readonly answer: (result: Result<TransactionOutcome>) => void;
}

class Connection implements Database {
  readonly #path: string;
  readonly #socket: Socket;
  readonly #splitter = new MessageSplitter(bounds);
  readonly #timer: NodeJS.Timeout;
  #ended: Fault | undefined;
  #pending: Pending | undefined;
  #requests = 0;

  /** `timeoutMs`: the whole time, for messages. */
  constructor(path: string, socket: Socket, { timeoutMs, leftMs }: { readonly timeoutMs: number; readonly leftMs: number }) {
    this.#path = path;
    this.#timer = setTimeout(() => this.#end(`has not answered within ${timeoutMs} ms`), Math.max(0, leftMs));
    this.#socket = socket;
    this.#socket.on("data", (chunk: Buffer) => this.#receive(chunk));
    this.#socket.on("error", (error) => this.#end(`cannot be used: ${error.message}`));
    this.#socket.on("close", () => this.#end("has closed the connection"));
  }

  transact(operations: readonly Operation[]): Promise<Result<TransactionOutcome>> {
    if (this.#ended !== undefined) return Promise.resolve(failed(this.#ended));
    this.#requests += 1;
    const id = this.#requests;
    return new Promise((answer) => {
      this.#pending = { id, operations: operations.length, answer };
      this.#socket.write(transactRequest(id, operations));
    });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#socket.destroy();
  }

  #receive(chunk: Buffer): void {
    if (this.#ended !== undefined) return;
    const split = this.#splitter.push(chunk);
    if (!split.ok) return this.#end(split.problem);
    for (const text of split.messages) this.#take(text);
  }

  #take(text: string): void {
    const pending = this.#pending;
    const message = readMessage(text, { id: pending?.id ?? 0, operations: pending?.operations ?? 0 });
    switch (message.kind) {
      case "answer":
        this.#pending = undefined;
        pending?.answer(ok(message.outcome));
        break;
      case "echo":
        this.#socket.write(message.reply);
        break;
      case "invalid":
        this.#end(message.problem);
        break;
      case "other":
        break;
      default:
        message satisfies never;
    }
  }

  #end(why: string): void {
    if (this.#ended !== undefined) return;
    this.#ended = unavailable(this.#path, why);
    this.#pending?.answer(failed(this.#ended));
    this.#pending = undefined;
    this.close();
  }
}
