import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { lockSync } from "../../store/locks/testing/lock-sync.ts";
import { runSync } from "./testing/run-sync.ts";
import type { LeaseOperation } from "./effect.ts";
import type { Owner } from "./lease-file.ts";
import { leasesFor, type LeaseScope } from "./scope.ts";

let base: string;
let standard: string;
beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), "plexus-scope-"));
  standard = join(base, "networks");
});
afterEach(() => rmSync(base, { recursive: true }));

const podOwner: Owner = { containerId: "c1", ifname: "eth0" };
const ranges = [{ first: "10.1.0.1", last: "10.1.0.9" }];

function leases(changes: Partial<LeaseScope> = {}) {
  return leasesFor({ network: "net", verb: "add", attachment: podOwner, defaultDirectory: standard, ...changes });
}
const run = <T>(operation: LeaseOperation<T>): T => runSync(operation, lockSync);
const reserveIn = (directory: string | undefined, changes: Partial<LeaseScope> = {}) =>
  run(leases(changes).reserve({ directory, set: 0 }, "10.1.0.1", podOwner));

test("A delegate can name only the call's attachment as owner", () => {
  for (const owner of [
    { ...podOwner, containerId: "other" },
    { ...podOwner, ifname: "eth1" },
    { containerId: "c1/eth0", ifname: "" },
  ]) {
    const refusal = { err: { code: 999, msg: expect.stringMatching(/owner ".*" is not this call's attachment c1\/eth0/) } };
    expect(run(leases().reserve({ set: 0 }, "10.1.0.1", owner))).toMatchObject(refusal);
    expect(run(leases().reserveNext({ set: 0 }, ranges, [], owner))).toMatchObject(refusal);
    expect(run(leases({ verb: "check" }).held({ set: 0 }, owner))).toMatchObject(refusal);
    expect(run(leases({ verb: "del" }).release({ set: 0 }, owner))).toMatchObject(refusal);
  }
  expect(readdirSync(base)).toEqual([]);
});

test("GC and STATUS have no owner, and only GC may release leases of others", () => {
  const gc: LeaseScope = { network: "net", verb: "gc", defaultDirectory: standard };
  expect(run(leasesFor(gc).release({ set: 0 }, podOwner))).toMatchObject({
    err: { msg: expect.stringContaining("GC has no attachment") },
  });
  expect(run(leasesFor({ ...gc, verb: "status" }).reserve({ set: 0 }, "10.1.0.1", podOwner))).toMatchObject({
    err: { code: 999 },
  });
  for (const verb of ["add", "del", "check", "status"] as const) {
    expect(run(leases({ verb }).retain({ set: 0 }, []))).toMatchObject({
      err: { msg: expect.stringContaining("only a GC may retain leases") },
    });
  }
  expect(run(leasesFor(gc).retain({ set: 0 }, []))).toEqual({ ok: 0 });
});

test("Without dataDir, leases are in the default directory", () => {
  expect(reserveIn(undefined)).toEqual({ ok: true });
  expect(reserveIn("")).toEqual({ ok: false });
  expect(reserveIn(standard)).toEqual({ ok: false });
  expect(readdirSync(join(standard, "net"))).toContain("10.1.0.1");
});

test("A dataDir must be an allowed directory, or be beneath an entry that ends in a slash", () => {
  const allowedDirectories = [join(base, "run/cni"), `${base}/srv/`];
  expect(reserveIn(join(base, "run/cni"), { allowedDirectories })).toEqual({ ok: true });
  expect(reserveIn(`${base}/run//cni/./`, { allowedDirectories })).toEqual({ ok: false });
  expect(reserveIn(join(base, "srv"), { allowedDirectories })).toEqual({ ok: true });
  expect(reserveIn(join(base, "srv/a/b"), { allowedDirectories })).toEqual({ ok: true });
  for (const directory of [
    join(base, "run"),
    join(base, "run/cni/a"),
    join(base, "run/cni-other"),
    `${base}/srv/../../etc`,
    join(base, "srv-other"),
    join(standard, "another-network"),
    "/",
    "/etc",
    "run/cni",
    "..",
    `${base}/srv/\0`,
  ]) {
    expect(reserveIn(directory, { allowedDirectories })).toMatchObject({
      err: { code: 7, msg: expect.stringContaining(`allowed: ${standard}, ${base}/run/cni, ${base}/srv/`) },
    });
  }
  expect(readdirSync(join(base, "run"))).toEqual(["cni"]);
  expect(readdirSync(join(base, "run/cni")).sort()).toEqual(["net"]);
  expect(readdirSync(join(base, "srv")).sort()).toEqual(["a", "net"]);
});

test("The administrator's directory may be a symbolic link; a link beneath it is not followed", () => {
  mkdirSync(join(base, "real"));
  mkdirSync(join(base, "outside"));
  symlinkSync("real", join(base, "link"));
  const allowedDirectories = [`${base}/link/`];
  expect(reserveIn(join(base, "link"), { allowedDirectories })).toEqual({ ok: true });
  symlinkSync("../outside", join(base, "real/way-out"));
  expect(reserveIn(join(base, "link/way-out"), { allowedDirectories })).toMatchObject({
    err: { code: 5, msg: expect.stringContaining("way-out is not a plain directory") },
  });
  expect(readdirSync(join(base, "outside"))).toEqual([]);
});

test("A network whose name could leave the directory is refused", () => {
  for (const network of ["..", ".", "../x", "a/b", "", ".plexus", "a\0"]) {
    expect(reserveIn(undefined, { network })).toMatchObject({
      err: { code: 999, msg: expect.stringContaining("is not a valid network name") },
    });
  }
});

test("An invalid address or range is refused, and the fault quotes it", () => {
  for (const text of ["", "10.1.0", "10.1.0.01", "10.1.0.1/24", "fe80::1%eth0", "../../etc/passwd", "::1::"]) {
    expect(run(leases().reserve({ set: 0 }, text, podOwner))).toMatchObject({
      err: { code: 999, msg: expect.stringContaining(`${JSON.stringify(text)} is not an IP address`) },
    });
  }
  for (const [first, last] of [
    ["10.1.0.9", "10.1.0.1"],
    ["10.1.0.1", "fd00::1"],
  ] as const) {
    expect(run(leases().reserveNext({ set: 0 }, [{ first, last }], [], podOwner))).toMatchObject({
      err: { msg: expect.stringContaining(`${first}-${last} is not a range`) },
    });
  }
});

test("GC frees only leases of containers that it knows", () => {
  const owners = ["stale", "foreign", "valid"].map((containerId) => ({ containerId, ifname: "eth0" }));
  for (const [index, owner] of owners.entries())
    expect(run(leases({ attachment: owner }).reserve({ set: 0 }, `10.1.0.${index + 1}`, owner))).toEqual({ ok: true });
  const known = new Set(["stale", "valid"]);
  const gc = leasesFor({ network: "net", verb: "gc", defaultDirectory: standard, knownContainers: known });
  expect(run(gc.retain({ set: 0 }, [{ containerId: "valid", ifname: "eth0" }]))).toEqual({ ok: 1 });
  expect(readdirSync(join(standard, "net")).filter((name) => name.startsWith("10."))).toEqual(["10.1.0.2", "10.1.0.3"]);
});

test("FI-22: a GC frees leases without an owner, and none of an owner that the journal does not know, also in a pool of the cluster", () => {
  const lost = { "10.1.0.1": "", "10.1.0.2": "\0\0\0", "10.1.0.3": "\r\n" };
  const kept = { "10.1.0.4": "foreign\r\neth0", "10.1.0.5": "valid\r\neth0\r\nnet" };
  const gc = { network: "net", verb: "gc", defaultDirectory: standard, knownContainers: new Set(["valid"]) } as const;
  for (const pool of [undefined, { name: "pool", root: standard }]) {
    const directory = join(standard, pool?.name ?? "net");
    mkdirSync(directory, { recursive: true });
    for (const [name, content] of Object.entries({ ...lost, ...kept })) writeFileSync(join(directory, name), content);
    const valid = [{ containerId: "valid", ifname: "eth0" }];
    expect(run(leasesFor({ ...gc, pool }).retain({ set: 0 }, valid))).toEqual({ ok: pool === undefined ? 4 : 3 });
    expect(readdirSync(directory)).toEqual(expect.arrayContaining(pool === undefined ? ["10.1.0.4"] : Object.keys(kept)));
  }
});
