import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JournalPlan } from "./entry.ts";
import { Journal } from "./journal.ts";
import { Abandoned } from "./abandoned.ts";

const plan: JournalPlan = {
  kind: "plexusJournalV1",
  containerId: "c1",
  network: "cluster",
  ifname: "eth0",
  netns: "/run/netns/a",
  cniArgs: "K8S_POD_NAME=a",
  cniPath: "/opt/cni/bin",
  bootId: "b",
  attachments: [
    { network: "blue", ifname: "eth0", source: "default", conflist: '{"n":12345678901234567890}', capabilityArgs: {} },
    { network: "green", ifname: "net1", source: "default/green", conflist: "{}", capabilityArgs: { ips: '["10.0.0.9"]' } },
  ],
};

describe("the journal", () => {
  let state: string;
  let journal: Journal;
  beforeEach(() => {
    state = mkdtempSync(join(tmpdir(), "plexus-journal-"));
    journal = new Journal(state);
  });
  afterEach(() => rmSync(state, { recursive: true }));

  test("returns the plan byte for byte, and its progress", () => {
    expect(journal.begin(plan).ok).toBe(true);
    journal.append(plan, { attempted: 0 });
    journal.append(plan, { attached: 0, result: '{"cniVersion":"1.0.0","x":1e400}' });
    journal.append(plan, { attempted: 1 });
    const loaded = journal.load(plan);
    expect(loaded).toEqual({
      ok: true,
      value: {
        plan,
        closed: false,
        failures: { count: 0, since: undefined },
        progress: [
          { attempted: true, undone: false, result: '{"cniVersion":"1.0.0","x":1e400}' },
          { attempted: true, undone: false },
        ],
      },
    });
  });

  test("a torn last line does not count, whatever its length", () => {
    journal.begin(plan);
    const path = join(journal.directory, readdirSync(journal.directory)[0] ?? "");
    const planned = readFileSync(path, "utf8");
    const line = `${JSON.stringify({ attached: 0, result: "{}" })}\n`;
    for (let cut = 0; cut <= line.length; cut++) {
      truncateSync(path, planned.length);
      appendFileSync(path, line.slice(0, cut));
      const loaded = journal.load(plan);
      expect(loaded.ok && loaded.value?.progress[0]?.attempted).toBe(cut === line.length);
    }
  });

  test("a line that is appended after a torn line counts, and the torn line does not", () => {
    journal.begin(plan);
    const path = join(journal.directory, readdirSync(journal.directory)[0] ?? "");
    for (const torn of ['{"attached":0,"resu', '{"attempted":1}', "\0\0\0\0"]) {
      journal.begin(plan);
      appendFileSync(path, torn);
      journal.append(plan, { undone: 0 });
      const loaded = journal.load(plan);
      expect(loaded.ok && loaded.value?.progress[0]).toEqual({ attempted: false, undone: true });
    }
  });

  test("failed DELs are counted, with the time of the first one", () => {
    journal.begin(plan);
    for (const failed of ["2026-01-01T00:00:00.000Z", "2026-01-01T00:05:00.000Z"]) journal.append(plan, { failed, why: "x" });
    const loaded = journal.load(plan);
    expect(loaded.ok && loaded.value?.failures).toEqual({ count: 2, since: "2026-01-01T00:00:00.000Z" });
  });

  test("records of the wrong shape are ignored", () => {
    journal.begin(plan);
    const path = join(journal.directory, readdirSync(journal.directory)[0] ?? "");
    for (const odd of [
      '{"attached":0,"result":{}}',
      '{"failed":1,"why":""}',
      '{"undone":"0"}',
      "[]",
      "null",
      '{"undone":9}',
      "{}",
    ])
      appendFileSync(path, `${odd}\n`);
    expect(journal.load(plan)).toMatchObject({
      ok: true,
      value: { closed: false, failures: { count: 0 }, progress: [{ undone: false }, { undone: false }] },
    });
  });

  test.each([
    ["a directory", (path: string) => mkdirSync(path)],
    ["a link to a valid entry", (path: string) => symlinkSync(`${path}.good`, path)],
    ["a pipe without a writer", (path: string) => void execFileSync("mkfifo", [path])],
    ["longer than any entry", (path: string) => (writeFileSync(path, ""), truncateSync(path, 65 * 1024 * 1024))],
  ])("an entry that is %s is refused at once, and can be moved aside", (_, make) => {
    journal.begin(plan);
    const path = journal.pathOf(plan);
    renameSync(path, `${path}.good`);
    make(path);
    expect(journal.load(plan)).toMatchObject({ ok: false, fault: { kind: "JOURNAL_UNREADABLE" } });
    expect(journal.append(plan, { closed: true }).ok).toBe(false);
    expect(new Abandoned(state).take(journal, plan).ok).toBe(true);
    expect(journal.load(plan)).toEqual({ ok: true, value: undefined });
  });

  test("an abandoned entry is moved, also a second one of the same call, and both are kept", () => {
    const abandoned = new Abandoned(state);
    for (const number of [1, 2]) {
      journal.begin(plan);
      journal.append(plan, { attempted: 0 });
      expect(abandoned.take(journal, plan)).toEqual({
        ok: true,
        value: join(state, "abandoned", `${number}@c1@cluster@eth0`),
      });
      expect(journal.load(plan)).toEqual({ ok: true, value: undefined });
    }
    const listed = abandoned.list();
    const [first, second, ...rest] = listed.ok ? listed.value : [];
    if (first === undefined || second === undefined) throw new Error("two are expected");
    expect([rest, abandoned.list({ ...plan, containerId: "c2" })]).toEqual([[], { ok: true, value: [] }]);
    abandoned.keeper(first).append({ undone: 0 });
    expect([first, second].map((each) => abandoned.load(each))).toMatchObject([
      { ok: true, value: { plan, progress: [{ attempted: true, undone: true }, {}] } },
      { ok: true, value: { plan, progress: [{ attempted: true, undone: false }, {}] } },
    ]);
    abandoned.keeper(first).remove();
    expect(abandoned.list()).toEqual({ ok: true, value: [second] });
  });

  test("an entry whose content belongs to another call is refused, and the fault names the file", () => {
    journal.begin(plan);
    const [name = ""] = readdirSync(journal.directory);
    const other = { ...plan, containerId: "c2" };
    writeFileSync(join(journal.directory, name.replace("c1", "c2")), JSON.stringify(plan) + "\n");
    const loaded = journal.load(other);
    expect(loaded).toMatchObject({
      ok: false,
      fault: { kind: "JOURNAL_UNREADABLE", msg: expect.stringContaining("c2@cluster@eth0") },
    });
  });

  test("an empty or incomplete entry is refused, and its file is not changed", () => {
    journal.begin(plan);
    const path = join(journal.directory, readdirSync(journal.directory)[0] ?? "");
    for (const size of [0, 1, 20]) {
      truncateSync(path, size);
      expect(journal.load(plan).ok).toBe(false);
      expect(statSync(path).size).toBe(size);
    }
  });

  test("the parts of a key are not confused in the file name", () => {
    const one = { ...plan, containerId: "a-b", network: "c" };
    const two = { ...plan, containerId: "a", network: "b-c" };
    journal.begin(one);
    journal.begin(two);
    expect(journal.list()).toEqual({
      ok: true,
      value: [
        { containerId: "a-b", network: "c", ifname: "eth0" },
        { containerId: "a", network: "b-c", ifname: "eth0" },
      ],
    });
  });

  test("an interface name may contain @ or end in .tmp", () => {
    const odd = { ...plan, ifname: "a@b.tmp" };
    journal.begin(odd);
    expect(journal.list()).toEqual({ ok: true, value: [{ containerId: "c1", network: "cluster", ifname: "a@b.tmp" }] });
    expect(journal.remove(odd).ok).toBe(true);
    expect(readdirSync(journal.directory)).toEqual([]);
  });

  test("removing a missing entry succeeds and removes the temporary file of an interrupted write", () => {
    journal.begin(plan);
    journal.remove(plan);
    writeFileSync(join(journal.directory, ".c1@cluster@eth0"), "half");
    expect(journal.remove(plan).ok).toBe(true);
    expect(readdirSync(journal.directory)).toEqual([]);
  });

  test("a plan or a record that would make the entry too long to read is not written", () => {
    const [first] = plan.attachments;
    if (first === undefined) throw new Error("there are two");
    const long = { ...plan, attachments: [{ ...first, conflist: "x".repeat(33 * 1024 * 1024) }] };
    expect(journal.begin(long)).toMatchObject({ ok: false, fault: { kind: "CONFIG_INVALID" } });
    expect(journal.load(plan)).toEqual({ ok: true, value: undefined });
    journal.begin(plan);
    const result = JSON.stringify("y".repeat(40 * 1024 * 1024));
    expect([journal.append(plan, { attached: 0, result }).ok, journal.append(plan, { attached: 1, result }).ok]).toEqual([
      true,
      false,
    ]);
    expect(journal.load(plan)).toMatchObject({ ok: true, value: { plan, progress: [{ result }, { attempted: false }] } });
  });

  test("a key too long for a file name is refused with the field named", () => {
    const begun = journal.begin({ ...plan, containerId: "x".repeat(250) });
    expect(begun).toMatchObject({ ok: false, fault: { msg: expect.stringContaining("CNI_CONTAINERID") } });
  });
});
