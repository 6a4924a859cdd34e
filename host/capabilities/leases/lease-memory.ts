// A daemon's memory of lease directories: the owner of each lease, so that an ADD need not read every lease of its network. An operation sees the leases of its
// directory by `LeaseView`, from the memory or read from the files.
//
// The memory of a directory is valid only while the directory is unchanged, which its timestamps show. On Linux 6.13 and later, ext4,
// XFS, btrfs and tmpfs have multigrain timestamps: a change after a `stat` always gets a new time. On other systems, two changes within
// one tick of the clock have the same time, and native host-local may have made the second, so nothing is remembered there.
// Overwriting an existing lease does not change the directory. Neither the engine nor a plugin does that, and GC reads all leases anew.

import { closeSync, constants, lstatSync, openSync, renameSync, type Stats, unlinkSync, readdirSync } from "node:fs";
import type { Fault } from "../../../src/fault/fault.ts";
import { type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { RecycledFiles } from "../../store/files/recycled-files.ts";
import { monotonicMs } from "../../system/clock.ts";
import { LeaseReader } from "./lease-file.ts";
import { fromException } from "./store-fault.ts";

/** Contents of leases by the names of their files, which are addresses. */
type LeaseContents = Map<string, string>;

interface RememberedDirectory {
  readonly contents: LeaseContents;
  /** The directory's inode and times. */
  readonly state: string;
}

/** Maximum number of leases in one directory; a node has a few hundred. */
const maxLeases = 4096;
const maxDirectories = 256;
/** Milliseconds in which a coarse clock ticks at most once, so that any number of changes has at most two different times. */
const oneTickMs = 1;
/** Number of changes with which the clock is probed. */
const changes = 3;
/** Without O_EXCL, because a killed engine may have left its probe file. */
const openFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/** The memory of one process. */
export class LeaseMemory {
  /** The files of released leases, for reuse. */
  readonly recycledFiles: RecycledFiles = new RecycledFiles();
  readonly #directories = new Map<string, RememberedDirectory>();
  /** Whether a file system's directories have a new time for each change, by device number. */
  readonly #hasFineTimes = new Map<number, boolean>();

  /** The leases of a directory; undefined if the directory must be read. The caller holds the directory's lock. */
  contents(directory: string): LeaseContents | undefined {
    const remembered = this.#directories.get(directory);
    if (remembered === undefined) return undefined;
    this.#directories.delete(directory);
    return remembered.state === stateOf(directory) ? remembered.contents : undefined;
  }

  /** Remembers the leases of a directory. The caller holds the directory's lock and has made its last change. */
  note(directory: string, contents: LeaseContents): void {
    if (contents.size > maxLeases) return;
    const stats = lstatSync(directory, { throwIfNoEntry: false });
    if (stats === undefined) return;
    const fineTimes = this.#hasFineTimes.get(stats.dev);
    if (fineTimes === false) return;
    const state = fineTimes === true ? stateFrom(stats) : this.#stateAfterProbe(directory, stats.dev);
    if (state === undefined) return;
    if (this.#directories.size >= maxDirectories) this.#directories.clear();
    this.#directories.set(directory, { contents, state });
  }

  /** Probes the file system's times. Returns the directory's state if each change has a new time. */
  #stateAfterProbe(directory: string, device: number): string | undefined {
    const fineTimes = hasFineTimes(directory);
    // The machine was too busy for the probe: the next `note` tries again.
    if (fineTimes === undefined) return undefined;
    if (this.#hasFineTimes.size >= maxDirectories) this.#hasFineTimes.clear();
    this.#hasFineTimes.set(device, fineTimes);
    return fineTimes ? stateOf(directory) : undefined;
  }
}

function stateOf(directory: string): string | undefined {
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  return stats && stateFrom(stats);
}

function stateFrom(stats: Stats): string {
  return `${stats.dev}:${stats.ino}:${stats.ctimeMs}:${stats.mtimeMs}`;
}

/** Whether changes within less than one tick of the clock have different times here; undefined if the probe took too long or failed. */
function hasFineTimes(directory: string): boolean | undefined {
  const probes = [`${directory}/.plexus-clock`, `${directory}/.plexus-clock-`] as const;
  try {
    closeSync(openSync(probes[0], openFlags, 0o600));
    const states = new Set<string | undefined>();
    // The changes are renames, because creating a file may take longer than a tick.
    // The kernel's own clock: the probe is about the ticks of the file system's times.
    const started = monotonicMs();
    for (let change = 0; change < changes; change++) {
      renameSync(probes[change % 2 === 0 ? 0 : 1], probes[change % 2 === 0 ? 1 : 0]);
      states.add(stateOf(directory));
    }
    const took = monotonicMs() - started;
    unlinkSync(probes[1]);
    return took < oneTickMs ? states.size === changes : undefined;
  } catch {
    // The operation on leases in this directory reports the error.
    return undefined;
  }
}

/** A lease by its file, which is named after its address. */
export interface LeaseName {
  readonly address: IpAddress;
  readonly name: string;
  readonly path: string;
}

/** The leases of one directory. It is made before the operation's first change. With a memory, the caller holds the directory's lock. */
export class LeaseView {
  readonly #path: string;
  readonly #memory: LeaseMemory | undefined;
  /** Undefined until the first use. */
  #contents: LeaseContents | undefined;
  #unreadable: Fault | undefined;

  constructor(path: string, memory?: LeaseMemory) {
    this.#path = path;
    this.#memory = memory;
    this.#contents = memory?.contents(path);
  }

  /** The fault of the first unreadable lease; undefined if all were readable. */
  get unreadable(): Fault | undefined {
    return this.#unreadable;
  }

  /** The leases whose content satisfies `predicate`. Throws the system's error if the directory is not readable. */
  select(predicate: (content: string) => boolean): LeaseName[] {
    this.#contents ??= this.#read();
    const found: LeaseName[] = [];
    for (const [name, content] of this.#contents) {
      const address = predicate(content) ? readAddress(name) : undefined;
      if (address !== undefined) found.push({ address, name, path: `${this.#path}/${name}` });
    }
    return found;
  }

  /** Notes a lease that the operation has made. */
  noteAdded(name: string, content: string): void {
    this.#contents?.set(name, content);
  }

  /** Notes a lease that the operation has removed. */
  noteRemoved(name: string): void {
    this.#contents?.delete(name);
  }

  /** Stores the leases in the memory for the next operation. Call it after the operation's last change. */
  remember(): void {
    if (this.#contents !== undefined && this.#unreadable === undefined) this.#memory?.note(this.#path, this.#contents);
  }

  #read(): LeaseContents {
    const reader = new LeaseReader();
    const contents: LeaseContents = new Map();
    for (const name of readdirSync(this.#path)) {
      if (readAddress(name) === undefined) continue;
      const path = `${this.#path}/${name}`;
      try {
        const content = reader.read(path);
        if (content !== undefined) contents.set(name, content);
      } catch (error) {
        this.#unreadable ??= fromException(path, error);
      }
    }
    return contents;
  }
}
