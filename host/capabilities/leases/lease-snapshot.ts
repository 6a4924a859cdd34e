// The leases of one directory before a native step, and operations on them in memory. A shadow thereby sees what the native plugin saw,
// although that has reserved its address meanwhile, and reserves nothing.

import { readdirSync } from "node:fs";
import { ok, type Result } from "../../../src/fault/result.ts";
import { formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { directoryExists, type LeaseDirectory } from "./directory.ts";
import type { Pool, Reservation } from "./disk.ts";
import { holdingOf, LeaseReader, type Owner } from "./lease-file.ts";
import { contains, roundRobin, type Span } from "./ring.ts";
import { type LeaseScope, type LeaseStore, poolDirectory } from "./scope.ts";

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
    const take = (pool: Pool, address: IpAddress): void => {
      const name = formatAddress(address);
      taken.add(name);
      reserved.add(name);
      positions.set(pool.set, address);
    };
    const heldNow = (owner: Owner): readonly IpAddress[] => {
      const before = heldBy(this.directory, owner).filter((address) => this.#taken.has(formatAddress(address)));
      const addresses = [...before, ...[...reserved].flatMap((name) => readAddress(name) ?? [])];
      return addresses.filter((address) => taken.has(formatAddress(address)));
    };
    return simulation({ taken, positions, take, heldNow });
  }
}

interface SimulatedLeases {
  readonly taken: Set<string>;
  readonly positions: ReadonlyMap<number, IpAddress>;
  readonly take: (pool: Pool, address: IpAddress) => void;
  readonly heldNow: (owner: Owner) => readonly IpAddress[];
}

/* oxlint-disable require-yield -- generators like those on the disk, although they need no lock */
function simulation({ taken, positions, take, heldNow }: SimulatedLeases): LeaseStore {
  return {
    *reserve(pool, address) {
      if (taken.has(formatAddress(address))) return ok(false);
      take(pool, address);
      return ok(true);
    },
    *reserveNext(pool, spans, skip, owner): Generator<never, Result<Reservation | undefined>> {
      const heldBefore = heldNow(owner).find((address) => spans.some((span) => contains(span, address)));
      if (heldBefore !== undefined) return ok({ address: heldBefore, heldBefore: true });
      const next = firstFree(spans, positions.get(pool.set), new Set([...taken, ...skip.map(formatAddress)]));
      if (next !== undefined) take(pool, next);
      return ok(next === undefined ? undefined : { address: next, heldBefore: false });
    },
    held: (_, owner) => ok([...heldNow(owner)]),
    *release(_, owner) {
      const held = heldNow(owner);
      for (const address of held) taken.delete(formatAddress(address));
      return ok(held.length);
    },
    *retain() {
      return ok(0);
    },
    count: (_, spans, limit) => {
      const addresses = [...taken].flatMap((name) => readAddress(name) ?? []);
      return ok(Math.min(limit, addresses.filter((address) => spans.some((span) => contains(span, address))).length));
    },
    *probe() {
      return ok(undefined);
    },
  };
}
/* oxlint-enable require-yield */

function firstFree(spans: readonly Span[], last: IpAddress | undefined, taken: ReadonlySet<string>): IpAddress | undefined {
  for (const address of roundRobin(spans, last)) if (!taken.has(formatAddress(address))) return address;
  return undefined;
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
