// Reads what a plugin printed.

import { inertLine } from "../../../src/text/inert-text.ts";
import { Skip, Violation } from "./check.ts";
import type { Reply } from "./subject.ts";

/** A JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** The object that a text is; undefined if the text is anything else. */
export function exactJson(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** The object in a text that may have other output around it, so that one defect of the output does not hide all others. */
export function jsonIn(text: string): JsonObject | undefined {
  return exactJson(text) ?? exactJson(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1)) ?? firstObject(text);
}

/** The object that ends at the first closing bracket at which the text is JSON. */
function firstObject(text: string): JsonObject | undefined {
  const from = text.indexOf("{");
  if (from === -1) return undefined;
  for (let to = text.indexOf("}", from), tries = 0; to !== -1 && tries < 200; to = text.indexOf("}", to + 1), tries += 1) {
    const found = exactJson(text.slice(from, to + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The error that a failed call printed. Throws a Violation if the call succeeded, a Skip without an error object. */
export function errorIn(reply: Reply, what: string): JsonObject {
  const found = jsonIn(reply.stdout);
  const isError = found !== undefined && "code" in found && "msg" in found;
  if (isError && reply.status !== 0) return found;
  if (reply.status === 0 && !isError) throw new Violation(`${what} succeeds`);
  throw new Skip(`${what}: the call fails without an error object and an exit status, see ERR-1`);
}

/** The error of a call, or its last line of stderr, for a message. */
export function wordsOf({ status, stdout, stderr }: Reply): string {
  const found = jsonIn(stdout);
  const line = stderr.trim().split("\n").at(-1) ?? "";
  const words =
    found !== undefined && "msg" in found ? `code ${String(found["code"])}: ${String(found["msg"])}` : line || stdout.trim();
  return inertLine(`exit status ${status}: ${words || "no output"}`, 300);
}
