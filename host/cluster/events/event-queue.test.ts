import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { fakeTimersClock } from "../../system/testing/virtual-clock.ts";
import type { ApiObject, ObjectAnswer } from "../kube/api-objects.ts";
import { EventQueue } from "./event-queue.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] }));
afterEach(() => void vi.useRealTimers());

const away: ObjectAnswer = { kind: "failed", why: "ECONNREFUSED", pauseMs: undefined };
const taken: ObjectAnswer = { kind: "object", object: {} };

const after = async (ms: number): Promise<void> => void (await vi.advanceTimersByTimeAsync(ms));

/** A queue, and an API server whose answers a test decides. */
function stage(maxWaiting?: number, keep?: (events: readonly object[]) => void) {
  const requests: string[] = [];
  const ends: string[] = [];
  const lines: string[] = [];
  let decide: ((message: string) => ObjectAnswer) | undefined;
  const create = async (path: string, object: ApiObject): Promise<ObjectAnswer> => {
    const message = String(object["message"]);
    requests.push(`${path.split("/")[4]} ${message}`);
    return decide?.(message) ?? taken;
  };
  const queue = new EventQueue({
    objects: { create },
    clock: fakeTimersClock,
    warn: (line) => lines.push(line),
    ended: (end) => ends.push(end),
    random: () => 1,
    ...(maxWaiting === undefined ? {} : { maxWaiting }),
    ...(keep === undefined ? {} : { keep }),
  });
  const add = (message: string, namespace = "shop"): void =>
    queue.add(
      { kind: "Pod", eventNamespace: namespace, name: "web", uid: "u" },
      { reason: "InterfaceLost", message, type: "Warning" },
      fakeTimersClock.date(),
    );
  return { queue, requests, ends, lines, add, answers: (next: (message: string) => ObjectAnswer) => (decide = next) };
}

test("WA-01: Events of a time in which the API server is away are sent once when it is back, with pauses that grow to 30 s", async () => {
  const { queue, requests, ends, lines, add, answers } = stage();
  answers(() => away);
  for (const message of ["net1 is gone", "net2 is gone", "net1 is gone"]) add(message);
  await after(300_000);
  expect([queue.waiting, ends, lines]).toEqual([2, [], []]);
  // Doubled pauses from 100 ms: some 9 within 51 s, then two each minute, for each of both Events at most.
  expect(requests.length).toBeGreaterThan(10);
  expect(requests.length).toBeLessThan(50);
  answers(() => taken);
  const before = requests.length;
  await after(30_000);
  expect(requests.slice(before).toSorted()).toEqual(["shop net1 is gone", "shop net2 is gone"]);
  expect([queue.waiting, ends, lines]).toEqual([0, ["sent", "sent"], []]);
});

test("an Event that the API server has already counts as sent; a refused one is not tried again, and the log says why", async () => {
  const { queue, requests, ends, lines, add, answers } = stage();
  answers((message) =>
    message === "twice" ? { kind: "conflict", why: "HTTP 409" } : { kind: "refused", status: 403, why: "HTTP 403" },
  );
  for (const message of ["twice", "forbidden"]) add(message);
  await after(60_000);
  expect([queue.waiting, requests.length, ends.toSorted()]).toEqual([0, 2, ["refused", "sent"]]);
  expect(lines).toEqual(["the Event InterfaceLost of Pod web is lost: HTTP 403"]);
});

test("an Event that the API server never takes does not hold up the others, and is dropped after an hour", async () => {
  const { queue, ends, lines, add, answers } = stage();
  answers((message) => (message === "webhook" ? { kind: "failed", why: "HTTP 500", pauseMs: undefined } : taken));
  add("webhook");
  for (let minute = 0; minute < 59; minute++) {
    add(`minute ${minute}`);
    await after(60_000);
  }
  expect([queue.waiting, ends.length, new Set(ends)]).toEqual([1, 59, new Set(["sent"])]);
  await after(120_000);
  expect([queue.waiting, ends.slice(59), lines]).toEqual([
    0,
    ["dropped"],
    ["the Event InterfaceLost of Pod web is lost: HTTP 500"],
  ]);
});

test("a full queue drops the oldest Event of the namespace with the most, and logs once a minute how many", async () => {
  const { queue, requests, ends, lines, add, answers } = stage(10);
  answers(() => away);
  add("first", "other");
  for (let serial = 0; serial < 40; serial++) add(`of the crowd ${serial}`, "crowd");
  expect([queue.waiting, ends]).toEqual([10, Array.from({ length: 31 }, () => "dropped")]);
  expect(lines).toEqual([expect.stringContaining("more than 10 Events wait for the API server")]);
  await after(60_000);
  expect(lines.slice(1)).toEqual([expect.stringMatching(/ is lost: .*; and 29 more Events are lost$/u)]);
  answers(() => taken);
  const before = requests.length;
  await after(60_000);
  const last = Array.from({ length: 9 }, (_, index) => `crowd of the crowd ${31 + index}`);
  expect(requests.slice(before).toSorted()).toEqual([...last, "other first"].toSorted());
});

test("the end waits for Events that can be sent, and drops those of an API server that is away", async () => {
  const one = stage();
  one.add("at the end");
  const stopped = one.queue.stop(2_000);
  await after(1);
  await stopped;
  expect([one.ends, one.lines]).toEqual([["sent"], []]);
  const other = stage();
  other.answers(() => away);
  for (const message of ["a", "b", "c"]) other.add(message);
  await after(1_000);
  const before = other.requests.length;
  const ended = other.queue.stop(2_000);
  await after(1);
  await ended;
  other.add("late");
  expect([other.ends, other.queue.waiting]).toEqual([["dropped", "dropped", "dropped"], 0]);
  // One try of each worker at most.
  expect(other.requests.length - before).toBeLessThanOrEqual(4);
  expect(other.lines).toEqual([
    "the Event InterfaceLost of Pod web is lost: the program ends",
    "the Event InterfaceLost of Pod web is lost: the program ends; and 1 more Events are lost",
  ]);
});

test("the end sends the Events of a pause if the API server is back", async () => {
  const { queue, ends, lines, add, answers } = stage();
  answers(() => away);
  for (const message of ["a", "b", "c"]) add(message);
  await after(60_000);
  answers(() => taken);
  const stopped = queue.stop(2_000);
  await after(1);
  await stopped;
  expect([ends, lines, queue.waiting]).toEqual([["sent", "sent", "sent"], [], 0]);
});

test("Events that wait at the end are kept for the next program, which sends them with their own times, and drops those of an hour ago", async () => {
  const kept: object[][] = [];
  const first = stage(undefined, (events) => void kept.push([...events]));
  first.answers(() => away);
  for (const message of ["a", "b"]) first.add(message);
  await after(10_000);
  const requests = first.requests.length;
  await first.queue.stop(2_000);
  expect([kept.length, first.requests.length, first.ends]).toEqual([1, requests, []]);
  expect(first.lines).toEqual([expect.stringMatching(/^2 Events wait for the API server: the next daemon/u)]);
  const next = stage();
  const [events = []] = kept;
  next.queue.restore([
    ...events,
    { ...events[0], metadata: { namespace: "shop", name: "old" }, firstTimestamp: "1969-01-01T00:00:00Z" },
  ]);
  await after(1);
  expect([next.requests.toSorted(), next.ends]).toEqual([
    ["shop a", "shop b"],
    ["sent", "sent"],
  ]);
  // A program without a word of the API server keeps nothing that it can send.
  const other = stage(undefined, (more) => void kept.push([...more]));
  other.add("c");
  const stopped = other.queue.stop(2_000);
  await after(1);
  await stopped;
  expect([kept.length, other.ends]).toEqual([1, ["sent"]]);
});

test.each([[{}], [{ metadata: 7 }], [{ metadata: { name: "x" }, firstTimestamp: "never" }], [[]]])(
  "a kept Event that is damaged is left out: %j",
  async (damaged) => {
    const { queue, ends } = stage();
    queue.restore([damaged]);
    await after(1);
    expect(ends).toEqual([]);
  },
);
