// The messages of OVSDB's JSON-RPC that Plexus sends and reads: transactions and echoes (RFC 7047 section 4.1).

import { isJsonObject } from "../json/document.ts";

/** An operation of a transaction (RFC 7047 section 5.2). */
export type Operation = { readonly op: string } & Readonly<Record<string, unknown>>;

/** The row of an answer to `select`, by column. */
export type Row = Readonly<Record<string, unknown>>;

/** The outcome of a transaction: all operations were carried out, or none. */
export type TransactionOutcome =
  /** `rows`: the rows of each `select`; empty for other operations. */
  | { readonly kind: "done"; readonly rows: readonly (readonly Row[])[] }
  /** `operation`: the index of the operation that failed, or the number of operations if the commit failed. The texts are the server's. */
  | { readonly kind: "refused"; readonly operation: number; readonly error: string; readonly details: string };

/** A message of the server. */
export type ServerMessage =
  | { readonly kind: "answer"; readonly outcome: TransactionOutcome }
  /** The text of the reply that the server expects. */
  | { readonly kind: "echo"; readonly reply: string }
  /** A notification, or a request that Plexus does not serve. */
  | { readonly kind: "other" }
  | { readonly kind: "invalid"; readonly problem: string };

/** The only database that Plexus uses. */
const database = "Open_vSwitch";

/** Maximum length of the server's texts about an error, in UTF-16 units. */
const maxErrorLength = 200;

/** The text of a request that carries out the operations, all or none. */
export function transactRequest(id: number, operations: readonly Operation[]): string {
  return JSON.stringify({ method: "transact", params: [database, ...operations], id });
}

/** Reads a message. `expected`: the id and the number of operations of the request that waits for its answer. */
export function readMessage(text: string, expected: { readonly id: number; readonly operations: number }): ServerMessage {
  let message: unknown;
  try {
    message = JSON.parse(text);
  } catch {
    return invalid("a message that is not JSON");
  }
  if (!isJsonObject(message)) return invalid("a message that is not an object");
  const { method, params = [], id, result, error } = message;
  if (method === "echo") return { kind: "echo", reply: JSON.stringify({ id: id ?? null, result: params, error: null }) };
  if (method !== undefined) return { kind: "other" };
  if (id !== expected.id) return invalid("the answer to another request");
  if (error !== undefined && error !== null) {
    return { kind: "answer", outcome: { kind: "refused", operation: expected.operations, ...errorOf(error) } };
  }
  const outcome = outcomeOf(result, expected.operations);
  return outcome === undefined ? invalid("an answer without the results of all operations") : { kind: "answer", outcome };
}

function outcomeOf(result: unknown, operations: number): TransactionOutcome | undefined {
  if (!Array.isArray(result)) return undefined;
  const failed = result.findIndex((each) => isJsonObject(each) && each["error"] !== undefined && each["error"] !== null);
  if (failed !== -1) return { kind: "refused", operation: failed, ...errorOf(result[failed]) };
  if (result.length !== operations || !result.every(isJsonObject)) return undefined;
  const rows = result.map(({ rows: each = [] }) => (Array.isArray(each) && each.every(isJsonObject) ? each : undefined));
  return rows.every((each) => each !== undefined) ? { kind: "done", rows } : undefined;
}

function errorOf(value: unknown): { readonly error: string; readonly details: string } {
  const { error, details } = isJsonObject(value) ? value : { error: value, details: undefined };
  return {
    error: typeof error === "string" ? error.slice(0, maxErrorLength) : "an error without a text",
    details: typeof details === "string" ? details.slice(0, maxErrorLength) : "",
  };
}

function invalid(what: string): ServerMessage {
  return { kind: "invalid", problem: `sends ${what}` };
}
