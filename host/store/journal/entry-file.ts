// An entry as a file: the plan on the first line, then a line for each record. A torn last line is progress that did not happen.

import { lstatSync } from "node:fs";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { storeFault } from "../files/durable-file.ts";
import { errnoOf } from "../files/errno.ts";
import { appendLines, readRegularFile } from "../files/regular-file.ts";
import { replay, type JournalEntry, type JournalPlan, type JournalRecord, type PodLinks } from "./entry.ts";

/** The call of an entry (CNI 1.1.0 section 3: the attachment's identity). */
export interface JournalKey {
  readonly containerId: string;
  readonly network: string;
  readonly ifname: string;
}

/** Whether both keys name the same call. */
export function sameKey(one: JournalKey, other: JournalKey): boolean {
  return one.containerId === other.containerId && one.network === other.network && one.ifname === other.ifname;
}

/** Access to one stored entry. */
export interface EntryKeeper {
  /** Appends progress. Not synced: losing it makes an undo more thorough, never less. */
  readonly append: (record: JournalRecord) => Result<void>;
  /** Removes the entry: all its attempted attachments are undone. */
  readonly remove: () => Result<void> | Promise<Result<void>>;
}

/** Bytes: far more than the plan of a pod with hundreds of networks. */
export const maxEntryBytes = 64 * 1024 * 1024;
const entryFile = { maxBytes: maxEntryBytes, foreign: false } as const;
/** Reads of a file that changes during each read. */
const maxTries = 5;

/** Only the last part may contain `@`, so the name is unambiguous. */
export function fileNameOf({ containerId, network, ifname }: JournalKey): string {
  return `${containerId}@${network}@${ifname}`;
}

/** The key in a file name; undefined if the name is not that of an entry. */
export function keyOfFileName(name: string): JournalKey | undefined {
  const [containerId, network, ...rest] = name.split("@");
  if (containerId === undefined || network === undefined || rest.length === 0 || name.startsWith(".")) return undefined;
  return { containerId, network, ifname: rest.join("@") };
}

/** The text of an entry's file. */
export function entryText(plan: JournalPlan, records: readonly JournalRecord[] = []): string {
  return [plan, ...records].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** The line of a record. */
export function recordText(record: JournalRecord): string {
  return `${JSON.stringify(record)}\n`;
}

/** Appends a record to an entry's file, which must exist. Fault STORE_FAILED. */
export function appendRecord(path: string, record: JournalRecord): Result<void> {
  try {
    appendLines(path, recordText(record), { ...entryFile, create: false });
    return ok(undefined);
  } catch (error) {
    return failed(storeFault("appending to", path, error));
  }
}

/**
 * Reads the entry in a file; undefined if there is none. Faults: JOURNAL_UNREADABLE if the file is not an entry; STORE_FAILED if
 * the system cannot read it now.
 */
export function readEntry(path: string, key: JournalKey): Result<JournalEntry | undefined> {
  let read = readOnce(path, key);
  // A reader without the container's lock may have opened a recycled file, which then got another entry
  // (host/store/files/recycled-files.ts).
  for (let tries = 0; tries < maxTries && !read.ok && read.fault.kind === "JOURNAL_UNREADABLE"; tries++) {
    const before = versionOf(path);
    read = readOnce(path, key);
    if (versionOf(path) === before) break;
  }
  return read;
}

/** Differs if the path has another file, or the file another content; undefined without a file. */
function versionOf(path: string): string | undefined {
  const stats = lstatSync(path, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? undefined : `${stats.ino}:${stats.size}:${stats.ctimeNs}`;
}

function readOnce(path: string, key: JournalKey): Result<JournalEntry | undefined> {
  try {
    return parseEntry(path, readRegularFile(path, entryFile), key);
  } catch (error) {
    const errno = errnoOf(error);
    if (errno === "ENOENT") return ok(undefined);
    // No errno, or that of a link or a socket: Plexus never writes such a file, and it will not become an entry.
    const wrongKind = errno === undefined || ["ELOOP", "EISDIR", "ENXIO"].includes(errno);
    return wrongKind ? unreadable(path, error instanceof Error ? error.message : "") : failed(storeFault("reading", path, error));
  }
}

/** Parses a file's text as an entry. Fault JOURNAL_UNREADABLE. */
export function parseEntry(path: string, text: string, key: JournalKey): Result<JournalEntry> {
  const lines = text.split("\n");
  // The text after the last line feed is a torn line: its record does not count.
  lines.pop();
  const [first, ...rest] = lines.map(parseLine);
  if (!isPlan(first) || first.containerId !== key.containerId || first.network !== key.network || first.ifname !== key.ifname) {
    return unreadable(path, "does not contain the plan for its name");
  }
  return ok(replay(first, rest.filter(isRecord)));
}

function unreadable(path: string, why: string): ReturnType<typeof failed> {
  const problem = why.startsWith(path) ? why.slice(path.length + 1) : why;
  return failed(fault("JOURNAL_UNREADABLE", `journal entry ${path} ${problem}`));
}

function parseLine(line: string): unknown {
  // An exception costs as much as many characters, and a damaged file may have any number of lines.
  if (!line.startsWith("{") || !line.endsWith("}")) return undefined;
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isPlan(value: unknown): value is JournalPlan {
  return (
    isJsonObject(value) &&
    value["kind"] === "plexusJournalV1" &&
    Array.isArray(value["attachments"]) &&
    value["attachments"].every(isPlanned) &&
    haveStrings(value, ["containerId", "network", "ifname", "netns", "cniArgs", "bootId"])
  );
}

function isPlanned(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    haveStrings(value, ["network", "ifname", "source", "conflist"]) &&
    ["string", "undefined"].includes(typeof value["cniArgs"]) &&
    typeof (value["cniArgs"] ?? "") === "string" &&
    (value["definition"] === undefined ||
      (isJsonObject(value["definition"]) && haveStrings(value["definition"], ["namespace", "name"]))) &&
    (value["podNetwork"] === undefined || typeof value["podNetwork"] === "string") &&
    (value["hotPlug"] === undefined || isHotPlugFacts(value["hotPlug"])) &&
    isJsonObject(value["capabilityArgs"]) &&
    Object.values(value["capabilityArgs"]).every((text) => typeof text === "string")
  );
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === "string";
}

function isHotPlugFacts(value: unknown): boolean {
  if (!isJsonObject(value)) return false;
  const { selected, defaultRoute, gatewayOf } = value;
  return (
    [value["requested"], value["statusName"], value["podNetwork"]].every(isText) &&
    (selected === undefined ||
      (isJsonObject(selected) && isText(selected["interface"]) && typeof selected["requests"] === "string")) &&
    (defaultRoute === undefined || (Array.isArray(defaultRoute) && defaultRoute.every((each) => typeof each === "string"))) &&
    (gatewayOf === undefined || (Array.isArray(gatewayOf) && gatewayOf.every((each) => each === 4 || each === 6)))
  );
}

function isPodLinks(value: unknown): value is PodLinks {
  return isJsonObject(value) && isText(value["cookie"]) && [value["made"], value["earlier"]].every(isIdentities);
}

function isIdentities(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every(isIdentity));
}

function isIdentity(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    haveStrings(value, ["name", "kind", "mac"]) &&
    haveNumbers(value, ["index"]) &&
    ["number", "undefined"].includes(typeof value["peer"]) &&
    isText(value["nodeMaster"])
  );
}

function haveStrings(value: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return keys.every((key) => Object.hasOwn(value, key) && typeof value[key] === "string");
}

function haveNumbers(value: Readonly<Record<string, unknown>>, keys: readonly string[]): boolean {
  return keys.every((key) => Object.hasOwn(value, key) && typeof value[key] === "number");
}

function isRecord(value: unknown): value is JournalRecord {
  if (!isJsonObject(value)) return false;
  if ("closed" in value) return true;
  if ("pod" in value) return isPodLinks(value["pod"]);
  if ("status" in value) return value["status"] === "due" || value["status"] === "written";
  if ("failed" in value) return typeof value["failed"] === "string" && typeof value["why"] === "string";
  if ("addFailed" in value) return haveNumbers(value, ["addFailed", "step", "code"]) && typeof value["msg"] === "string";
  if ("passedOver" in value)
    return (
      haveNumbers(value, ["passedOver", "step", "code"]) && haveStrings(value, ["msg"]) && typeof value["cleaned"] === "boolean"
    );
  if ("attached" in value) return typeof value["attached"] === "number" && typeof value["result"] === "string";
  return ["attempted", "undone", "detaching"].some((key) => typeof value[key] === "number");
}

/** The record's value, without empty members. */
export function podLinks({ cookie, made, earlier = [] }: { readonly [K in keyof PodLinks]: PodLinks[K] | undefined }): PodLinks {
  return {
    ...(cookie === undefined ? {} : { cookie }),
    ...(made === undefined ? {} : { made }),
    ...(earlier.length === 0 ? {} : { earlier }),
  };
}
