import { execFileSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { missing, privateNamespaces, referencePlugin, referencePlugins, type Requirement } from "../../../lab/requires.ts";
import { hostLocal, leasesIn, networkOf, Store } from "../../../../host/capabilities/leases/fixtures/stores.ts";
import { LeaseMemory } from "../../../../host/capabilities/leases/lease-memory.ts";

/** Whether the memory remembers the directory. A busy machine may need several tries to probe the directory's times. */
function remembers(memory: LeaseMemory, directory: string): boolean {
  for (let tries = 0; tries < 50; tries++) {
    memory.note(directory, new Map());
    if (memory.contents(directory) !== undefined) return true;
  }
  return false;
}

const fineTimes: Requirement = () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-clock-"));
  const fine = remembers(new LeaseMemory(), directory);
  rmSync(directory, { recursive: true });
  return fine ? undefined : "a directory has no new time for each change (before Linux 6.13)";
};

let dataDir: string;
let network: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "plexus-memory-"));
  network = networkOf(dataDir);
  mkdirSync(network);
});
afterEach(() => rmSync(dataDir, { recursive: true }));

const lease = (address: string): string => join(network, address);
const reserved = (address: string): unknown => ({ ok: { address, heldBefore: false } });
const heldBefore = (address: string): unknown => ({ ok: { address, heldBefore: true } });

function replaceLease(address: string, content: string): void {
  unlinkSync(lease(address));
  writeFileSync(lease(address), content);
}

function replaceDirectory(): void {
  renameSync(network, `${network}-old`);
  cpSync(`${network}-old`, network, { recursive: true, preserveTimestamps: true });
}

describe.skipIf(missing("remembered leases", fineTimes))("the memory of a directory", () => {
  let memory: LeaseMemory;
  let store: Store;
  beforeEach(() => {
    memory = new LeaseMemory();
    remembers(memory, network);
    memory.note(network, new Map());
    store = new Store(dataDir, memory);
    for (const container of ["a", "b"]) store.next(container);
  });

  const known = (): unknown => {
    const contents = memory.contents(network);
    if (contents !== undefined) memory.note(network, contents);
    return contents && Object.fromEntries(contents);
  };

  test("equals the directory's leases after each operation of the same engine", () => {
    expect(known()).toEqual(leasesIn(dataDir));
    for (const operation of [
      () => store.next("c"),
      () => store.next("a"),
      () => store.reserve("d", "10.1.0.1"),
      () => store.reserve("d", "10.1.0.6"),
      () => store.probe(),
      () => store.release("b"),
      () => store.release("b"),
      () => store.held("a"),
    ]) {
      operation();
      expect(known()).toEqual(leasesIn(dataDir));
    }
  });

  test("is used instead of the files: an overwritten lease is noticed by GC only", () => {
    writeFileSync(lease("10.1.0.1"), "c\r\neth0");
    expect(store.next("a")).toEqual(heldBefore("10.1.0.1"));
    expect(store.retain(["a", "b"])).toEqual({ ok: 1 });
    expect([store.next("a"), leasesIn(dataDir)]).toEqual([
      reserved("10.1.0.3"),
      { "10.1.0.2": "b\r\neth0", "10.1.0.3": "a\r\neth0" },
    ]);
  });

  test.each<readonly [string, () => void]>([
    ["a lease was removed", () => unlinkSync(lease("10.1.0.1"))],
    ["a lease was made", () => writeFileSync(lease("10.1.0.5"), "x\r\neth0")],
    ["a lease was replaced by a newer one under the same name", () => replaceLease("10.1.0.1", "x\r\neth0")],
    ["a file was made and removed", () => [writeFileSync(lease("x"), ""), unlinkSync(lease("x"))]],
    ["the directory's mode changed", () => chmodSync(network, 0o700)],
    ["the position was removed", () => unlinkSync(lease("last_reserved_ip.0"))],
    ["another engine with a memory reserved an address", () => new Store(dataDir, new LeaseMemory()).next("x")],
    ["a one-shot engine released a lease", () => new Store(dataDir).release("a")],
    ["a one-shot engine's GC removed a lease", () => new Store(dataDir).retain(["b"])],
    ["the directory was removed", () => rmSync(network, { recursive: true })],
    ["the directory was removed and made again", () => [rmSync(network, { recursive: true }), mkdirSync(network)]],
    ["another directory replaced it", () => replaceDirectory()],
  ])("is forgotten when %s", (_, change) => {
    change();
    expect(memory.contents(network)).toBeUndefined();
    // The next operations read the directory.
    const plain = join(dataDir, "plain");
    mkdirSync(plain);
    if (existsSync(network)) cpSync(network, networkOf(plain), { recursive: true });
    const other = new Store(plain);
    for (const operation of ["held", "next", "release", "next"] as const) {
      for (const container of ["a", "x"]) expect(store[operation](container)).toEqual(other[operation](container));
    }
    expect(leasesIn(dataDir)).toEqual(leasesIn(plain));
  });

  test("is not used if a symbolic link replaced the directory", () => {
    renameSync(network, `${network}-old`);
    symlinkSync(`${network}-old`, network);
    expect(memory.contents(network)).toBeUndefined();
    expect(store.next("c")).toMatchObject({ err: { code: 5, msg: expect.stringContaining("is not a plain directory") } });
  });

  test("is forgotten after an operation that failed halfway", () => {
    unlinkSync(lease("last_reserved_ip.0"));
    mkdirSync(lease("last_reserved_ip.0"));
    expect(store.next("c")).toMatchObject({ err: { code: 5 } });
    expect(memory.contents(network)).toBeUndefined();
    expect(leasesIn(dataDir)).toEqual({ "10.1.0.1": "a\r\neth0", "10.1.0.2": "b\r\neth0" });
    expect([store.release("a"), store.release("c")]).toEqual([{ ok: 1 }, { ok: 0 }]);
  });

  test("also begins if a killed engine left its probe file", () => {
    for (const name of [".plexus-clock", ".plexus-clock-"]) {
      writeFileSync(lease(name), "");
      expect(remembers(new LeaseMemory(), network)).toBe(true);
      expect(readdirSync(network).filter((each) => each.startsWith(".plexus-"))).toEqual([]);
    }
  });

  test("is separate for each directory", () => {
    const stores = ["x", "y", "z"].map((name) => new Store(join(dataDir, name), memory));
    for (const [index, each] of stores.entries()) for (let count = 0; count <= index; count++) each.next(`c${count}`);
    for (const [index, each] of stores.entries()) {
      expect(memory.contents(networkOf(each.dataDir))?.size).toBe(index + 1);
    }
  });

  test.skipIf(missing("remembered leases beside native host-local", referencePlugins("host-local")))(
    "follows the changes of native host-local, which ignores recycled files",
    () => {
      const path = referencePlugin("host-local") ?? "";
      const native = (verb: "ADD" | "DEL" | "CHECK", container: string): number => hostLocal(path, dataDir, verb, container);
      expect(native("ADD", "n")).toBe(0);
      expect([store.next("n"), store.next("c")]).toEqual([heldBefore("10.1.0.3"), reserved("10.1.0.4")]);
      expect([native("CHECK", "c"), native("DEL", "c"), store.held("c"), store.next("c")]).toEqual([
        0,
        0,
        { ok: [] },
        reserved("10.1.0.5"),
      ]);
      expect([store.release("c"), native("CHECK", "c")]).toEqual([{ ok: 1 }, 1]);
      // The released lease's file is among the recycled files.
      expect(readdirSync(join(dataDir, ".plexus-recycled"))).toHaveLength(1);
      expect([native("DEL", "n"), store.release("n"), native("ADD", "b"), store.next("d")]).toEqual([
        0,
        { ok: 0 },
        1,
        reserved("10.1.0.6"),
      ]);
      expect(leasesIn(dataDir)).toEqual({ "10.1.0.1": "a\r\neth0", "10.1.0.2": "b\r\neth0", "10.1.0.6": "d\r\neth0" });
    },
  );
});

test.skipIf(missing("file systems with a coarse clock", privateNamespaces))(
  "Nothing is remembered if the times of a directory come from a coarse clock",
  () => {
    execFileSync("mount", ["-t", "ramfs", "none", network]);
    try {
      const memory = new LeaseMemory();
      expect([remembers(memory, network), readdirSync(network)]).toEqual([false, []]);
    } finally {
      execFileSync("umount", [network]);
    }
  },
);
