import { describe, expect, test } from "vitest";
import { type Circumstances, type EntryFacts, judgeEntry } from "./judge-entry.ts";

const minute = 60_000;
const now = 1_000 * minute;
const grace = 5 * minute;

const entry: EntryFacts = {
  bootId: "this",
  netns: "/run/netns/a",
  begunAt: now - 60 * minute,
  touchedAt: now - 60 * minute,
  closed: true,
};
const alive: Circumstances = {
  bootId: "this",
  bootedAt: now - 100 * minute,
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
    ["whose namespace exists is live", {}, alive, { what: "live" }],
    ["whose namespace has been gone for the grace period is stale", {}, gone, { what: "stale", why: "namespace-gone" }],
    [
      "with a last write in the future is stale if it was unchanged for the grace period",
      { touchedAt: now + 1_000_000 * minute },
      { ...gone, quietMs: grace },
      { what: "stale", why: "namespace-gone" },
    ],
    [
      "with a last write in the future is not stale if it was unchanged for less",
      { touchedAt: now + 1 },
      { ...gone, quietMs: grace - 1 },
      { what: "doubtful", why: "grace" },
    ],
    [
      "whose DEL failed a grace period ago is stale at the second look after a restart",
      { failedSince: now - grace },
      { ...gone, goneMs: 1 },
      { what: "stale", why: "namespace-gone" },
    ],
    [
      "whose DEL failed a grace period ago is not stale at the first look",
      { failedSince: now - grace },
      { ...gone, goneMs: 0 },
      { what: "doubtful", why: "grace" },
    ],
    [
      "whose DEL failed within the grace period is not stale",
      { failedSince: now - grace + 1 },
      { ...gone, goneMs: 1 },
      { what: "doubtful", why: "grace" },
    ],
    [
      "that was never attached needs no grace period, because no pod runs with it",
      { closed: false, neverAttached: true, touchedAt: now },
      { ...gone, goneMs: 0, sighted: false },
      { what: "stale", why: "namespace-gone" },
    ],
    [
      "that was never attached is left to the runtime while its namespace exists",
      { closed: false, neverAttached: true },
      alive,
      { what: "doubtful", why: "unfinished" },
    ],
    [
      "whose namespace has been gone for less is not stale",
      {},
      { ...gone, goneMs: grace - 1 },
      { what: "doubtful", why: "grace" },
    ],
    [
      "whose namespace is gone at the first look is not stale, even without a grace period",
      {},
      { ...gone, goneMs: 0, graceMs: 0 },
      { what: "doubtful", why: "grace" },
    ],
    [
      "that was written within the grace period is not stale",
      { touchedAt: now - grace + 1 },
      gone,
      { what: "doubtful", why: "grace" },
    ],
    [
      "whose namespace is gone for an agent that never saw a namespace of the runtime is not stale",
      {},
      { ...gone, sighted: false, goneMs: 1_000 * minute },
      { what: "doubtful", why: "unsighted" },
    ],
    ["whose namespace cannot be looked at is not stale", {}, { ...gone, seen: "unknown" }, { what: "doubtful", why: "unseen" }],
    [
      "whose path is not a namespace is not stale: the runtime's mount may not be propagated to the agent",
      {},
      { ...gone, seen: "other" },
      { what: "doubtful", why: "no-namespace" },
    ],
    [
      "whose namespace was named by a process id is not stale",
      { netns: "/proc/4711/ns/net" },
      gone,
      { what: "doubtful", why: "process-path" },
    ],
    [
      "whose ADD was interrupted while its namespace exists is not stale",
      { closed: false },
      alive,
      { what: "doubtful", why: "unfinished" },
    ],
    ["whose ADD may still be running is live", { closed: false, touchedAt: now - 1 }, alive, { what: "live" }],
    [
      "whose ADD was interrupted and whose namespace is gone is stale",
      { closed: false },
      gone,
      { what: "stale", why: "namespace-gone" },
    ],
    [
      "that a DEL without a journal made is stale after the grace period",
      { netns: "" },
      alive,
      { what: "stale", why: "deleted" },
    ],
    [
      "that a DEL without a journal made just now is not stale",
      { netns: "", touchedAt: now - 1 },
      alive,
      { what: "doubtful", why: "grace" },
    ],
  ])("%s", (_, facts, circumstances, verdict) => {
    expect(judgeEntry({ ...entry, ...facts }, circumstances)).toEqual(verdict);
  });
});

describe("RT-10 an entry of another boot", () => {
  const earlier: EntryFacts = { ...entry, bootId: "earlier", begunAt: now - 200 * minute };
  test.each<[string, Partial<EntryFacts>, Partial<Circumstances>, unknown]>([
    ["that began before this boot is stale, for any file at its path", {}, {}, { what: "stale", why: "earlier-boot" }],
    [
      "that began before this boot is stale also without an agent",
      {},
      { seen: "unknown", sighted: false },
      { what: "stale", why: "earlier-boot" },
    ],
    ["that a failed DEL has written in this boot is stale, too", { touchedAt: now }, {}, { what: "stale", why: "earlier-boot" }],
    [
      "that began in this boot is not stale: the boot id may be a container's own",
      { begunAt: now - 99 * minute },
      {},
      { what: "doubtful", why: "boot-unclear" },
    ],
    [
      "that began in the future is stale under the conditions for an entry of this boot",
      { begunAt: now + 1_000_000 * minute },
      { seen: "gone", goneMs: grace },
      { what: "stale", why: "namespace-gone" },
    ],
    [
      "that began in the future is not stale if the agent never saw a namespace of the runtime",
      { begunAt: now + 1_000_000 * minute },
      { seen: "gone", goneMs: grace, sighted: false },
      { what: "doubtful", why: "unsighted" },
    ],
  ])("%s", (_, facts, circumstances, verdict) => {
    expect(judgeEntry({ ...earlier, ...facts }, { ...alive, ...circumstances })).toEqual(verdict);
  });

  test.each(["", "earlier"])("is not from an earlier boot if one boot id is unknown (%j)", (bootId) => {
    const unknown = { ...alive, bootId: bootId === "" ? "this" : "" };
    expect(judgeEntry({ ...earlier, bootId }, unknown)).toEqual({ what: "live" });
  });
});
