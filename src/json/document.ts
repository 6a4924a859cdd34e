// A JSON object as its text: members are read and replaced, and every other byte stays what it was. Configurations, requests
// and results pass through a chain this way, so numbers beyond 2^53, unknown keys and key order survive (L-19, L-30).

import type { FaultKind } from "../fault/catalogue.ts";
import { type Fault, fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { findMistake } from "./mistake.ts";
import { quote } from "./quote.ts";
import { RecentTexts } from "./recent-texts.ts";
import { type Scan, scan, type Span } from "./scan.ts";

/** An object's text together with what is known about it. Never built but by `parseDocument`. */
export interface JsonObjectDocument {
  readonly text: string;
  /** Where each member stands, by key, in the text's order. */
  readonly members: ReadonlyMap<string, Span>;
  /** Offset after the opening brace. */
  readonly open: number;
  /** The parsed object. Read it through `memberValue`: a key may be called `constructor` or `__proto__`. */
  readonly parsed: Readonly<Record<string, unknown>>;
}

export interface JsonSource {
  /** Named in messages, for example "configuration 10-a.conflist" or "the result of plugin bridge". */
  readonly what: string;
  /** Kind of the faults; CONFIG_NOT_JSON by default. */
  readonly kind?: FaultKind;
  /** In UTF-16 units. */
  readonly maxLength?: number;
  readonly maxDepth?: number;
}

const MAX_LENGTH = 4 * 1024 * 1024;
const MAX_DEPTH = 100;

/** "line 3, column 7" of an offset; both count from 1, columns in UTF-16 units. */
export function placeOf(text: string, offset: number): string {
  let line = 1;
  let lineStart = 0;
  for (let at = text.indexOf("\n"); at !== -1 && at < offset; at = text.indexOf("\n", at + 1)) {
    line++;
    lineStart = at + 1;
  }
  return `line ${line}, column ${offset - lineStart + 1}`;
}

/** What a JSON value is, in words for messages. */
export function describeJson(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "an array";
  const kind = typeof value;
  return kind === "object" ? "an object" : `a ${kind}`;
}

export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function syntaxFault(text: string, what: string, kind: FaultKind): Fault {
  if (text.trim() === "") return fault(kind, `${what} is empty where a JSON object is expected`);
  const mistake = findMistake(text);
  if (mistake === undefined) return fault("INTERNAL", `${what} is refused by JSON.parse, but no mistake was found`);
  const found =
    mistake.offset >= text.length ? "the text ends" : `found ${quote(text.slice(mistake.offset, mistake.offset + 20))}`;
  return fault(kind, `${what} is not JSON: ${placeOf(text, mistake.offset)}: expected ${mistake.expected}, ${found}`);
}

/** A text that is JSON within the bounds, parsed and scanned. */
function parse(text: string, source: JsonSource): Result<{ readonly value: unknown; readonly found: Scan }> {
  const kind = source.kind ?? "CONFIG_NOT_JSON";
  const maxLength = source.maxLength ?? MAX_LENGTH;
  const maxDepth = source.maxDepth ?? MAX_DEPTH;
  if (text.length > maxLength) {
    return failed(fault(kind, `${source.what} is ${text.length} characters long; at most ${maxLength} are read`));
  }
  const found = scan(text, maxDepth);
  if (found.tooDeep !== undefined) {
    return failed(fault(kind, `${source.what} nests deeper than ${maxDepth} levels at ${placeOf(text, found.tooDeep)}`));
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return failed(syntaxFault(text, source.what, kind));
  }
  if (found.duplicate !== undefined) {
    const { key, offset } = found.duplicate;
    return failed(fault(kind, `${source.what} has the key ${quote(key)} twice in one object: ${placeOf(text, offset)}`));
  }
  return ok({ value, found });
}

/**
 * Reads a text that must be one JSON object. Strict RFC 8259; bounded in length and depth; a key that occurs twice in one
 * object, at any depth, is refused, because two readers could understand two different things. Faults (of the source's
 * kind, CNI code 6 by default) name line and column.
 */
export function parseDocument(text: string, source: JsonSource): Result<JsonObjectDocument> {
  const read = parse(text, source);
  if (!read.ok) return read;
  const { value, found } = read.value;
  if (!isJsonObject(value)) {
    return failed(fault(source.kind ?? "CONFIG_NOT_JSON", `${source.what} must be a JSON object, but is ${describeJson(value)}`));
  }
  const members = new Map<string, Span>();
  for (const span of found.spans) members.set(span.key, span);
  return ok({ text, members, open: found.open, parsed: value });
}

/** Those of the steps that are under way. */
const recent = new RecentTexts<JsonObjectDocument>({ most: 32, longest: 8 * 1024 });

/**
 * As `parseDocument`, of a plugin's configuration, which comes again: in each pod of a network, and from whoever hands it on to another
 * plugin. Not for what holds credentials, or what somebody else wrote: it is kept until others have come.
 */
export function parseConfiguration(text: string, source: Pick<JsonSource, "what">): Result<JsonObjectDocument> {
  const same = recent.get(text);
  if (same !== undefined) return ok(same);
  const document = parseDocument(text, source);
  if (document.ok) recent.put(text, document.value);
  return document;
}

/** Reads a text that must be one JSON array, by the rules of `parseDocument`; answers the exact texts of its elements. */
export function parseArray(text: string, source: JsonSource): Result<readonly string[]> {
  const read = parse(text, source);
  if (!read.ok) return read;
  const { value, found } = read.value;
  if (!Array.isArray(value)) {
    return failed(fault(source.kind ?? "CONFIG_NOT_JSON", `${source.what} must be a JSON array, but is ${describeJson(value)}`));
  }
  return ok(found.spans.map((span) => text.slice(span.valueStart, span.valueEnd)));
}

/** The exact text of a member's value, or undefined where there is no such member. */
export function memberText(document: JsonObjectDocument, key: string): string | undefined {
  const span = document.members.get(key);
  return span === undefined ? undefined : document.text.slice(span.valueStart, span.valueEnd);
}

/** A member's parsed value (numbers as JavaScript has them), or undefined where there is no such member. */
export function memberValue(document: JsonObjectDocument, key: string): unknown {
  return document.members.has(key) ? document.parsed[key] : undefined;
}

/** The exact texts of the elements of an array, given the array's text as `memberText` hands it out. */
export function elementTexts(array: string): readonly string[] {
  return scan(array, Number.MAX_SAFE_INTEGER).spans.map((span) => array.slice(span.valueStart, span.valueEnd));
}

/** The exact texts of the members of an object, given the object's text as `memberText` hands it out. */
export function memberTexts(object: string): ReadonlyMap<string, string> {
  const { spans } = scan(object, Number.MAX_SAFE_INTEGER);
  return new Map(spans.map((span) => [span.key, object.slice(span.valueStart, span.valueEnd)]));
}

/**
 * The document's text with members set (to the JSON text given) or removed (undefined). A member that exists is replaced in
 * its place, a new one is appended in the order given; all other bytes stay. The caller vouches that the texts are JSON.
 */
export function editMembers(document: JsonObjectDocument, edits: ReadonlyMap<string, string | undefined>): string {
  const { text, members, open } = document;
  let result = text.slice(0, open);
  let previousEnd = open;
  let empty = true;
  for (const span of members.values()) {
    const edited = edits.get(span.key);
    if (edited !== undefined || !edits.has(span.key)) {
      // What stands before the first member has no comma in it; what stands before the others has.
      const lead = empty ? text.slice(open, open + leadingSpace(text, open)) : text.slice(previousEnd, span.start);
      result += lead + text.slice(span.start, span.valueStart) + (edited ?? text.slice(span.valueStart, span.valueEnd));
      empty = false;
    }
    previousEnd = span.valueEnd;
  }
  for (const [key, value] of edits) {
    if (value === undefined || members.has(key)) continue;
    result += `${empty ? "" : ","}${JSON.stringify(key)}:${value}`;
    empty = false;
  }
  return result + text.slice(previousEnd);
}

function leadingSpace(text: string, from: number): number {
  let index = from;
  while (text.charCodeAt(index) <= 0x20) index++;
  return index - from;
}
