import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  linkSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { runAsync, type LeaseOperation } from "../../../../host/capabilities/leases/effect.ts";
import { leaseDirectory, makeLeaseDirectory, StagedLease, type Owner } from "../../../../host/capabilities/leases/lease-file.ts";
import { leasesFor, type LeaseScope } from "../../../../host/capabilities/leases/scope.ts";
import { runSync } from "../../../../host/capabilities/leases/testing/run-sync.ts";
import type { LeasesAddressRange } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import type { LockAnswer, LockRequest } from "../../../../host/store/locks/file-lock.ts";

let dataDir: string;
let network: string;
let locks: LockRequest[];
let released: string[];

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), "plexus-leases-"));
  network = join(dataDir, "net");
  locks = [];
  released = [];
});
afterEach(() => {
  execFileSync("chmod", ["-R", "u+rwX", dataDir]);
  rmSync(dataDir, { recursive: true });
});

const pool = { set: 0 };
const alice: Owner = { containerId: "alice", ifname: "eth0" };
const bob: Owner = { containerId: "bob", ifname: "eth0" };
const small: LeasesAddressRange[] = [{ first: "10.1.0.1", last: "10.1.0.4" }];

function leases(owner: Owner, changes: Partial<LeaseScope> = {}) {
  return leasesFor({ network: "net", verb: "add", attachment: owner, defaultDirectory: dataDir, ...changes });
}

/** Takes a lock that is free, and notes its request and its release. */
function takeLock(request: LockRequest): LockAnswer {
  locks.push(request);
  return { errno: 0, lock: { path: request.path, release: () => void released.push(request.path) } };
}

function gone(): never {
  throw new Error("the shim went away");
}

/** Runs an operation; fails if it takes two locks or does not release its lock. */
function run<T>(operation: LeaseOperation<T>, errno = 0): T {
  const before = locks.length;
  const answer = runSync(operation, (request) => (errno === 0 ? takeLock(request) : { errno }));
  expect(locks.length - before).toBeLessThanOrEqual(1);
  expect(released).toEqual(locks.map(({ path }) => path));
  return answer;
}

/** The address that `reserveNext` answers; `held …` if the owner already held it. */
function next(owner: Owner, ranges = small, skip: string[] = []) {
  const answer = run(leases(owner).reserveNext(pool, ranges, skip, owner));
  if (!("ok" in answer) || answer.ok === undefined) return answer;
  return { ok: answer.ok.heldBefore ? `held ${answer.ok.address}` : answer.ok.address };
}
/** A new owner for each use. */
let owners = 0;
const newOwner = (): Owner => ({ containerId: `new-${owners++}`, ifname: "eth0" });
const contents = () => Object.fromEntries(readdirSync(network).map((name) => [name, readFileSync(join(network, name), "utf8")]));
const staged = () => (existsSync(network) ? readdirSync(network).filter((name) => name.startsWith(".plexus-")) : []);

describe("the files", () => {
  test("A lease is a file with the address as its name and the owner as its content; each set has a position", () => {
    expect(next(alice)).toEqual({ ok: "10.1.0.1" });
    expect(run(leases(bob).reserve({ set: 1 }, "FD00:0::00AB", bob))).toEqual({ ok: true });
    expect(contents()).toEqual({
      "10.1.0.1": "alice\r\neth0",
      "fd00::ab": "bob\r\neth0",
      "last_reserved_ip.0": "10.1.0.1",
      "last_reserved_ip.1": "fd00::ab",
    });
    expect(staged()).toEqual([]);
  });

  test("A shorter position replaces a longer one completely", () => {
    run(leases(alice).reserve(pool, "10.100.200.254", alice));
    run(leases(alice).reserve(pool, "10.1.0.3", alice));
    expect(contents()["last_reserved_ip.0"]).toBe("10.1.0.3");
  });

  test("Each operation takes the lock of native host-local once", () => {
    next(alice);
    expect(locks).toEqual([{ path: join(network, "lock"), deadlineMs: 10_000, shared: false }]);
  });

  test("An IPv4-mapped IPv6 address counts as the IPv4 address", () => {
    expect(run(leases(alice).reserve(pool, "::ffff:10.1.0.9", alice))).toEqual({ ok: true });
    expect(Object.keys(contents())).toContain("10.1.0.9");
  });
});

describe("reserving", () => {
  test("A taken address is not reserved again, not even for its owner", () => {
    expect(run(leases(alice).reserve(pool, "10.1.0.1", alice))).toEqual({ ok: true });
    expect(run(leases(alice).reserve(pool, "10.1.0.1", alice))).toEqual({ ok: false });
    expect(run(leases(bob).reserve(pool, "10.1.0.1", bob))).toEqual({ ok: false });
    expect(contents()["10.1.0.1"]).toBe("alice\r\neth0");
    expect(staged()).toEqual([]);
  });

  test("An exact reservation moves the position of the next one, and a refused one does not", () => {
    expect(run(leases(alice).reserve(pool, "10.1.0.3", alice))).toEqual({ ok: true });
    expect(run(leases(bob).reserve(pool, "10.1.0.3", bob))).toEqual({ ok: false });
    expect(next(bob)).toEqual({ ok: "10.1.0.4" });
    expect(next(newOwner())).toEqual({ ok: "10.1.0.1" });
  });

  test("A released address is the last to be reserved again", () => {
    expect(next(alice)).toEqual({ ok: "10.1.0.1" });
    expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 1 });
    expect([1, 2, 3, 4, 5].map(() => next(newOwner())).map((a) => ("ok" in a ? a.ok : a.err))).toEqual([
      "10.1.0.2",
      "10.1.0.3",
      "10.1.0.4",
      "10.1.0.1",
      undefined,
    ]);
  });

  test("Skipped addresses are never reserved", () => {
    expect(next(alice, small, ["10.1.0.1", "::ffff:10.1.0.3"])).toEqual({ ok: "10.1.0.2" });
    expect(next(bob, small, ["10.1.0.1", "10.1.0.3"])).toEqual({ ok: "10.1.0.4" });
    expect(next(newOwner(), small, ["10.1.0.1", "10.1.0.3"])).toEqual({ ok: undefined });
  });

  test("An owner that holds an address of the ranges gets that address again, even if it is to be skipped", () => {
    expect(next(alice)).toEqual({ ok: "10.1.0.1" });
    expect(next(alice)).toEqual({ ok: "held 10.1.0.1" });
    expect(next(alice, small, ["10.1.0.1"])).toEqual({ ok: "held 10.1.0.1" });
    expect(contents()["last_reserved_ip.0"]).toBe("10.1.0.1");
    expect(next({ ...alice, ifname: "eth1" })).toEqual({ ok: "10.1.0.2" });
    expect(next(alice, [{ first: "10.1.0.3", last: "10.1.0.4" }])).toEqual({ ok: "10.1.0.3" });
    expect(staged()).toEqual([]);
  });

  test("A free address after many reserved ones is found", () => {
    mkdirSync(network);
    for (let i = 1; i <= 250; i++) if (i !== 200) writeFileSync(join(network, `10.1.0.${i}`), "other\r\neth0");
    writeFileSync(join(network, "last_reserved_ip.0"), "10.1.0.220");
    const ranges = [{ first: "10.1.0.1", last: "10.1.0.250" }];
    expect(next(alice, ranges)).toEqual({ ok: "10.1.0.200" });
    expect(next(bob, ranges)).toEqual({ ok: undefined });
  });

  test("With a damaged position, the first free address is reserved", () => {
    mkdirSync(network);
    for (const content of ["", "10.1.0.2\n", "nonsense", "192.0.2.1", "x".repeat(10_000)]) {
      writeFileSync(join(network, "last_reserved_ip.0"), content);
      expect(next(alice)).toEqual({ ok: "10.1.0.1" });
      run(leases(alice).release(pool, alice));
    }
  });

  test("A huge IPv6 range takes no more time or memory", () => {
    const ranges = [{ first: "fd00::", last: "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff" }];
    expect(next(alice, ranges, ["fd00::"])).toEqual({ ok: "fd00::1" });
  });
});

describe("held, release and retain", () => {
  test("An owner's leases of all sets are found, also leases of an old host-local that name only the container", () => {
    next(alice);
    run(leases(alice).reserve({ set: 1 }, "fd00::5", alice));
    writeFileSync(join(network, "10.9.0.1"), "alice");
    next(bob);
    expect(run(leases(alice).held(pool, alice))).toEqual({ ok: ["10.1.0.1", "10.9.0.1", "fd00::5"] });
    expect(run(leases({ ...alice, ifname: "eth1" }).held(pool, { ...alice, ifname: "eth1" }))).toEqual({ ok: ["10.9.0.1"] });
  });

  test("A release removes the owner's leases; leases that name only the container are removed only if there are no others", () => {
    next(alice);
    writeFileSync(join(network, "10.9.0.1"), "alice\n");
    next(bob);
    expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 1 });
    expect(Object.keys(contents()).sort()).toEqual(["10.1.0.2", "10.9.0.1", "last_reserved_ip.0"]);
    expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 1 });
    expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 0 });
    expect(Object.keys(contents()).sort()).toEqual(["10.1.0.2", "last_reserved_ip.0"]);
  });

  test("Without a directory there are no leases, no directory is made, and no lock is taken", () => {
    expect(run(leases(alice, { verb: "del" }).release(pool, alice))).toEqual({ ok: 0 });
    expect(run(leases(alice, { verb: "check" }).held(pool, alice))).toEqual({ ok: [] });
    expect(run(leases(alice, { verb: "gc" }).retain(pool, []))).toEqual({ ok: 0 });
    expect(run(leases(alice).count(pool, small, 9))).toEqual({ ok: 0 });
    expect(locks).toEqual([]);
    expect(readdirSync(dataDir)).toEqual([]);
  });

  test("A retain keeps the leases of the listed attachments, and removes all others, damaged leases and staged files", () => {
    next(alice);
    next(bob);
    writeFileSync(join(network, "10.1.0.3"), "");
    writeFileSync(join(network, "10.1.0.4"), "alice");
    writeFileSync(join(network, "README"), "not a lease");
    writeFileSync(join(network, ".plexus-left-by-a-kill"), "x");
    expect(run(leases(alice, { verb: "gc" }).retain(pool, [alice]))).toEqual({ ok: 2 });
    expect(Object.keys(contents()).sort()).toEqual(["10.1.0.1", "10.1.0.4", "README", "last_reserved_ip.0"]);
    expect(staged()).toEqual([]);
  });

  test("A count is of the ranges only, and stops at the limit", () => {
    next(alice);
    next(bob);
    run(leases(alice).reserve(pool, "10.2.0.1", alice));
    expect(run(leases(alice).count(pool, small, 100))).toEqual({ ok: 2 });
    expect(run(leases(alice).count(pool, [...small, { first: "10.2.0.0", last: "10.2.0.9" }], 100))).toEqual({ ok: 3 });
    expect(run(leases(alice).count(pool, small, 1))).toEqual({ ok: 1 });
  });

  test("A successful probe leaves only the directory", () => {
    expect(run(leases(alice, { verb: "status" }).probe(pool))).toEqual({ ok: undefined });
    expect(readdirSync(network)).toEqual([]);
    expect(staged()).toEqual([]);
  });
});

describe("foreign files in the directory", () => {
  test("An address whose file is a symbolic link, a directory or a FIFO counts as reserved, and that file stays", () => {
    mkdirSync(network);
    writeFileSync(join(dataDir, "outside"), "alice\r\neth0");
    symlinkSync("../outside", join(network, "10.1.0.1"));
    mkdirSync(join(network, "10.1.0.2"));
    execFileSync("mkfifo", [join(network, "10.1.0.3")]);
    expect(next(alice)).toEqual({ ok: "10.1.0.4" });
    expect(run(leases(alice).held(pool, alice))).toEqual({ ok: ["10.1.0.4"] });
    expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 1 });
    expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 0 });
    expect(readFileSync(join(dataDir, "outside"), "utf8")).toBe("alice\r\neth0");
    expect(readdirSync(network).sort()).toEqual(["10.1.0.1", "10.1.0.2", "10.1.0.3", "last_reserved_ip.0"]);
  });

  test("A position that is a symbolic link is replaced, and the link's target stays unchanged", () => {
    mkdirSync(network);
    writeFileSync(join(dataDir, "outside"), "10.1.0.3");
    symlinkSync("../outside", join(network, "last_reserved_ip.0"));
    expect(next(alice)).toEqual({ ok: "10.1.0.1" });
    expect(readFileSync(join(dataDir, "outside"), "utf8")).toBe("10.1.0.3");
    expect(contents()["last_reserved_ip.0"]).toBe("10.1.0.1");
  });

  test("A position that is a FIFO is replaced", () => {
    mkdirSync(network);
    execFileSync("mkfifo", [join(network, "last_reserved_ip.0")]);
    expect(next(alice)).toEqual({ ok: "10.1.0.1" });
    expect(contents()["last_reserved_ip.0"]).toBe("10.1.0.1");
  });

  test("A FIFO that another process has open is no position and no lease: an address is given, and a DEL frees it", () => {
    mkdirSync(network);
    const paths = ["last_reserved_ip.0", "10.1.0.1"].map((name) => join(network, name));
    execFileSync("mkfifo", paths);
    const open = paths.map((path) => openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    try {
      expect(next(alice)).toEqual({ ok: "10.1.0.2" });
      expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 1 });
      expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 0 });
    } finally {
      for (const file of open) closeSync(file);
    }
  });

  test("A file whose name is not an address is never touched, whatever its content", () => {
    next(alice);
    for (const name of ["notes", "10.1.0", "10.1.0.1.bak", "fd00:::1"]) writeFileSync(join(network, name), "alice\r\neth0");
    expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 1 });
    expect(readdirSync(network).sort()).toEqual(["10.1.0", "10.1.0.1.bak", "fd00:::1", "last_reserved_ip.0", "notes"]);
  });

  test("A network directory that is a symbolic link or a file is refused, and the fault names it", () => {
    mkdirSync(join(dataDir, "elsewhere"));
    symlinkSync("elsewhere", network);
    const refusal = { err: { code: 5, msg: expect.stringContaining(`${network} is not a plain directory`) } };
    expect(next(alice)).toMatchObject(refusal);
    expect(run(leases(alice).release(pool, alice))).toMatchObject(refusal);
    expect(readdirSync(join(dataDir, "elsewhere"))).toEqual([]);
    rmSync(network);
    writeFileSync(network, "");
    expect(next(alice)).toMatchObject(refusal);
    expect(run(leases(alice, { verb: "status" }).probe(pool))).toMatchObject(refusal);
  });
});

describe("failures", () => {
  test("A lock that stays held fails with code 11 and another error of the lock with code 5, without a lease", () => {
    expect(run(leases(alice).reserveNext(pool, small, [], alice), 110)).toMatchObject({
      err: { code: 11, msg: expect.stringContaining(`${network}/lock was held by another process for more than 10000 ms`) },
    });
    expect(run(leases(alice).reserveNext(pool, small, [], alice), 13)).toMatchObject({
      err: { code: 5, msg: expect.stringContaining(`cannot lock ${network}/lock: EACCES, permission denied`) },
    });
    expect(readdirSync(network)).toEqual([]);
  });

  test("The lease is removed if the position cannot be written", () => {
    mkdirSync(join(network, "last_reserved_ip.0"), { recursive: true });
    expect(next(alice)).toMatchObject({ err: { code: 5, msg: expect.stringContaining("last_reserved_ip.0") } });
    expect(readdirSync(network)).toEqual(["last_reserved_ip.0"]);
    expect(staged()).toEqual([]);
  });

  test("The staged file of a killed call is replaced, and a lease that an earlier release has linked to it keeps its content", () => {
    const directory = leaseDirectory(dataDir, dataDir, "net");
    makeLeaseDirectory(directory);
    void new StagedLease(directory, alice);
    const [name = ""] = staged();
    linkSync(join(network, name), join(network, "10.1.0.1"));
    expect(run(leases(alice).reserve(pool, "10.1.0.2", alice))).toEqual({ ok: true });
    expect(staged()).toEqual([]);
    expect(statSync(join(network, "10.1.0.1"))).toMatchObject({ nlink: 1, size: "alice\r\neth0".length });
    expect(statSync(join(network, "10.1.0.2")).ino).not.toBe(statSync(join(network, "10.1.0.1")).ino);
    expect(run(leases(alice).release(pool, alice))).toEqual({ ok: 2 });
  });

  test("A staged lease takes a free address, and leaves the lease that has an address as it is", () => {
    const directory = leaseDirectory(dataDir, dataDir, "net");
    makeLeaseDirectory(directory);
    const first = new StagedLease(directory, alice);
    expect(first.reserve("10.1.0.1")).toBe(true);
    first.discard();
    const second = new StagedLease(directory, bob);
    expect([second.reserve("10.1.0.1"), second.reserve("10.1.0.2")]).toEqual([false, true]);
    expect(readFileSync(join(network, "10.1.0.1"), "utf8")).toBe("alice\r\neth0");
    expect(readdirSync(network).toSorted()).toEqual(["10.1.0.1", "10.1.0.2"]);
  });

  test("An exception of the driver ends the operation", () => {
    expect(() => runSync(leases(alice).reserveNext(pool, small, [], alice), gone)).toThrow("the shim went away");
    expect(readdirSync(network)).toEqual([]);
  });

  test("The asynchronous driver behaves like the synchronous one", async () => {
    const answer = await runAsync(leases(alice).reserveNext(pool, small, [], alice), async (request) => takeLock(request));
    expect(answer).toEqual({ ok: { address: "10.1.0.1", heldBefore: false } });
    expect(released).toEqual([join(network, "lock")]);
    await expect(
      runAsync(leases(alice).release(pool, alice), () => Promise.reject(new Error("the shim went away"))),
    ).rejects.toThrow("the shim went away");
  });
});
