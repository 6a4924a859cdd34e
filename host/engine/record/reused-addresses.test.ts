// The results that an undo may use: those with an address of another entry are left out where the address may have been freed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type JournalEntry, type JournalPlan, type JournalRecord, replay } from "../../store/journal/entry.ts";
import { Journal } from "../../store/journal/journal.ts";
import { partialCall } from "../testing/partial-call.ts";
import { withoutReusedAddresses } from "./reused-addresses.ts";

let directory: string;
beforeEach(() => void (directory = mkdtempSync(join(tmpdir(), "plexus-reused-"))));
afterEach(() => rmSync(directory, { recursive: true }));

const records: readonly JournalRecord[] = [{ attached: 0, result: '{"ips":[{"address":"10.0.0.2/24"}]}' }];
const planOf = (containerId: string, begun: string): JournalPlan => ({
  kind: "plexusJournalV1",
  containerId,
  network: "cluster",
  ifname: "eth0",
  netns: "",
  cniArgs: "",
  cniPath: "",
  bootId: "boot",
  begun,
  attachments: [{ network: "pods", ifname: "eth0", source: "default", conflist: "", capabilityArgs: {} }],
});

/** The entry's results in a process that started at 10:00, at 12:00, with another entry that has the same address. */
function resultsOf(begun: string): readonly (string | undefined)[] {
  const journal = new Journal(directory);
  expect(journal.begin(planOf("other", "2026-01-01T11:00:00Z"), records)).toMatchObject({ ok: true });
  const clock = { date: () => new Date("2026-01-01T12:00:00Z") };
  const call = partialCall({ journal, clock, bootId: "boot", startedAt: new Date("2026-01-01T10:00:00Z") });
  const entry: JournalEntry = replay(planOf("own", begun), records);
  return withoutReusedAddresses(call, entry).progress.map(({ result }) => result);
}

test.each([
  ["of this process", "2026-01-01T11:00:00Z", true],
  ["of an earlier process", "2026-01-01T09:00:00Z", false],
  ["of an earlier process whose clock was ahead", "2026-01-02T00:00:00Z", false],
  ["without a readable time", "yesterday", false],
])("the result of an entry %s", (_, begun, isUsed) => {
  expect(resultsOf(begun).map((result) => result !== undefined)).toEqual([isUsed]);
});
