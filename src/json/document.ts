// A JSON object as text: members are read and replaced, all other bytes stay. Configurations, requests and results pass through a
// chain in this form, so numbers beyond 2^53, unknown keys and key order survive (L-19, L-30).

import type { FaultKind } from "../fault/catalogue.ts";
import { redacted, isSecretKey } from "../fault/without-secrets.ts";
import { type Fault, fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { findMistake } from "./mistake.ts";
import { positionAt } from "./position.ts";
import { quote } from "./quote.ts";
import { RecentTexts } from "./recent-texts.ts";
import { type Scan, scan, type Span } from "./scan.ts";

/** An object's text and its members' positions. Only `parseDocument` creates it. */
export interface JsonObjectDocument {
  readonly text: string;
  /** The position of each member, by key, in the text's order. */
  readonly members: ReadonlyMap<string, Span>;
  /** Offset after the opening brace. */
  readonly open: number;
  /** The parsed object. Read it through `memberValue`: a key may be called `constructor` or `__proto__`. */
  readonly parsed: Readonly<Record<string, unknown>>;
}

/** Name and limits of a JSON text. */
export interface JsonSource {
  /** The text's name in messages, for example "configuration 10-a.conflist" or "the result of plugin bridge". */
  readonly what: string;
  /** Kind of the faults; CONFIG_NOT_JSON by default. */
  readonly kind?: FaultKind;
  /** In UTF-16 units. */
  readonly maxLength?: number;
  readonly maxDepth?: number;
  /** Maximum keys of one object, at any depth. An untrusted author can make objects of thousands of keys, each of which costs time. */
  readonly maxKeys?: number;
}

const MAX_LENGTH = 4 * 1024 * 1024;
const MAX_DEPTH = 100;

/** "line 3, column 7" for an offset. */
function placeOf(text: string, offset: number): string {
  const { line, column } = positionAt(text, offset);
  return `line ${line}, column ${column}`;
}

/** The type of a JSON value, for messages. */
export function describeJson(value: unknown): string {
  if (value === null) return "null";
  if (value === undefined) return "missing";
  if (Array.isArray(value)) return "an array";
  const kind = typeof value;
  return kind === "object" ? "an object" : `a ${kind}`;
}

/** Whether a parsed JSON value is an object: neither null nor an array. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function syntaxFault(text: string, what: string, kind: FaultKind): Fault {
  if (text.trim() === "") return fault(kind, `${what} is empty where a JSON object is expected`);
  const mistake = findMistake(text);
  if (mistake === undefined) return fault("INTERNAL", `${what} is refused by JSON.parse, but findMistake found no mistake`);
  return fault(
    kind,
    `${what} is not JSON: ${placeOf(text, mistake.offset)}: expected ${mistake.expected}, ${foundAt(text, mistake.offset)}`,
  );
}

/** The text at the mistake, unless it may be a part of a secret: a quote in a password ends the string too early. */
function foundAt(text: string, offset: number): string {
  if (offset >= text.length) return "the text ends";
  const before = text.slice(Math.max(0, offset - 200), offset);
  const keys = [...before.matchAll(/"([^"\\]{1,128})"\s{0,8}:/g)].map(([, key = ""]) => key);
  return keys.some(isSecretKey) ? `found ${redacted}` : `found ${quote(text.slice(offset, offset + 20))}`;
}

/** Parses and scans a text that must be JSON within the limits. */
function parse(text: string, source: JsonSource): Result<{ readonly value: unknown; readonly found: Scan }> {
  const kind = source.kind ?? "CONFIG_NOT_JSON";
  const maxLength = source.maxLength ?? MAX_LENGTH;
  const maxDepth = source.maxDepth ?? MAX_DEPTH;
  if (text.length > maxLength) {
    return failed(fault(kind, `${source.what} is ${text.length} characters long; at most ${maxLength} are read`));
  }
  const found = scan(text, maxDepth, source.maxKeys);
  if (found.tooMany !== undefined) {
    const place = placeOf(text, found.tooMany);
    return failed(fault(kind, `${source.what} has more than ${source.maxKeys} keys in one object: ${place}`));
  }
  if (found.tooDeep !== undefined) {
    return failed(fault(kind, `${source.what} is nested deeper than ${maxDepth} levels at ${placeOf(text, found.tooDeep)}`));
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
 * Reads a text that must be one JSON object. Strict RFC 8259, with limits for length and depth. A key that occurs twice in one
 * object, at any depth, is refused: two readers could understand it differently. Faults (of the source's kind, CNI code 6 by
 * default) name line and column.
 */
export function parseDocument(text: string, source: JsonSource): Result<JsonObjectDocument> {
  const read = parse(text, source);
  if (!read.ok) return read;
  const { value, found } = read.value;
  if (!isJsonObject(value)) {
    return failed(fault(source.kind ?? "CONFIG_NOT_JSON", `${source.what} must be a JSON object, but is ${describeJson(value)}`));
  }
  return ok(documentOf(text, value, found));
}

function documentOf(text: string, parsed: JsonObjectDocument["parsed"], { spans, open }: Scan): JsonObjectDocument {
  const members = new Map<string, Span>();
  for (const span of spans) members.set(span.key, span);
  return { text, members, open, parsed };
}

/** The document of an object within a text that was parsed already: `value` is the object, and `text` its exact text. */
export function documentWithin(text: string, value: JsonObjectDocument["parsed"]): JsonObjectDocument {
  return documentOf(text, value, scanPart(text));
}

/** Scans a part of a text that was scanned as a whole. */
function scanPart(text: string): Scan {
  return scan(text, Number.MAX_SAFE_INTEGER, Infinity, true);
}

/** The configurations of the steps in progress. */
const recent = new RecentTexts<JsonObjectDocument>({ maxTexts: 32, maxLength: 8 * 1024 });

/**
 * Like `parseDocument`, with a cache, for plugin configurations: these come again with each pod of a network and with each
 * delegated call. Not for texts that contain credentials or come from untrusted writers, because the cache keeps them for a
 * while.
 */
export function parseConfiguration(text: string, source: JsonSource): Result<JsonObjectDocument> {
  const same = recent.get(text);
  if (same !== undefined) return ok(same);
  const document = parseDocument(text, source);
  if (document.ok) recent.put(text, document.value);
  return document;
}

/** An element of an array: its exact text and its parsed value. */
export interface ArrayElement {
  readonly text: string;
  readonly value: unknown;
}

/** Reads a text that must be one JSON array, with the rules of `parseDocument`. Answers the exact texts of its elements. */
export function parseArray(text: string, source: JsonSource): Result<readonly string[]> {
  const elements = parseElements(text, source);
  return elements.ok ? ok(elements.value.map((element) => element.text)) : elements;
}

/** Like `parseArray`, with the elements' values: no element has to be parsed again. */
export function parseElements(text: string, source: JsonSource): Result<readonly ArrayElement[]> {
  const read = parse(text, source);
  if (!read.ok) return read;
  const { value, found } = read.value;
  if (!Array.isArray(value)) {
    return failed(fault(source.kind ?? "CONFIG_NOT_JSON", `${source.what} must be a JSON array, but is ${describeJson(value)}`));
  }
  return ok(found.spans.map((span, index) => ({ text: text.slice(span.valueStart, span.valueEnd), value: value[index] })));
}

/** The exact text of a member's value; undefined if the member is missing. */
export function memberText(document: JsonObjectDocument, key: string): string | undefined {
  const span = document.members.get(key);
  return span === undefined ? undefined : document.text.slice(span.valueStart, span.valueEnd);
}

/** A member's parsed value (numbers as in JavaScript); undefined if the member is missing. */
export function memberValue(document: JsonObjectDocument, key: string): unknown {
  return document.members.has(key) ? document.parsed[key] : undefined;
}

/** The exact texts of an array's elements, from the array's text as `memberText` answers it. */
export function elementTexts(array: string): readonly string[] {
  return scanPart(array).spans.map((span) => array.slice(span.valueStart, span.valueEnd));
}

/** The exact texts of an object's members, from the object's text as `memberText` answers it. */
export function memberTexts(object: string): ReadonlyMap<string, string> {
  const { spans } = scanPart(object);
  return new Map(spans.map((span) => [span.key, object.slice(span.valueStart, span.valueEnd)]));
}

/**
 * The document's text with members set (to JSON text) or removed (undefined). An existing member is replaced in its place; new
 * members are appended in the order of `edits`; all other bytes stay. The caller guarantees that the texts are JSON.
 */
export function editMembers(document: JsonObjectDocument, edits: ReadonlyMap<string, string | undefined>): string {
  const { text, members, open } = document;
  let result = text.slice(0, open);
  let previousEnd = open;
  let empty = true;
  for (const span of members.values()) {
    const edited = edits.get(span.key);
    if (edited !== undefined || !edits.has(span.key)) {
      // The text before the first member has no comma; the text before each other member has one.
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
