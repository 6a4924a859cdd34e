import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { LeaseRecord } from "../../../src/dhcp/lease-record.ts";
import { LeaseRecords } from "./lease-records.ts";

const lease = (containerId: string, ifname: string, address: string): LeaseRecord => ({
  network: "net",
  containerId,
  ifname,
  netns: "/run/netns/a",
  mac: new Uint8Array([2, 0, 0, 0, 0, 10]),
  serverMac: new Uint8Array(6),
  clientId: new Uint8Array([1]),
  requested: [],
  provided: [],
  options: [],
  acknowledgedMs: 0,
  hasEnded: false,
  terms: {
    address,
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

test("attachments whose names join to one text have a record each", () => {
  const directory = mkdtempSync(join(tmpdir(), "plexus-dhcp-"));
  try {
    const records = new LeaseRecords(directory);
    const [one, other] = [lease("a", "b_c", "10.0.0.2"), lease("a_b", "c", "10.0.0.3")];
    for (const each of [one, other]) expect(records.keep(each)).toMatchObject({ ok: true });
    expect([records.find(one)?.terms.address, records.find(other)?.terms.address]).toEqual(["10.0.0.2", "10.0.0.3"]);
    expect(records.all()).toHaveLength(2);
    records.forget(one);
    expect([records.find(one), records.find(other)?.terms.address]).toEqual([undefined, "10.0.0.3"]);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
