import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { backgroundWriter } from "../../../host/store/files/background-writer.ts";
import { RecycledFiles } from "../../../host/store/files/recycled-files.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import { Abandoned } from "../../../host/store/journal/abandoned.ts";
import type { JournalPlan, JournalRecord } from "../../../host/store/journal/entry.ts";
import { poolsOf } from "../../../host/node/state/address-pools.ts";
import { NodeStateReader } from "../../../host/node/state/node-state-reader.ts";

let state: string;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "plexus-node-state-"));
});
afterEach(() => rmSync(state, { recursive: true }));

const leases = (): string => join(state, "leases");
const read = () => new NodeStateReader(state, leases()).read();

function plan(containerId: string, conflist: object, more: Partial<JournalPlan> = {}): JournalPlan {
  return {
    kind: "plexusJournalV1",
    containerId,
    network: "cluster",
    ifname: "eth0",
    netns: "/run/netns/x",
    cniArgs: "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=cart;PASSWORD=hunter2",
    cniPath: "/opt/cni/bin",
    bootId: "b",
    begun: "2026-11-21T12:00:00.000Z",
    attachments: [{ network: "pods", ifname: "eth0", source: "default", conflist: JSON.stringify(conflist), capabilityArgs: {} }],
    ...more,
  };
}

const conflist = {
  name: "pods",
  plugins: [
    { type: "bridge", password: "hunter2", ipam: { type: "ipam-host-local", ranges: [[{ subnet: "10.0.0.0/29" }]] } },
    { type: "tuning" },
  ],
};
const attached: readonly JournalRecord[] = [
  { attempted: 0 },
  { attached: 0, result: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.2/29"}]}' },
  { closed: true },
];

function begin(journalled: JournalPlan, records: readonly JournalRecord[] = attached): void {
  mkdirSync(join(state, "journal"), { recursive: true });
  expect(new Journal(state).begin(journalled, records).ok).toBe(true);
}

test("reads attachments, networks and pools from the journal, without configurations", async () => {
  begin(plan("one", conflist));
  mkdirSync(join(leases(), "pods"), { recursive: true });
  for (const name of ["10.0.0.2", "10.0.0.3", "last_reserved_ip.0", "lock"]) writeFileSync(join(leases(), "pods", name), "");
  const nodeState = await read();
  expect(nodeState).toMatchObject({
    journal: { entries: 1 },
    attachments: [{ pod: "shop/cart", network: "pods", addresses: ["10.0.0.2/29"], state: "attached", failures: 0 }],
    networks: [{ name: "pods", source: "default", chain: ["bridge/ipam-host-local", "tuning"], attachments: 1 }],
    pools: expect.arrayContaining([{ directory: join(leases(), "pods"), used: 2, size: 5 }]),
    problems: [],
  });
  expect(JSON.stringify(nodeState)).not.toContain("hunter2");
});

test("reports the error of a failing DEL, and abandoned attachments until their records are removed", async () => {
  const failing = { failed: "2026-11-21T13:00:00.000Z", why: 'no {"token":"hunter2"}\u001B[31m' };
  begin(plan("one", conflist), [...attached, failing]);
  begin(plan("two", conflist));
  expect(new Abandoned(state).take(new Journal(state), plan("two", conflist)).ok).toBe(true);
  const reader = new NodeStateReader(state, leases());
  const { attachments, abandoned } = await reader.read();
  expect(abandoned.entries).toBe(1);
  expect(attachments.map(({ container, state: now, failures, why }) => [container, now, failures, why])).toEqual([
    ["one", "attached", 1, 'no {"token":"[redacted]"}'],
    ["two", "abandoned", 0, undefined],
  ]);
  rmSync(join(state, "abandoned"), { recursive: true });
  new Journal(state).append(plan("one", conflist), { undone: 0 });
  expect((await reader.read()).attachments.map(({ state: now }) => now)).toEqual(["detached"]);
});

test("neither blocks on a pipe nor follows a link in the place of an entry, and reports both", async () => {
  const directory = join(state, "journal");
  mkdirSync(join(directory, "a@b@directory"), { recursive: true });
  spawnSync("mkfifo", [join(directory, "a@b@pipe")]);
  writeFileSync(join(state, "secret"), "hunter2");
  symlinkSync(join(state, "secret"), join(directory, "a@b@link"));
  writeFileSync(join(directory, "a@b@torn"), "{");
  writeFileSync(join(directory, "a@b@hostile"), '{"kind":"plexusJournalV1","containerId":"\\u001b[2J"}\n');
  writeFileSync(join(directory, "no entry"), "");
  begin(plan("good", conflist));
  const { attachments, problems, journal } = await read();
  expect(attachments.map(({ container }) => container)).toEqual(["good"]);
  expect([journal.entries, problems.length]).toEqual([6, 5]);
  // oxlint-disable-next-line no-control-regex -- the problems must not contain control characters
  expect(problems.join("")).not.toMatch(/hunter2|[\u0000-\u001F]/);
});

test("reports no damage while a daemon recycles the files of removed entries for new entries", async () => {
  const journal = new Journal(state, backgroundWriter(undefined, new RecycledFiles()));
  const progress = { written: 0 };
  const end = new AbortController();
  const comeAndGo = async (): Promise<void> => {
    while (!end.signal.aborted) {
      const key = plan(`pod${progress.written++}`, conflist);
      const entry = await journal.open(key, attached);
      if (!entry.ok) throw new Error(entry.fault.msg);
      await entry.value.close();
      await setTimeout(2);
      expect(await journal.forget(key)).toMatchObject({ ok: true });
    }
  };
  const lanes = Promise.all(Array.from({ length: 16 }, comeAndGo));
  const reader = new NodeStateReader(state, leases());
  const problems: string[] = [];
  for (const until = Date.now() + 3000; Date.now() < until || progress.written <= 500;)
    problems.push(...(await reader.read()).problems);
  end.abort();
  await lanes;
  expect(problems).toEqual([]);
});

test("a node without state has no entries and no problems", async () => {
  expect(await new NodeStateReader(join(state, "absent"), leases()).read()).toMatchObject({
    attachments: [],
    journal: { entries: 0, bytes: 0 },
    problems: [],
  });
});

test.each([
  ["a subnet", { subnet: "10.0.0.0/24" }, 253],
  ["a subnet of two", { subnet: "10.0.0.0/30" }, 1],
  ["its range", { subnet: "10.0.0.0/24", rangeStart: "10.0.0.10", rangeEnd: "10.0.0.19" }, 10],
  [
    "its range with the gateway within",
    { subnet: "10.0.0.0/24", rangeStart: "10.0.0.10", rangeEnd: "10.0.0.19", gateway: "10.0.0.12" },
    9,
  ],
  ["sets", { ranges: [[{ subnet: "10.0.0.0/29" }, { subnet: "10.0.1.0/29" }], [{ subnet: "fd00::/125" }]] }, 5 + 5 + 6],
  ["nonsense", { subnet: "10.0.0.0/99" }, undefined],
  ["a range the wrong way round", { subnet: "10.0.0.0/24", rangeStart: "10.0.0.9", rangeEnd: "10.0.0.2" }, undefined],
  ["nothing", {}, undefined],
])("counts the addresses of a pool: %s", (_, ipam, size) => {
  const list = { plugins: [{ type: "bridge", ipam: { type: "host-local", dataDir: "/x", ...ipam } }] };
  expect(poolsOf("pods", JSON.stringify(list))).toEqual([{ network: "pods", dataDir: "/x", native: true, size }]);
});

test("an invalid configuration list has no pools", () => {
  for (const text of ["", "null", "[]", '{"plugins":7}', '{"plugins":[null,{"ipam":[]}]}'])
    expect(poolsOf("n", text)).toEqual([]);
});

test("counts a pool's leases again when they change, and drops a removed pool", async () => {
  const pool = join(leases(), "old");
  mkdirSync(pool, { recursive: true });
  const reader = new NodeStateReader(state, leases());
  // A node's state has the pools of native host-local's usual directory, too, and other tests may use it at the same time.
  const used = async () =>
    (await reader.read()).pools.filter(({ directory }) => directory.startsWith(state)).map((each) => each.used);
  expect(await used()).toEqual([]);
  for (let number = 0; number < 5000; number++) writeFileSync(join(pool, `10.0.${number >> 8}.${number & 255}`), "");
  expect([await used(), await used()]).toEqual([[5000], [5000]]);
  rmSync(join(pool, "10.0.0.7"));
  expect(await used()).toEqual([4999]);
  rmSync(pool, { recursive: true });
  expect(existsSync(pool)).toBe(false);
  expect(await used()).toEqual([]);
});
