// The journal: one file for each call of the runtime, written before the first step runs. The plan is written durably; what
// follows are appended lines, so that progress costs one write. A torn last line is progress that didn't happen.

import { appendFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { isJsonObject } from "../../src/json/document.ts";
import { errnoOf, readIfPresent, removeFile, storeFault, writeDurably } from "../files/durable-file.ts";
import { replay, type JournalEntry, type JournalPlan, type JournalRecord } from "./entry.ts";

/** Which call an entry belongs to (CNI 1.1.0 section 3: the attachment's identity). */
export interface JournalKey {
  readonly containerId: string;
  readonly network: string;
  readonly ifname: string;
}

/** Longest file name that Linux file systems take. */
const longestName = 255;

/** `@` is in none of the parts but the last, so that a name says its key without doubt. */
function fileName(key: JournalKey): string {
  return `${key.containerId}@${key.network}@${key.ifname}`;
}

/** Whether a file, and the temporary one that it is written through, can have this name. */
function isNameable(name: string): boolean {
  return Buffer.byteLength(`.${name}`) <= longestName;
}

export class Journal {
  readonly directory: string;

  /** `stateDirectory` is made when it is first written to. */
  constructor(stateDirectory: string) {
    this.directory = join(stateDirectory, "journal");
  }

  /** Writes the plan durably; nothing may be attempted before this answers. */
  begin(plan: JournalPlan): Result<void> {
    const name = fileName(plan);
    if (!isNameable(name)) {
      return failed(
        fault("ENVIRONMENT_INVALID", `CNI_CONTAINERID ${plan.containerId} with network ${plan.network} is too long to journal`),
      );
    }
    return writeDurably(join(this.directory, name), `${JSON.stringify(plan)}\n`);
  }

  /** Appends progress. Not synced: losing it makes an undo more thorough, never less. */
  append(key: JournalKey, record: JournalRecord): Result<void> {
    const path = join(this.directory, fileName(key));
    try {
      appendFileSync(path, `${JSON.stringify(record)}\n`, { flag: "a", mode: 0o600 });
      return ok(undefined);
    } catch (error) {
      return failed(storeFault("appending to", path, error));
    }
  }

  /** The entry of a call; undefined if there is none. */
  load(key: JournalKey): Result<JournalEntry | undefined> {
    // Of such a key nothing was ever begun.
    if (!isNameable(fileName(key))) return ok(undefined);
    const path = join(this.directory, fileName(key));
    const text = readIfPresent(path);
    if (!text.ok) return text;
    return text.value === undefined ? ok(undefined) : parseEntry(path, text.value, key);
  }

  /** Keys of all entries, in the order of their names. */
  list(): Result<readonly JournalKey[]> {
    try {
      return ok(readdirSync(this.directory).toSorted().flatMap(keyOf));
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok([]) : failed(storeFault("listing", this.directory, error));
    }
  }

  /** Forgets a call: all that it attempted is undone. */
  remove(key: JournalKey): Result<void> {
    const name = fileName(key);
    return isNameable(name) ? removeFile(join(this.directory, name)) : ok(undefined);
  }
}

function keyOf(name: string): JournalKey[] {
  const [containerId, network, ...rest] = name.split("@");
  if (containerId === undefined || network === undefined || rest.length === 0 || name.startsWith(".")) return [];
  return [{ containerId, network, ifname: rest.join("@") }];
}

function parseEntry(path: string, text: string, key: JournalKey): Result<JournalEntry> {
  const lines = text.split("\n");
  // What stands after the last line feed is a torn line: its record never counted.
  lines.pop();
  const [first, ...rest] = lines.map(parseLine);
  if (!isPlan(first) || first.containerId !== key.containerId || first.network !== key.network || first.ifname !== key.ifname) {
    return failed(fault("JOURNAL_UNREADABLE", `journal entry ${path} does not hold the plan that its name says`));
  }
  return ok(replay(first, rest.filter(isRecord)));
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isPlan(value: unknown): value is JournalPlan {
  return (
    typeof value === "object" &&
    value !== null &&
    "kind" in value &&
    value.kind === "plexusJournalV1" &&
    "attachments" in value &&
    Array.isArray(value.attachments) &&
    value.attachments.every(isPlanned) &&
    haveStrings(value, ["containerId", "network", "ifname", "netns", "cniArgs", "bootId"])
  );
}

function isPlanned(value: unknown): boolean {
  return (
    isJsonObject(value) &&
    haveStrings(value, ["network", "ifname", "source", "conflist"]) &&
    isJsonObject(value["capabilityArgs"]) &&
    Object.values(value["capabilityArgs"]).every((text) => typeof text === "string")
  );
}

function haveStrings(value: object, keys: readonly string[]): boolean {
  const members = new Map<string, unknown>(Object.entries(value));
  return keys.every((key) => typeof members.get(key) === "string");
}

function isRecord(value: unknown): value is JournalRecord {
  return (
    typeof value === "object" &&
    value !== null &&
    ("attempted" in value || "undone" in value || "closed" in value || ("attached" in value && "result" in value))
  );
}
