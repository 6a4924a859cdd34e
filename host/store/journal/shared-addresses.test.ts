import { describe, expect, test } from "vitest";
import { type JournalEntry, type JournalRecord, replay } from "./entry.ts";
import { withoutSharedResults } from "./shared-addresses.ts";

/** An entry of one container whose attachments have these results. */
function entryOf(
  containerId: string,
  results: readonly (string | object | undefined)[],
  undone: readonly number[] = [],
): JournalEntry {
  const attachments = results.map((_, index) => ({
    network: "pods",
    ifname: `net${index}`,
    source: "default",
    conflist: "",
    capabilityArgs: {},
  }));
  const plan = {
    kind: "plexusJournalV1",
    containerId,
    network: "cluster",
    ifname: "eth0",
    netns: "",
    cniArgs: "",
    cniPath: "",
    bootId: "",
    attachments,
  } as const;
  const attached = results.flatMap((result, index): readonly JournalRecord[] =>
    result === undefined ? [] : [{ attached: index, result: typeof result === "string" ? result : JSON.stringify(result) }],
  );
  return replay(plan, [...attached, ...undone.map((index) => ({ undone: index }))]);
}

const result = (...addresses: string[]): object => ({ ips: addresses.map((address) => ({ address })) });
const hasResults = (entry: JournalEntry, others: readonly JournalEntry[]): readonly boolean[] =>
  withoutSharedResults(entry, entry.plan, others).progress.map((each) => each.result !== undefined);

describe("results of an abandoned attachment", () => {
  test("a result is removed if another entry has its address, and other results stay", () => {
    const entry = entryOf("old", [result("10.0.0.2/24"), result("10.1.0.2/24")]);
    expect(hasResults(entry, [entryOf("new", [result("10.0.0.2/16")])])).toEqual([false, true]);
  });

  test("a single shared address suffices to remove a result", () => {
    const entry = entryOf("old", [result("10.0.0.2/24", "fd00::2/64")]);
    expect(hasResults(entry, [entryOf("new", [result("10.9.0.9/24", "fd00::2/64")])])).toEqual([false]);
  });

  test("an attachment without its result keeps its marks attempted and undone", () => {
    const entry = entryOf("old", [result("10.0.0.2/24"), result("10.0.0.2/24")]);
    const [first] = withoutSharedResults(entry, entry.plan, [entryOf("new", [result("10.0.0.2/24")])]).progress;
    expect(first).toEqual({ attempted: true, undone: false });
  });

  test("an entry without a shared address is returned unchanged", () => {
    const entry = entryOf("old", [result("10.0.0.2/24")]);
    expect(withoutSharedResults(entry, entry.plan, [entryOf("new", [result("10.0.0.20/24")])])).toBe(entry);
  });

  test("the addresses in the entry itself do not count", () => {
    const entry = entryOf("old", [result("10.0.0.2/24")]);
    expect(hasResults(entry, [entryOf("old", [result("10.0.0.2/24")])])).toEqual([true]);
  });

  test("the addresses of an undone attachment do not count", () => {
    const entry = entryOf("old", [result("10.0.0.2/24")]);
    expect(hasResults(entry, [entryOf("new", [result("10.0.0.2/24")], [0])])).toEqual([true]);
    expect(hasResults(entryOf("old", [result("10.0.0.2/24")], [0]), [entryOf("new", [result("10.0.0.2/24")])])).toEqual([true]);
  });

  test("addresses of results before 0.3.0 count, of both families", () => {
    const older = { ip4: { ip: "10.0.0.2/24" }, ip6: { ip: "fd00::2/64" } };
    for (const address of ["10.0.0.2/24", "fd00::2/64"]) {
      expect(hasResults(entryOf("old", [older]), [entryOf("new", [result(address)])])).toEqual([false]);
    }
    expect(hasResults(entryOf("old", [{ ip4: "10.0.0.2/24", ip6: null }]), [entryOf("new", [result("10.0.0.2/24")])])).toEqual([
      true,
    ]);
  });

  test.each(["", "[]", "null", '{"ips":{}}', '{"ips":[7,{"address":8}]}', '{"ips":[{"address":"10.0.0.2/24"}'])(
    "the unreadable result %j has no addresses",
    (text) => {
      const other = entryOf("new", [result("10.0.0.2/24")]);
      expect(hasResults(entryOf("old", [text]), [other])).toEqual([true]);
      expect(hasResults(entryOf("old", [result("10.0.0.2/24")]), [entryOf("new", [text])])).toEqual([true]);
    },
  );

  test("other entries are not read for an entry without addresses", () => {
    const unread = {
      [Symbol.iterator]: (): Iterator<JournalEntry> => {
        throw new Error("the other entries were read");
      },
    };
    const entry = entryOf("old", [undefined]);
    expect(withoutSharedResults(entry, entry.plan, unread)).toBe(entry);
  });
});
