import { expect, test } from "vitest";
import { withAttachment, withoutAttachment } from "./changed-entry.ts";
import { type JournalPlan, type JournalRecord, replay } from "./entry.ts";
import { entryText, parseEntry } from "./entry-file.ts";

const planned = (network: string, ifname: string) => ({ network, ifname, source: network, conflist: "{}", capabilityArgs: {} });
const plan: JournalPlan = {
  kind: "plexusJournalV1",
  containerId: "c1",
  network: "cluster",
  ifname: "eth0",
  netns: "/run/netns/a",
  cniArgs: "",
  cniPath: "/opt/cni/bin",
  bootId: "b",
  attachments: [planned("pods", "eth0"), planned("storage", "net1")],
};
const passedOver = { step: 1, cleaned: true, code: 11, msg: "busy" };
const records: readonly JournalRecord[] = [
  { attached: 0, result: "{}" },
  { passedOver: 0, ...passedOver },
  { attached: 1, result: '{"ips":[]}' },
  { closed: true },
];

test("an entry with a further attachment keeps the progress of the others, and stays complete with its status due", () => {
  const content = withAttachment(replay(plan, records), planned("fast", "net2"));
  const entry = replay(content.plan, content.records);
  expect(entry.progress).toEqual([
    { attempted: true, undone: false, result: "{}", passedOver: [passedOver] },
    { attempted: true, undone: false, result: '{"ips":[]}' },
    { attempted: true, undone: false },
  ]);
  expect([entry.closed, entry.statusDue, entry.plan.attachments[2]?.ifname]).toEqual([true, true, "net2"]);
  // Written and read again it is the same entry.
  expect(parseEntry("path", entryText(content.plan, content.records), plan)).toEqual({ ok: true, value: entry });
});

test("an entry without an attachment has the progress of the others at their new places", () => {
  const three = withAttachment(replay(plan, records), planned("fast", "net2"));
  const attached = replay(three.plan, [...three.records, { attached: 2, result: '{"fast":1}' }, { detaching: 1 }]);
  expect(attached.progress[1]?.detaching).toBe(true);
  const content = withoutAttachment(attached, 1);
  const entry = replay(content.plan, content.records);
  expect(entry.plan.attachments.map(({ ifname }) => ifname)).toEqual(["eth0", "net2"]);
  expect(entry.progress.map(({ result, detaching }) => [result, detaching])).toEqual([
    ["{}", undefined],
    ['{"fast":1}', undefined],
  ]);
});

test("a written status is no longer due", () => {
  expect(replay(plan, [...records, { status: "due" }, { status: "written" }]).statusDue).toBe(undefined);
});
