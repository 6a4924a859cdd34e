import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JournalPlan } from "./entry.ts";
import { Journal } from "./journal.ts";

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

  test("gives back the plan byte for byte and how far it came", () => {
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
        progress: [
          { attempted: true, undone: false, result: '{"cniVersion":"1.0.0","x":1e400}' },
          { attempted: true, undone: false },
        ],
      },
    });
  });

  test("a torn last line is progress that didn't happen, at every length", () => {
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

  test("an entry whose content belongs to another call is refused by name, not used", () => {
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

  test("an empty or half-written file is refused, and left for the administrator", () => {
    journal.begin(plan);
    const path = join(journal.directory, readdirSync(journal.directory)[0] ?? "");
    for (const size of [0, 1, 20]) {
      truncateSync(path, size);
      expect(journal.load(plan).ok).toBe(false);
      expect(statSync(path).size).toBe(size);
    }
  });

  test("names that share their letters do not collide", () => {
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

  test("an interface name may hold an @ or end like a temporary file", () => {
    const odd = { ...plan, ifname: "a@b.tmp" };
    journal.begin(odd);
    expect(journal.list()).toEqual({ ok: true, value: [{ containerId: "c1", network: "cluster", ifname: "a@b.tmp" }] });
    expect(journal.remove(odd).ok).toBe(true);
    expect(readdirSync(journal.directory)).toEqual([]);
  });

  test("removing what isn't there is no error, and takes an interrupted write along", () => {
    journal.begin(plan);
    journal.remove(plan);
    writeFileSync(join(journal.directory, ".c1@cluster@eth0"), "half");
    expect(journal.remove(plan).ok).toBe(true);
    expect(readdirSync(journal.directory)).toEqual([]);
  });

  test("a key too long for a file name is refused with the field named", () => {
    const begun = journal.begin({ ...plan, containerId: "x".repeat(250) });
    expect(begun).toMatchObject({ ok: false, fault: { msg: expect.stringContaining("CNI_CONTAINERID") } });
  });
});
