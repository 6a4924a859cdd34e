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
import { missing, privateNamespaces, referencePlugin, referencePlugins, type Requirement } from "../../test/harness/requires.ts";
import { hostLocal, leasesIn, networkOf, Store } from "./fixtures/stores.ts";
import { LeaseMemory } from "./lease-memory.ts";

/** A machine that is busy may need several tries until it is known whether a directory's time tells its changes. */
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
  return fine ? undefined : "changes of a directory have no times of their own (Linux 6.13)";
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
const before = (address: string): unknown => ({ ok: { address, heldBefore: true } });

function writeAnew(address: string, content: string): void {
  unlinkSync(lease(address));
  writeFileSync(lease(address), content);
}

function exchange(): void {
  renameSync(network, `${network}-old`);
  cpSync(`${network}-old`, network, { recursive: true, preserveTimestamps: true });
}

describe.skipIf(missing("remembered leases", fineTimes))("what is remembered of a directory", () => {
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

  test("is what is in it after each operation of the same brain", () => {
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

  test("is used instead of the files: what somebody wrote into one is not seen, and by GC it is", () => {
    writeFileSync(lease("10.1.0.1"), "c\r\neth0");
    expect(store.next("a")).toEqual(before("10.1.0.1"));
    expect(store.retain(["a", "b"])).toEqual({ ok: 1 });
    expect([store.next("a"), leasesIn(dataDir)]).toEqual([
      reserved("10.1.0.3"),
      { "10.1.0.2": "b\r\neth0", "10.1.0.3": "a\r\neth0" },
    ]);
  });

  test.each<readonly [string, () => void]>([
    ["a lease was removed", () => unlinkSync(lease("10.1.0.1"))],
    ["a lease was made", () => writeFileSync(lease("10.1.0.5"), "x\r\neth0")],
    ["a lease was replaced by a newer one under the same name", () => writeAnew("10.1.0.1", "x\r\neth0")],
    ["a file came and went", () => [writeFileSync(lease("x"), ""), unlinkSync(lease("x"))]],
    ["its mode changed", () => chmodSync(network, 0o700)],
    ["the position was removed", () => unlinkSync(lease("last_reserved_ip.0"))],
    ["another brain that remembers reserved", () => new Store(dataDir, new LeaseMemory()).next("x")],
    ["a brain for one call released", () => new Store(dataDir).release("a")],
    ["a brain for one call collected", () => new Store(dataDir).retain(["b"])],
    ["it was removed", () => rmSync(network, { recursive: true })],
    ["it was removed and made again", () => [rmSync(network, { recursive: true }), mkdirSync(network)]],
    ["another one was put in its place", () => exchange()],
  ])("is forgotten when %s", (_, change) => {
    change();
    expect(memory.contents(network)).toBeUndefined();
    // And the next operations go by what is there.
    const plain = join(dataDir, "plain");
    mkdirSync(plain);
    if (existsSync(network)) cpSync(network, networkOf(plain), { recursive: true });
    const other = new Store(plain);
    for (const operation of ["held", "next", "release", "next"] as const) {
      for (const container of ["a", "x"]) expect(store[operation](container)).toEqual(other[operation](container));
    }
    expect(leasesIn(dataDir)).toEqual(leasesIn(plain));
  });

  test("is not used where a link took the directory's place", () => {
    renameSync(network, `${network}-old`);
    symlinkSync(`${network}-old`, network);
    expect(memory.contents(network)).toBeUndefined();
    expect(store.next("c")).toMatchObject({ err: { code: 5, msg: expect.stringContaining("is not a plain directory") } });
  });

  test("has no more to say after an operation that failed halfway", () => {
    unlinkSync(lease("last_reserved_ip.0"));
    mkdirSync(lease("last_reserved_ip.0"));
    expect(store.next("c")).toMatchObject({ err: { code: 5 } });
    expect(memory.contents(network)).toBeUndefined();
    expect(leasesIn(dataDir)).toEqual({ "10.1.0.1": "a\r\neth0", "10.1.0.2": "b\r\neth0" });
    expect([store.release("a"), store.release("c")]).toEqual([{ ok: 1 }, { ok: 0 }]);
  });

  test("begins also where a killed brain left its probe of the clock", () => {
    for (const name of [".plexus-clock", ".plexus-clock-"]) {
      writeFileSync(lease(name), "");
      expect(remembers(new LeaseMemory(), network)).toBe(true);
      expect(readdirSync(network).filter((each) => each.startsWith(".plexus-"))).toEqual([]);
    }
  });

  test("are the leases of as many directories as there are", () => {
    const stores = ["x", "y", "z"].map((name) => new Store(join(dataDir, name), memory));
    for (const [index, each] of stores.entries()) for (let count = 0; count <= index; count++) each.next(`c${count}`);
    for (const [index, each] of stores.entries()) {
      expect(memory.contents(networkOf(each.dataDir))?.size).toBe(index + 1);
    }
  });

  test.skipIf(missing("remembered leases beside native host-local", referencePlugins("host-local")))(
    "follows native host-local, which finds no leases but those that are there",
    () => {
      const path = referencePlugin("host-local") ?? "";
      const native = (verb: "ADD" | "DEL" | "CHECK", container: string): number => hostLocal(path, dataDir, verb, container);
      expect(native("ADD", "n")).toBe(0);
      expect([store.next("n"), store.next("c")]).toEqual([before("10.1.0.3"), reserved("10.1.0.4")]);
      expect([native("CHECK", "c"), native("DEL", "c"), store.held("c"), store.next("c")]).toEqual([
        0,
        0,
        { ok: [] },
        reserved("10.1.0.5"),
      ]);
      expect([store.release("c"), native("CHECK", "c")]).toEqual([{ ok: 1 }, 1]);
      // The file of the lease that is gone is still there, among the spares.
      expect(readdirSync(join(dataDir, ".plexus-spares"))).toHaveLength(1);
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
  "Nothing is remembered where the times of a directory come from a coarse clock",
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
