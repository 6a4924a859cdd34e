// Renewals whose agent fails in a way that no agent should. Renewals at a real server: test/node/capabilities/dhcp/renewals.test.ts.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { LeaseRecords } from "../../host/capabilities/dhcp/lease-records.ts";
import type { PacketEffects } from "../../host/protocol/shim.ts";
import type { LeaseRecord } from "../../src/dhcp/lease-record.ts";
import { Renewals } from "./renewals.ts";

const lease = (containerId: string): LeaseRecord => ({
  network: "net",
  containerId,
  ifname: "eth0",
  netns: "/run/netns/a",
  index: 2,
  mac: new Uint8Array([2, 0, 0, 0, 0, 10]),
  serverMac: new Uint8Array(6),
  clientId: new Uint8Array([1]),
  requested: [],
  provided: [],
  options: [],
  acknowledgedMs: 0,
  hasEnded: false,
  terms: {
    address: "10.0.0.2",
    prefix: 24,
    server: "10.0.0.1",
    gateway: undefined,
    routes: [],
    nameservers: [],
    domain: undefined,
    mtu: undefined,
    renewSeconds: 1800,
    rebindSeconds: 3150,
    leaseSeconds: 3600,
  },
});

async function broken(): Promise<never> {
  throw new TypeError("an answer without its members");
}

test("a lease whose renewal throws is counted and logged, and the others of its round are served", async () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-renewals-"));
  try {
    const records = new LeaseRecords(directory);
    for (const name of ["c1", "c2"]) expect(records.keep(lease(name))).toMatchObject({ ok: true });
    const shim: PacketEffects = { netlink: broken, packet: broken, ask: broken };
    const [counts, lines]: [string[], string[]] = [[], []];
    const renewals = new Renewals(
      [directory],
      () => shim,
      { now: () => 0, date: () => new Date(2_000_000) },
      (_, text) => void lines.push(text),
      (outcome) => void counts.push(outcome),
    );
    await renewals.round();
    expect(counts).toEqual(["failed", "failed"]);
    expect(lines.map((line) => line.includes("not renewed yet: TypeError: an answer without its members"))).toEqual([true, true]);
    expect(records.all()).toHaveLength(2);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});

test("leases that are over are served before those that a missing server may renew", async () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-renewals-"));
  try {
    const records = new LeaseRecords(directory);
    const over = { ...lease("over"), netns: "/run/netns/over", acknowledgedMs: -2_000_000 };
    for (const each of [over, ...Array.from({ length: 40 }, (_, number) => lease(`c${number}`))]) records.keep(each);
    const looked: string[] = [];
    const netlink = async ({ path }: { readonly path: string }): Promise<never> => {
      looked.push(path);
      return broken();
    };
    const shim: PacketEffects = { netlink, packet: broken, ask: broken };
    const clock = { now: () => 0, date: () => new Date(2_000_000) };
    await new Renewals(
      [directory],
      () => shim,
      clock,
      () => undefined,
      () => undefined,
    ).round();
    expect([looked.length, looked[0]]).toEqual([41, "/run/netns/over"]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
