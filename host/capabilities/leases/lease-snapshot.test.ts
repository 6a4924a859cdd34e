import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { lockSync } from "../../store/locks/testing/lock-sync.ts";
import { runSync } from "./testing/run-sync.ts";
import type { LeaseOperation } from "./effect.ts";
import { LeaseSnapshot } from "./lease-snapshot.ts";
import { leasesFor, poolDirectory } from "./scope.ts";

const attachment = { containerId: "own", ifname: "eth0" };
const pool = { directory: undefined, set: 0 };
const ranges = [{ first: "10.1.0.2", last: "10.1.0.20" }];
const run = <T>(operation: LeaseOperation<T>): T => runSync(operation, lockSync);

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "plexus-snapshot-"));
  mkdirSync(join(root, "pods"));
});
afterEach(() => rmSync(root, { recursive: true }));

const scopeOf = (owner = attachment) => ({ network: "pods", verb: "add", attachment: owner, defaultDirectory: root }) as const;
const lease = (address: string, id = "other"): void => writeFileSync(join(root, "pods", address), `${id}\r\neth0`);
const position = (address: string): void => writeFileSync(join(root, "pods", "last_reserved_ip.0"), address);

function snapshot(): LeaseSnapshot {
  const directory = poolDirectory(scopeOf(), undefined);
  if (!directory.ok) throw new Error(directory.fault.msg);
  const taken = LeaseSnapshot.of(directory.value);
  if (taken === undefined) throw new Error("no snapshot");
  return taken;
}

describe("the leases of a shadow", () => {
  test("X-2: a simulated reservation finds the address that the real one found, and reserves nothing", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 2, max: 20 })), fc.integer({ min: 1, max: 21 }), (taken, last) => {
        rmSync(join(root, "pods"), { recursive: true });
        mkdirSync(join(root, "pods"));
        for (const each of taken) lease(`10.1.0.${each}`);
        position(`10.1.0.${last}`);
        const before = snapshot();
        const native = run(leasesFor(scopeOf()).reserveNext(pool, ranges, ["10.1.0.7"], attachment));
        const files = readdirSync(join(root, "pods"));
        const simulated = run(leasesFor(scopeOf(), before.store()).reserveNext(pool, ranges, ["10.1.0.7"], attachment));
        expect(simulated).toEqual(native);
        expect(readdirSync(join(root, "pods"))).toEqual(files);
        expect(before.changedFor(attachment)).toBe(false);
      }),
      { numRuns: 60 },
    );
  });

  test("X-2: a simulated state follows its own changes: reserve, held, count, release", () => {
    lease("10.1.0.2");
    const leases = leasesFor(scopeOf(), snapshot().store());
    expect(run(leases.reserve(pool, "10.1.0.2", attachment))).toEqual({ ok: false });
    expect(run(leases.reserve(pool, "10.1.0.3", attachment))).toEqual({ ok: true });
    expect(run(leases.held(pool, attachment))).toEqual({ ok: ["10.1.0.3"] });
    expect(run(leases.reserveNext(pool, ranges, [], attachment))).toEqual({ ok: { address: "10.1.0.3", heldBefore: true } });
    expect(run(leases.count(pool, ranges, 10))).toEqual({ ok: 2 });
    expect(run(leases.release(pool, attachment))).toEqual({ ok: 1 });
    expect(run(leases.held(pool, attachment))).toEqual({ ok: [] });
    expect(readdirSync(join(root, "pods"))).toEqual(["10.1.0.2"]);
  });

  test("X-2: another pod's lease that came or went meanwhile is noticed, the own one is not", () => {
    lease("10.1.0.2");
    const before = snapshot();
    lease("10.1.0.3", "own");
    expect(before.changedFor(attachment)).toBe(false);
    lease("10.1.0.4");
    expect(before.changedFor(attachment)).toBe(true);
  });

  test("X-2: a directory that leads elsewhere by a symbolic link has no snapshot", () => {
    rmSync(join(root, "pods"), { recursive: true });
    symlinkSync("/etc", join(root, "pods"));
    const directory = poolDirectory(scopeOf(), undefined);
    expect(directory.ok && LeaseSnapshot.of(directory.value)).toBeUndefined();
  });

  test("X-2: a request for another owner is refused as in a real run", () => {
    const leases = leasesFor(scopeOf(), snapshot().store());
    expect(run(leases.reserve(pool, "10.1.0.3", { containerId: "x", ifname: "eth0" }))).toMatchObject({
      err: { msg: expect.stringContaining("is not this call's attachment") },
    });
  });
});
