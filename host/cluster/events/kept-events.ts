// The Events that a daemon could not send before its end, in its state directory: `events.json`. The next daemon takes them, so that a restart while the API
// server is away loses none.

import { rmSync } from "node:fs";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { writeShared } from "../../store/files/shared-file.ts";

/** Eight full queues have some 16 MiB. */
const maxBytes = 32 * 1024 * 1024;

/** The Events of all API servers of one daemon. */
export class KeptEvents {
  readonly #path: string;
  readonly #warn: (text: string) => void;
  /** By the API server's name. Undefined: the file has not been read. */
  #events: Map<string, readonly object[]> | undefined;

  constructor(path: string, warn: (text: string) => void) {
    this.#path = path;
    this.#warn = warn;
  }

  /** Takes the Events of an API server out of the file. Never fails: a file that cannot be read counts as none. */
  take(name: string): readonly object[] {
    const all = this.#read();
    const events = all.get(name) ?? [];
    if (all.delete(name)) this.#write(all);
    return events;
  }

  /** Adds the Events of an API server to the file. */
  put(name: string, events: readonly object[]): void {
    const all = this.#read();
    all.set(name, events);
    this.#write(all);
  }

  #read(): Map<string, readonly object[]> {
    this.#events ??= new Map(entriesIn(this.#path));
    return this.#events;
  }

  #write(all: ReadonlyMap<string, readonly object[]>): void {
    if (all.size === 0) return rmSync(this.#path, { force: true });
    const written = writeShared(this.#path, JSON.stringify(Object.fromEntries(all)));
    if (!written.ok) this.#warn(`Events that wait for the API server are lost: ${written.fault.msg}`);
  }
}

function entriesIn(path: string): readonly (readonly [string, readonly object[]])[] {
  let text: string;
  try {
    text = readRegularFile(path, { maxBytes, foreign: false });
  } catch {
    return [];
  }
  const read = boundedJson(text);
  if (!isJsonObject(read)) return [];
  return Object.entries(read).map(([name, events]) => [name, Array.isArray(events) ? events.filter(isJsonObject) : []]);
}
