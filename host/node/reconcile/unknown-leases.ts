// The leases whose owner the journal never had, from boot to boot. No network namespace outlives the kernel: a runtime's lease that an earlier boot
// has already shown is no container's any more. The record is on the disk, because the journal that had the owner may be lost.

import { join } from "node:path";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { Lease } from "../../../src/reconcile/lease-owners.ts";
import { isOutlived, isRuntimesContainer } from "../../../src/reconcile/outlived-leases.ts";
import { writeDurably } from "../../store/files/durable-file.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import type { Boot } from "./entry-judge.ts";

/** Maximum leases that are recorded. A lease beyond them is reported only. */
const maxLeases = 8192;

/** The record of one state directory. */
export class UnknownLeases {
  readonly #path: string;
  #written: string | undefined;

  constructor(stateDirectory: string) {
    this.#path = join(stateDirectory, "unknown-leases");
  }

  /** The leases among these that an earlier boot left. */
  outlived(leases: readonly Lease[], boot: Boot): readonly Lease[] {
    if (leases.length === 0) return [];
    const firstBoots = this.#read();
    return leases.filter((lease) => isOutlived(lease, firstBoots.get(keyOf(lease)), boot));
  }

  /** Records exactly these leases, each with the boot that has shown it first. Fault STORE_FAILED: the next boot does not know the new ones. */
  keep(leases: readonly Lease[], { bootId }: Boot): Result<void> {
    const before = this.#read();
    const recorded = leases.filter(({ containerId }) => isRuntimesContainer(containerId)).slice(0, maxLeases);
    const lines = recorded.map((lease) => `${before.get(keyOf(lease)) ?? bootId} ${keyOf(lease)}\n`);
    const text = lines.toSorted().join("");
    if (text === this.#written) return ok(undefined);
    const written = writeDurably(this.#path, text);
    if (written.ok) this.#written = text;
    return written;
  }

  /** The boot that has shown each lease first, by the lease's key. */
  #read(): ReadonlyMap<string, string> {
    this.#written ??= contentOf(this.#path);
    const lines = this.#written.split("\n").map((line): [string, string] => {
      const end = line.indexOf(" ");
      return [line.slice(end + 1), line.slice(0, Math.max(end, 0))];
    });
    return new Map(lines);
  }
}

/** A lease that is written anew has another key. The path is last, because it may contain spaces. */
function keyOf({ writtenAt, containerId, ifname, path }: Lease): string {
  return `${writtenAt} ${containerId} ${ifname} ${path}`;
}

function contentOf(path: string): string {
  try {
    return readRegularFile(path, { maxBytes: 16 * 1024 * 1024, foreign: false }) ?? "";
  } catch {
    // Missing or damaged: no lease counts as of an earlier boot.
    return "";
  }
}
