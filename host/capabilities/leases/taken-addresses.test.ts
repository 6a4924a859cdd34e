import { mkdtempSync, readdirSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { formatAddress, type IpAddress } from "../../../src/net/ip.ts";
import { lockSync } from "../../store/locks/testing/lock-sync.ts";
import { leasesFor } from "./scope.ts";
import { takenAddressesIn } from "./taken-addresses.ts";
import { runSync } from "./testing/run-sync.ts";

let directory: string;
let nowMs: number;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-taken-"));
  nowMs = Date.now();
});
afterEach(() => rmSync(directory, { recursive: true }));

const taken = () => takenAddressesIn(directory, () => new Date(nowMs));
const texts = (addresses: readonly IpAddress[]): readonly string[] => addresses.map(formatAddress).toSorted();

test("PR-03: an address of another host is taken for an hour, in its network alone", () => {
  expect(taken().of("net")).toEqual([]);
  expect(taken().note("net", "10.1.0.2", "02:00:00:00:00:02")).toEqual({ ok: true, value: undefined });
  expect(taken().note("net", "fd00::2", "02:00:00:00:00:02")).toMatchObject({ ok: true });
  nowMs += 3_590_000;
  expect(texts(taken().of("net"))).toEqual(["10.1.0.2", "fd00::2"]);
  expect(taken().of("other")).toEqual([]);
  nowMs += 20_000;
  expect(taken().of("net")).toEqual([]);
  expect(readdirSync(join(directory, "conflicts/net"))).toEqual([]);
});

test("a note of the future, of a name that is no path, and of a text that is no address is none", () => {
  taken().note("net", "10.1.0.2", "02:00:00:00:00:02");
  utimesSync(join(directory, "conflicts/net/10.1.0.2"), new Date(), new Date(nowMs + 7_200_000));
  expect(taken().of("net")).toEqual([]);
  for (const [network, address] of [
    ["../net", "10.1.0.2"],
    ["net", "../../10.1.0.2"],
  ] as const)
    expect(taken().note(network, address, "02:00:00:00:00:02")).toMatchObject({ ok: true });
  expect(taken().of("../net")).toEqual([]);
  expect(readdirSync(directory)).toEqual(["conflicts"]);
});

test("a host that answers to everything fills no disk", () => {
  for (let last = 0; last < 300; last++) taken().note("net", `10.1.${last >> 8}.${last & 255}`, "02:00:00:00:00:02");
  expect(taken().of("net")).toHaveLength(256);
});

test("networks that are gone leave nothing", () => {
  for (let number = 0; number < 20; number++) {
    taken().note(`net${number}`, "10.1.0.2", "02:00:00:00:00:02");
    utimesSync(join(directory, `conflicts/net${number}/10.1.0.2`), new Date(nowMs), new Date(nowMs));
    nowMs += 1_000_000;
  }
  expect(readdirSync(join(directory, "conflicts")).toSorted()).toEqual(["net16", "net17", "net18", "net19"]);
});

test("PR-03: leases give the next address in place of a taken one, to an ADD", () => {
  taken().note("net", "10.1.0.1", "02:00:00:00:00:02");
  const owner = { containerId: "c1", ifname: "eth0" };
  const leases = leasesFor({
    network: "net",
    verb: "add",
    attachment: owner,
    defaultDirectory: join(directory, "networks"),
    taken: () => taken().of("net"),
  });
  const ranges = [{ first: "10.1.0.1", last: "10.1.0.9" }];
  expect(runSync(leases.reserveNext({ set: 0 }, ranges, [], owner), lockSync)).toEqual({
    ok: { address: "10.1.0.2", heldBefore: false },
  });
});
