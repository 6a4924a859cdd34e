// Tells of changes in directories: at once by inotify, and at a fixed interval, because inotify loses events (full queue, replaced
// directory, file systems without it).

import { type FSWatcher, statSync, watch } from "node:fs";

/** Events of one replacement come close together; the look comes this long after the first, in ms. */
const collectMs = 50;

/** Calls `look` after each change in one of the directories, and each `intervalMs`. */
export class DirectoryChanges {
  readonly #directories: readonly string[];
  readonly #look: () => void;
  readonly #watchers = new Map<string, { readonly watcher: FSWatcher; readonly identity: string }>();
  readonly #interval: NodeJS.Timeout;
  #settling: NodeJS.Timeout | undefined;

  constructor(directories: readonly string[], intervalMs: number, look: () => void) {
    this.#directories = [...new Set(directories)];
    this.#look = look;
    this.#interval = setInterval(() => {
      this.#watch();
      look();
    }, intervalMs).unref();
    this.#watch();
  }

  stop(): void {
    clearInterval(this.#interval);
    clearTimeout(this.#settling);
    for (const { watcher } of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  /** Watches the directories that are not watched yet. A missing directory is tried again at the next interval. */
  #watch(): void {
    for (const directory of this.#directories) {
      const identity = identityOf(directory);
      const known = this.#watchers.get(directory);
      if (known !== undefined && known.identity === identity) continue;
      // A watch of a directory that was replaced sees nothing of its successor.
      known?.watcher.close();
      this.#watchers.delete(directory);
      if (identity === undefined) continue;
      try {
        const watcher = watch(directory, { persistent: false }, () => this.#changed());
        watcher.on("error", () => watcher.close());
        this.#watchers.set(directory, { watcher, identity });
      } catch {
        // The periodic look reports an unreadable directory.
      }
    }
  }

  #changed(): void {
    this.#settling ??= setTimeout(() => {
      this.#settling = undefined;
      this.#look();
    }, collectMs).unref();
  }
}

/** A directory that was removed and made again may have the same inode number; links are followed. */
function identityOf(directory: string): string | undefined {
  try {
    const { dev, ino, birthtimeNs } = statSync(directory, { bigint: true });
    return `${dev}:${ino}:${birthtimeNs}`;
  } catch {
    return undefined;
  }
}
