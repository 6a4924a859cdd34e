// What a brain that stays remembers of lease directories: who holds what, so that an ADD need not read every lease of its network.
//
// It trusts its memory only as long as the directory is as it left it. A directory's time of change says so where each change that
// follows a look gets a time of its own (Linux 6.13 and later: multigrain timestamps of ext4, XFS, btrfs and tmpfs). Elsewhere two
// changes in one tick of the clock have the same time, and native host-local may be the one who made the second: nothing is remembered
// there. Only what neither brain nor plugin does, writing into a lease that stands, is overlooked until somebody else changes the
// directory; GC reads all leases anew.

import { closeSync, constants, lstatSync, openSync, renameSync, type Stats, unlinkSync } from "node:fs";
import { Spares } from "../files/spares.ts";

/** Contents of leases by the names of their files, which are addresses. */
export type LeaseContents = Map<string, string>;

interface Known {
  readonly contents: LeaseContents;
  /** The directory, and when it changed last. */
  readonly state: string;
}

/** Leases of one directory; those of a node are a few hundred. */
const mostLeases = 4096;
const mostDirectories = 256;
/** Milliseconds: a coarse clock ticks at most once in them, so that it has two times for any number of changes. */
const oneTick = 1;
const changes = 3;
/** A brain that was killed may have left its probe. */
const openFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** For the operations on leases of one process. */
export class LeaseMemory {
  /** Where files of released leases are kept. */
  readonly spares: Spares = new Spares();
  readonly #known = new Map<string, Known>();
  /** By file system: whether a directory's time tells each change from the one before. */
  readonly #tells = new Map<number, boolean>();

  /** The leases of a directory; undefined where it must be read. Under its lock. */
  contents(directory: string): LeaseContents | undefined {
    const known = this.#known.get(directory);
    if (known === undefined) return undefined;
    this.#known.delete(directory);
    return known.state === stateOf(directory) ? known.contents : undefined;
  }

  /** These are the leases of a directory now. Under its lock, after the last change. */
  note(directory: string, contents: LeaseContents): void {
    if (contents.size > mostLeases) return;
    const stats = lstatSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) return;
    const tells = this.#tells.get(stats.dev);
    if (tells === false) return;
    const state = tells === true ? stateFrom(stats) : this.#tried(directory, stats.dev);
    if (state === undefined) return;
    if (this.#known.size >= mostDirectories) this.#known.clear();
    this.#known.set(directory, { contents, state });
  }

  /** The directory's state after a try, if its time turned out to tell its changes. */
  #tried(directory: string, device: number): string | undefined {
    const tells = tellsChanges(directory);
    // A machine that is too busy to tell is asked again.
    if (tells === undefined) return undefined;
    if (this.#tells.size >= mostDirectories) this.#tells.clear();
    this.#tells.set(device, tells);
    return tells ? stateOf(directory) : undefined;
  }
}

function stateOf(directory: string): string | undefined {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  return stats && stateFrom(stats);
}

function stateFrom(stats: Stats): string {
  return `${stats.dev}:${stats.ino}:${stats.ctimeMs}:${stats.mtimeMs}`;
}

/** Whether changes in less than a tick of the clock have different times here; undefined where that can't be said now. */
function tellsChanges(directory: string): boolean | undefined {
  const probes = [`${directory}/.plexus-clock`, `${directory}/.plexus-clock-`] as const;
  try {
    closeSync(openSync(probes[0], openFlags, 0o600));
    const states = new Set<string | undefined>();
    // Names only: making a file may take longer than a tick.
    const started = performance.now();
    for (let change = 0; change < changes; change++) {
      renameSync(probes[change % 2 === 0 ? 0 : 1], probes[change % 2 === 0 ? 1 : 0]);
      states.add(stateOf(directory));
    }
    const took = performance.now() - started;
    unlinkSync(probes[1]);
    return took < oneTick ? states.size === changes : undefined;
  } catch {
    // Whoever works on leases there says why.
    return undefined;
  }
}
