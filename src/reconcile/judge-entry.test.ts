import { describe, expect, test } from "vitest";
import { type Circumstances, type EntryFacts, judgeEntry } from "./judge-entry.ts";

const minute = 60_000;
const now = 1_000 * minute;
const grace = 5 * minute;

const entry: EntryFacts = {
  bootId: "this",
  netns: "/run/netns/a",
  begunMs: now - 60 * minute,
  touchedMs: now - 60 * minute,
  closed: true,
};
const alive: Circumstances = {
  bootId: "this",
  bootedMs: now - 100 * minute,
  nowMs: now,
  seen: "there",
  goneMs: 0,
  quietMs: 0,
  sighted: true,
  graceMs: grace,
};
const gone: Circumstances = { ...alive, seen: "gone", goneMs: grace };

describe("RT-02 an entry of this boot", () => {
  test.each<[string, Partial<EntryFacts>, Circumstances, unknown]>([
    ["whose namespace is there is live", {}, alive, { what: "live" }],
    ["whose namespace was there and is gone for the grace period is stale", {}, gone, { what: "stale", why: "namespace-gone" }],
    [
      "that was written to when the clock was ahead is stale once it was as it is for the grace period",
      { touchedMs: now + 1_000_000 * minute },
      { ...gone, quietMs: grace },
      { what: "stale", why: "namespace-gone" },
    ],
    [
      "that was written to when the clock was ahead is not before",
      { touchedMs: now + 1 },
      { ...gone, quietMs: grace - 1 },
      { what: "doubtful", why: "grace" },
    ],
    ["whose namespace is gone for less is not", {}, { ...gone, goneMs: grace - 1 }, { what: "doubtful", why: "grace" }],
    [
      "whose namespace is gone at the first look is not, however short the grace period is",
      {},
      { ...gone, goneMs: 0, graceMs: 0 },
      { what: "doubtful", why: "grace" },
    ],
    [
      "that was written to within the grace period is not",
      { touchedMs: now - grace + 1 },
      gone,
      { what: "doubtful", why: "grace" },
    ],
    [
      "whose namespace hands don't see that never saw one that the runtime made is not",
      {},
      { ...gone, sighted: false, goneMs: 1_000 * minute },
      { what: "doubtful", why: "unsighted" },
    ],
    ["whose namespace can't be looked at is not", {}, { ...gone, seen: "unknown" }, { what: "doubtful", why: "unseen" }],
    [
      "whose path has a file and no namespace is not: the runtime's mount may not have come to the hands",
      {},
      { ...gone, seen: "other" },
      { what: "doubtful", why: "no-namespace" },
    ],
    [
      "whose namespace was named by a process number is not",
      { netns: "/proc/4711/ns/net" },
      gone,
      { what: "doubtful", why: "process-path" },
    ],
    [
      "whose ADD broke off while its namespace is there is not",
      { closed: false },
      alive,
      { what: "doubtful", why: "unfinished" },
    ],
    ["whose ADD may still be under way is live", { closed: false, touchedMs: now - 1 }, alive, { what: "live" }],
    [
      "whose ADD broke off and whose namespace is gone is stale",
      { closed: false },
      gone,
      { what: "stale", why: "namespace-gone" },
    ],
    ["that a DEL put together is stale after the grace period", { netns: "" }, alive, { what: "stale", why: "deleted" }],
    ["that a DEL put together just now is not", { netns: "", touchedMs: now - 1 }, alive, { what: "doubtful", why: "grace" }],
  ])("%s", (_, facts, circumstances, verdict) => {
    expect(judgeEntry({ ...entry, ...facts }, circumstances)).toEqual(verdict);
  });
});

describe("RT-10 an entry of another boot", () => {
  const earlier: EntryFacts = { ...entry, bootId: "earlier", begunMs: now - 200 * minute };
  test.each<[string, Partial<EntryFacts>, Partial<Circumstances>, unknown]>([
    ["that began before this one is stale, whatever stands under its path now", {}, {}, { what: "stale", why: "earlier-boot" }],
    ["is stale without anybody to look, too", {}, { seen: "unknown", sighted: false }, { what: "stale", why: "earlier-boot" }],
    [
      "that was written to since, by a DEL that failed, is stale all the same",
      { touchedMs: now },
      {},
      { what: "stale", why: "earlier-boot" },
    ],
    [
      "that began since this one did is not: the boot id may be a container's own",
      { begunMs: now - 99 * minute },
      {},
      { what: "doubtful", why: "boot-unclear" },
    ],
    [
      "that began, by a clock that was ahead, since this one did is stale once its namespace is gone as that of this boot's must be",
      { begunMs: now + 1_000_000 * minute },
      { seen: "gone", goneMs: grace },
      { what: "stale", why: "namespace-gone" },
    ],
    [
      "that began since this one did is not where the hands are not known to see namespaces",
      { begunMs: now + 1_000_000 * minute },
      { seen: "gone", goneMs: grace, sighted: false },
      { what: "doubtful", why: "unsighted" },
    ],
  ])("%s", (_, facts, circumstances, verdict) => {
    expect(judgeEntry({ ...earlier, ...facts }, { ...alive, ...circumstances })).toEqual(verdict);
  });

  test.each(["", "earlier"])("is none where either boot id is not known (%j)", (bootId) => {
    const unknown = { ...alive, bootId: bootId === "" ? "this" : "" };
    expect(judgeEntry({ ...earlier, bootId }, unknown)).toEqual({ what: "live" });
  });
});
