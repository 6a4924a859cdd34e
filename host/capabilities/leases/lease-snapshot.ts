// The leases of one directory before a native step, and operations on them in memory. A shadow thereby sees what the native plugin saw,
// although that has reserved its address meanwhile, and reserves nothing.

import { readdirSync } from "node:fs";
import { formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { directoryExists, type LeaseDirectory, holdingOf, LeaseReader, type Owner } from "./lease-file.ts";
import { type LeaseScope, type LeaseStore, poolDirectory } from "./scope.ts";
import { simulatedLeases } from "./simulated-leases.ts";

/** Maximum number of leases in a snapshot. Reading a directory's names takes about 1 ms for that many. */
const maxLeases = 10_000;

const positionPrefix = "last_reserved_ip.";

/** The names in a lease directory, and its positions, at one moment. */
export class LeaseSnapshot {
  readonly directory: LeaseDirectory;
  readonly #taken: ReadonlySet<string>;
  readonly #positions: ReadonlyMap<number, IpAddress>;

  private constructor(directory: LeaseDirectory, taken: ReadonlySet<string>, positions: ReadonlyMap<number, IpAddress>) {
    this.directory = directory;
    this.#taken = taken;
    this.#positions = positions;
  }

  /**
   * Takes the snapshot; undefined if the directory has more leases than a snapshot may have, or is no plain directory. A missing directory
   * has none.
   */
  static of(directory: LeaseDirectory): LeaseSnapshot | undefined {
    if (!directoryExists(directory).ok) return undefined;
    const names = namesIn(directory);
    if (names.length > maxLeases) return undefined;
    const positions = new Map<number, IpAddress>();
    for (const name of names) {
      const position = name.startsWith(positionPrefix) ? readPosition(`${directory.path}/${name}`) : undefined;
      if (position !== undefined) positions.set(Number(name.slice(positionPrefix.length)), position);
    }
    return new LeaseSnapshot(directory, new Set(names.filter((name) => readAddress(name) !== undefined)), positions);
  }

  /** Whether a pool that names this directory is the snapshot's. */
  isOf(scope: LeaseScope, requested: string | undefined): boolean {
    const directory = poolDirectory(scope, requested);
    return directory.ok && directory.value.path === this.directory.path;
  }

  /** Whether other owners' leases came or went since the snapshot: the native plugin then saw another state than the shadow. */
  changedFor(owner: Owner): boolean {
    const own = new Set(heldBy(this.directory, owner).map(formatAddress));
    const now = namesIn(this.directory).filter((name) => readAddress(name) !== undefined && !own.has(name));
    const before = [...this.#taken].filter((name) => !own.has(name));
    return now.length !== before.length || now.some((name) => !this.#taken.has(name));
  }

  /** The operations on a copy of the snapshot's state. They change nothing on the disk. */
  store(): LeaseStore {
    const taken = new Set(this.#taken);
    const positions = new Map(this.#positions);
    const reserved = new Set<string>();
    return simulatedLeases({
      reserved: () => taken,
      isReserved: (address) => taken.has(address),
      heldBy: (owner) => {
        const before = heldBy(this.directory, owner).filter((address) => this.#taken.has(formatAddress(address)));
        const addresses = [...before, ...[...reserved].flatMap((name) => readAddress(name) ?? [])];
        return addresses.filter((address) => taken.has(formatAddress(address)));
      },
      // A GC has no shadow.
      staleBeside: () => [],
      last: (set) => positions.get(set),
      take: (set, address) => {
        taken.add(address);
        reserved.add(address);
        const position = readAddress(address);
        if (position !== undefined) positions.set(set, position);
      },
      drop: (address) => void taken.delete(address),
    });
  }
}

function namesIn({ path }: LeaseDirectory): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    // In most cases the directory does not exist yet. An unreadable one shows itself in the native step.
    return [];
  }
}

/** The addresses that the owner holds on the disk. */
function heldBy(directory: LeaseDirectory, owner: Owner): readonly IpAddress[] {
  const reader = new LeaseReader();
  const holding = holdingOf(owner);
  return namesIn(directory).flatMap((name) => {
    const address = readAddress(name);
    if (address === undefined) return [];
    const content = contentAt(reader, `${directory.path}/${name}`);
    return content === undefined || holding(content) === "other" ? [] : [address];
  });
}

function contentAt(reader: LeaseReader, path: string): string | undefined {
  try {
    return reader.read(path);
  } catch {
    return undefined;
  }
}

function readPosition(path: string): IpAddress | undefined {
  return readAddress(contentAt(new LeaseReader(), path)?.trim() ?? "");
}
