// Copies of the components that calls used, in the daemon's own directory: the next run readies them before it is called, though it may
// read no directory of plugins. Each is named by its bytes, so a copy is never taken for another component.

import { type FileHandle, open, readdir, rename, rm, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { constants } from "node:fs";
import { join } from "node:path";
import { makeDirectory } from "../files/make-directory.ts";
import { nameOf } from "../sandbox/component-names.ts";

/** Those that were used last; each is compiled in each sandbox process. */
const mostCopies = 8;

const copyName = /^([0-9a-f]{64})\.wasm$/;

export class ComponentCopies {
  readonly #directory: string;
  readonly #largest: number;
  /** Names of components that this run has written or seen used. */
  readonly #kept = new Set<string>();
  #turn: Promise<void> = Promise.resolve();

  /** `largest`: bytes of a component; a longer one is not kept. */
  constructor(directory: string, largest: number) {
    this.#directory = directory;
    this.#largest = largest;
  }

  /** The bytes of each copy, the one that was used last first. What is no copy is passed over; what can't be read costs its call time. */
  async load(take: (bytes: Uint8Array, name: string) => void): Promise<void> {
    for (const file of (await this.#files()).slice(0, mostCopies)) {
      const bytes = await readWhole(join(this.#directory, file), this.#largest);
      if (bytes === undefined) continue;
      const name = nameOf(bytes);
      if (fileOf(name) === file) take(bytes, name);
      else await unlink(join(this.#directory, file)).catch(() => undefined);
    }
  }

  /** A call has used the component of this name. Answers when the copy is there, or can't be: nobody needs to wait for it. */
  keep(name: string, bytes: Uint8Array): Promise<void> {
    if (this.#kept.has(name) || bytes.length > this.#largest) return this.#turn;
    this.#kept.add(name);
    // A full disk or a read-only one costs the next run some milliseconds, and nobody else.
    this.#turn = this.#turn.then(() => this.#write(fileOf(name), bytes)).catch(() => undefined);
    return this.#turn;
  }

  async #write(file: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#directory, file);
    const now = new Date();
    // There already: used again.
    if ((await utimes(path, now, now).catch(() => "absent")) === undefined) return;
    makeDirectory(this.#directory);
    const temporary = `${path}.new`;
    await rm(temporary, { force: true });
    await writeFile(temporary, bytes, { flag: "wx", mode: 0o600 });
    await rename(temporary, path);
    for (const old of (await this.#files()).slice(mostCopies)) await unlink(join(this.#directory, old));
  }

  /** Newest first. */
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

/** A regular file within the bound that nobody put a link or a pipe in the place of. */
async function readWhole(path: string, largest: number): Promise<Uint8Array | undefined> {
  let file: FileHandle | undefined;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOFOLLOW);
    const stats = await file.stat();
    const { size } = stats;
    if (!stats.isFile() || size > largest) return undefined;
    const bytes = Buffer.alloc(size);
    const { bytesRead } = await file.read(bytes, 0, size, 0);
    return bytesRead === size ? bytes : undefined;
  } catch {
    return undefined;
  } finally {
    await file?.close();
  }
}
