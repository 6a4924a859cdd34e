// Keeps copies of used components in the daemon's own directory. After a restart the daemon prepares them before the first call, although
// it may not read the directories of plugins. A copy's name is its digest, so a copy cannot be mistaken for another component.

import { type FileHandle, open, readdir, rename, rm, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../../store/files/make-directory.ts";
import { nameOf } from "../../sandbox/component-names.ts";
import type { Clock } from "../../system/clock.ts";

/** Maximum copies. */
const maxCopies = 8;

const copyName = /^([0-9a-f]{64})\.wasm$/;

/** The copies in one directory. */
export class ComponentCopies {
  readonly #directory: string;
  readonly #maxBytes: number;
  readonly #clock: Clock;
  /** Names of the components that this daemon has written or used. */
  readonly #kept = new Set<string>();
  #lastWrite: Promise<void> = Promise.resolve();

  /** `maxBytes`: longer components are not kept. */
  constructor(directory: string, maxBytes: number, clock: Clock) {
    this.#directory = directory;
    this.#maxBytes = maxBytes;
    this.#clock = clock;
  }

  /**
   * Passes up to `max` copies to `take`, one after the other, most recently used first. Other files and unreadable copies are skipped: the call
   * reads the component.
   */
  async load(max: number, take: (bytes: Uint8Array, name: string) => Promise<void>): Promise<void> {
    for (const file of (await this.#files()).slice(0, Math.min(max, maxCopies))) {
      const bytes = await readWhole(join(this.#directory, file), this.#maxBytes);
      if (bytes === undefined) continue;
      const name = nameOf(bytes);
      if (fileOf(name) === file) await take(bytes, name);
      else await unlink(join(this.#directory, file)).catch(() => undefined);
    }
  }

  /** Keeps a copy of a component that a call used. The promise resolves when the copy is written or has failed; it never rejects. */
  keep(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#kept.has(name) || bytes.length > this.#maxBytes) return this.#lastWrite;
    this.#kept.add(name);
    // Errors are ignored: without a copy, the next daemon's first call only takes some milliseconds longer.
    this.#lastWrite = this.#lastWrite.then(() => this.#write(fileOf(name), bytes)).catch(() => undefined);
    return this.#lastWrite;
  }

  async #write(file: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#directory, file);
    const now = this.#clock.date();
    // An existing copy only gets a new date.
    if ((await utimes(path, now, now).catch(() => "absent")) === undefined) return;
    makeDirectory(this.#directory);
    const temporary = `${path}.new`;
    await rm(temporary, { force: true });
    await writeFile(temporary, bytes, { flag: "wx", mode: 0o600 });
    await rename(temporary, path);
    for (const old of (await this.#files()).slice(maxCopies)) await unlink(join(this.#directory, old));
  }

  /** Names of the copies, most recently used first. */
  async #files(): Promise<readonly string[]> {
    const names = (await readdir(this.#directory).catch(() => [])).filter((name) => copyName.test(name));
    const dated = await Promise.all(
      names.map(async (name) => ({
        name,
        at: (await stat(join(this.#directory, name)).catch(() => undefined))?.mtimeMs ?? 0,
      })),
    );
    return dated.toSorted((one, other) => other.at - one.at).map(({ name }) => name);
  }
}

/** `name` is `sha256:` and 64 hexadecimal digits. */
function fileOf(name: string): string {
  return `${name.slice("sha256:".length)}.wasm`;
}

/** The content of a regular file of at most `maxBytes`; undefined for links, pipes, longer files and errors. */
async function readWhole(path: string, maxBytes: number): Promise<Uint8Array | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = await file.stat();
    const { size } = stats;
    if (!stats.isFile() || size > maxBytes) return undefined;
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    return bytesRead === size ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
