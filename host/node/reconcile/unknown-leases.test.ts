import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Lease } from "../../../src/reconcile/lease-owners.ts";
import { UnknownLeases } from "./unknown-leases.ts";

const first = { bootId: "first", bootedAt: 1_000 };
const second = { bootId: "second", bootedAt: 100_000 };

function lease(number: number): Lease {
  return {
    path: `/leases/pods/10.0.${number >> 8}.${number & 255}`,
    containerId: "4f5e".repeat(16),
    ifname: "eth0",
    writtenAt: 2_000,
  };
}

describe("the record of unknown leases", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-unknown-"));
  });
  afterEach(() => rmSync(directory, { recursive: true }));
  const file = (): string => join(directory, "unknown-leases");

  test("a later boot knows an unchanged lease of an earlier boot, and no lease that was written anew", () => {
    const leases = [lease(1), lease(2)];
    expect(new UnknownLeases(directory).keep(leases, first)).toMatchObject({ ok: true });
    expect(new UnknownLeases(directory).outlived(leases, first)).toEqual([]);
    const anew = { ...lease(2), writtenAt: 3_000 };
    expect(new UnknownLeases(directory).outlived([lease(1), anew, lease(3)], second)).toEqual([lease(1)]);
  });

  test("has at most 8,192 leases, so that a directory full of files does not fill the disk: others are not outlived", () => {
    const leases = Array.from({ length: 8_200 }, (_, number) => lease(number));
    new UnknownLeases(directory).keep(leases, first);
    expect(readFileSync(file(), "utf8").trim().split("\n")).toHaveLength(8_192);
    expect(new UnknownLeases(directory).outlived(leases, second)).toEqual(leases.slice(0, 8_192));
  });

  test("a damaged record frees nothing", () => {
    writeFileSync(file(), "\0\n first\nfirst\n");
    expect(new UnknownLeases(directory).outlived([lease(1)], second)).toEqual([]);
  });
});
