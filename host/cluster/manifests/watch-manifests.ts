// Reports changes of a directory of manifests.

import { type FSWatcher, watch } from "node:fs";

/** A text editor or kubectl writes a file in several steps: one report covers all changes of this time, in ms. */
const collectMs = 20;

/**
 * Calls `onChange` soon after files of the directory changed, once for changes that follow each other closely. Answers a function that ends the watch.
 * `onProblem` receives the reason if the directory cannot be watched, and the watch has ended then.
 */
export function watchManifests(directory: string, onChange: () => void, onProblem: (why: string) => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  let watcher: FSWatcher | undefined;
  const end = (): void => {
    clearTimeout(timer);
    watcher?.close();
  };
  const fail = (error: unknown): void => {
    end();
    onProblem(error instanceof Error ? error.message : String(error));
  };
  try {
    watcher = watch(directory, { persistent: false }, (_, name) => {
      // Plexus writes the pods' statuses into a directory below, and temporary files begin with a dot.
      if (name === "status" || name?.startsWith(".") === true) return;
      timer ??= setTimeout(() => {
        timer = undefined;
        onChange();
      }, collectMs);
    });
    watcher.on("error", fail);
  } catch (error) {
    fail(error);
  }
  return end;
}
