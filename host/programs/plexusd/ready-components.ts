// Reads components before a call needs them: all components in the directories where calls found theirs, whenever they appear or change.
// This works only if the daemon itself may read the directory; otherwise the first call reads its component through the shim.

import { constants, type FSWatcher, watch } from "node:fs";
import { type FileHandle, open, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { identityOf } from "../../store/files/file-identity.ts";

/** The settings of ReadyComponents. */
export interface ReadyComponentsInit {
  /** Maximum size of a component, in bytes. Longer ones are not read. */
  readonly maxBytes: number;
  /** Receives each component that is new or has changed. The bytes are not checked. */
  readonly take: (bytes: Uint8Array) => void;
}

const maxDirectories = 8;
/** Maximum components of one directory. Every sandbox process keeps the code of each. */
const maxComponents = 16;
/** Delay after a change in the directory, in ms: copying a file causes many events. */
const quietMs = 100;
/** Interval between looks, in ms, for directories that cannot be watched or do not exist yet. */
const lookAgainMs = 60_000;

/** The watched directories of one daemon. */
export class ReadyComponents {
  readonly #init: ReadyComponentsInit;
  readonly #directories = new Map<string, Directory>();
  #timer: NodeJS.Timeout | undefined;

  constructor(init: ReadyComponentsInit) {
    this.#init = init;
  }

  /** Begins the regular looks. There are no directories before the first `used`. */
  start(): void {
    this.#timer = setInterval(() => this.#look(), lookAgainMs).unref();
  }

  /** Adds the directory of a component that a call has found. If there are too many, the directory added first is dropped. */
  used(path: string): void {
    const directory = dirname(path);
    if (this.#directories.has(directory)) return;
    const [oldest] = this.#directories;
    if (this.#directories.size >= maxDirectories && oldest !== undefined) {
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
  /** Identities of the files that were read, by file name. */
  #taken = new Map<string, string>();
  #watcher: FSWatcher | undefined;
  #soon: NodeJS.Timeout | undefined;
  #looking = false;
  #again = false;

  constructor(path: string, init: ReadyComponentsInit) {
    this.#path = path;
    this.#init = init;
  }

  /** Reads new and changed components; never throws. */
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
      // The directory does not exist or is unreadable, or there are too many watches: the next look tries again.
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
        // The file is gone, being replaced, or unreadable: the call that needs the component reports the error.
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
        .slice(0, maxComponents);
    } catch {
      return [];
    }
  }

  async #takeOne(name: string): Promise<string | undefined> {
    let file: FileHandle | undefined;
    try {
      file = await open(join(this.#path, name), constants.O_RDONLY | constants.O_NONBLOCK);
      const stats = await file.stat({ bigint: true });
      if (!stats.isFile() || stats.size > this.#init.maxBytes) return undefined;
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
