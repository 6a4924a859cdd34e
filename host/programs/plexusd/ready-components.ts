// Components are read before a call needs them: those of the directories in which calls found theirs, when they come and when they
// change. Only where the daemon itself may read there; otherwise the call that needs one first reads it.

import { constants, type FSWatcher, watch } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { identityOf } from "../files/file-identity.ts";

export interface ReadyComponentsInit {
  /** Bytes of a component; a longer one is not read. */
  readonly largest: number;
  /** Takes each component that is new or has changed; what it is good for is for the taker to find out. */
  readonly take: (bytes: Uint8Array) => void;
}

const mostDirectories = 8;
/** Of a directory: their code is kept in each sandbox process. */
const mostComponents = 16;
/** A copy that is under way tells of itself many times. */
const quietMs = 100;
/** For directories that can't be watched, or are not there yet. */
const lookAgainMs = 60_000;

export class ReadyComponents {
  readonly #init: ReadyComponentsInit;
  readonly #directories = new Map<string, Directory>();
  #timer: NodeJS.Timeout | undefined;

  constructor(init: ReadyComponentsInit) {
    this.#init = init;
  }

  /** Begins; nothing is looked at before a call found something. */
  start(): void {
    this.#timer = setInterval(() => this.#look(), lookAgainMs).unref();
  }

  /** A call has found a component at `path`; the directory that was found first makes way. */
  used(path: string): void {
    const directory = dirname(path);
    if (this.#directories.has(directory)) return;
    const [oldest] = this.#directories;
    if (this.#directories.size >= mostDirectories && oldest !== undefined) {
      oldest[1].close();
      this.#directories.delete(oldest[0]);
    }
    this.#add(directory);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const directory of this.#directories.values()) directory.close();
  }

  #add(path: string): void {
    const directory = new Directory(path, this.#init);
    this.#directories.set(path, directory);
    directory.look();
  }

  #look(): void {
    for (const directory of this.#directories.values()) directory.look();
  }
}

class Directory {
  readonly #path: string;
  readonly #init: ReadyComponentsInit;
  /** Identities of what was taken, by name. */
  #taken = new Map<string, string>();
  #watcher: FSWatcher | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking = false;
  #again = false;

  constructor(path: string, init: ReadyComponentsInit) {
    this.#path = path;
    this.#init = init;
  }

  /** Takes what is new; never throws. */
  look(): void {
    this.#watch();
    if (this.#looking) {
      this.#again = true;
      return;
    }
    this.#looking = true;
    void this.#takeNew().finally(() => {
      this.#looking = false;
      if (this.#again) this.look();
    });
  }

  close(): void {
    clearTimeout(this.#soon);
    this.#watcher?.close();
  }

  #watch(): void {
    if (this.#watcher !== undefined) return;
    try {
      const watcher = watch(this.#path, { persistent: false }, () => {
        this.#soon ??= setTimeout(() => {
          this.#soon = undefined;
          this.look();
        }, quietMs).unref();
      });
      this.#watcher = watcher;
      watcher.on("error", () => {
        watcher.close();
        this.#watcher = undefined;
      });
    } catch {
      // Not there, not ours to read, or too many watches: the next look tries again.
    }
  }

  async #takeNew(): Promise<void> {
    this.#again = false;
    const found = new Map<string, string>();
    for (const name of await this.#names()) {
      try {
        const identity = await this.#takeOne(name);
        if (identity !== undefined) found.set(name, identity);
      } catch {
        // Gone, being replaced, or not ours to read: the call that needs it says what is wrong.
      }
    }
    this.#taken = found;
  }

  async #names(): Promise<readonly string[]> {
    try {
      const names = await readdir(this.#path);
      return names
        .filter((name) => name.endsWith(".wasm"))
        .toSorted()
        .slice(0, mostComponents);
    } catch {
      return [];
    }
  }

  async #takeOne(name: string): Promise<string | undefined> {
    let file: FileHandle | undefined;
    try {
      file = await open(join(this.#path, name), constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile() || stats.size > this.#init.largest) return undefined;
      const identity = identityOf(stats);
      if (this.#taken.get(name) === identity) return identity;
      const bytes = Buffer.alloc(Number(stats.size));
      const { bytesRead } = await file.read(bytes, 0, bytes.length, 0);
      if (bytesRead !== bytes.length) return undefined;
      this.#init.take(bytes);
      return identity;
    } finally {
      await file?.close();
    }
  }
}
