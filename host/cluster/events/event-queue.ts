// Kubernetes Events of a program that runs for long. An Event waits while the API server is away, is tried again with growing pauses, and is given up after the
// time for which the API server itself keeps Events. The queue is bounded.

import { setTimeout as sleep } from "node:timers/promises";
import { isJsonObject } from "../../../src/json/document.ts";
import { backoffMs, pauseBefore } from "../../../src/kube/backoff.ts";
import { type EventContent, eventsPath, eventText, type InvolvedObject } from "../../../src/kube/event.ts";
import { shortHash } from "../../system/ids.ts";
import type { Clock } from "../../system/clock.ts";
import type { ObjectCreator } from "../kube/api-objects.ts";
import { type WorkOutcome, WorkQueue } from "../work/work-queue.ts";
import { LossLog } from "./loss-log.ts";

/** The end of an Event. `refused`: the API server does not take it. `dropped`: the queue was full, or the Event waited for too long. */
export type EventEnd = "sent" | "refused" | "dropped";

/** An Event that waits. */
interface WaitingEvent {
  readonly path: string;
  readonly namespace: string;
  /** The Event in messages. */
  readonly title: string;
  readonly object: Readonly<Record<string, unknown>>;
  /** The time of its addition in ms of a clock that never goes back. */
  readonly addedAt: number;
  /** Failures of this Event. */
  failures: number;
}

/** Settings of a queue. */
export interface EventQueueInit {
  readonly objects: ObjectCreator;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
  /** Called at the end of each Event. */
  readonly ended: (end: EventEnd) => void;
  /** Keeps the Events that wait when the program ends, for `restore` of the next one. Undefined: they are dropped. */
  readonly keep?: (events: readonly object[]) => void;
  /** Maximum Events that wait; default 1,024, some 1 MiB. */
  readonly maxWaiting?: number;
  readonly random?: () => number;
}

/** Requests at the same time. */
const workers = 4;
/** Longest pause while the API server takes no Event, in ms. */
const maxPauseMs = 30_000;
/** Longest wait of an Event, in ms: API servers keep Events for an hour by default. */
const maxAgeMs = 3_600_000;

/** The Events of one program for one API server. */
export class EventQueue {
  readonly #init: EventQueueInit;
  readonly #maxWaiting: number;
  readonly #random: () => number;
  /** By path and name, the oldest first. */
  readonly #events = new Map<string, WaitingEvent>();
  readonly #work: WorkQueue;
  readonly #stopped = new AbortController();
  readonly #losses: LossLog;
  /** Failures since the last Event that was sent. */
  #failures = 0;
  /** The end of the pause after a failure, in ms of a clock that never goes back. */
  #pausedUntil = 0;
  #empty: (() => void) | undefined;
  /** Whether the program ends while the API server is away: the first failure then ends the wait. */
  #isLastTry = false;

  constructor(init: EventQueueInit) {
    this.#init = init;
    this.#maxWaiting = init.maxWaiting ?? 1_024;
    this.#random = init.random ?? Math.random;
    this.#losses = new LossLog(init.clock, init.warn);
    this.#work = new WorkQueue((key) => this.#send(key), init.clock, workers);
    void this.#work.run(this.#stopped.signal);
  }

  /** The Events that wait. */
  get waiting(): number {
    return this.#events.size;
  }

  /** Adds an Event of the time `at`. The same Event of the same minute is sent once. Never fails. */
  add(target: InvolvedObject, content: EventContent, at: Date): void {
    this.#add(JSON.parse(eventText(target, content, at, shortHash)), 0);
  }

  /** Adds the Events that an earlier program has kept, with their own times. Never fails. */
  restore(events: readonly object[]): void {
    const now = this.#init.clock.date().getTime();
    for (const each of events) {
      const ageMs = Math.max(0, now - Date.parse(String(Reflect.get(each, "firstTimestamp"))));
      if (ageMs < maxAgeMs) this.#add(each, ageMs);
    }
  }

  /**
   * Waits until all Events are sent, at most `maxMs`. The others are kept; without `keep` they are dropped. An API server that is away gets one more try, and none
   * where Events are kept.
   */
  async stop(maxMs: number): Promise<void> {
    const { keep, warn } = this.#init;
    if (this.#events.size > 0 && (this.#failures === 0 || keep === undefined)) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#empty = resolve;
      this.#isLastTry = this.#failures > 0;
      this.#pausedUntil = 0;
      for (const key of this.#events.keys()) this.#work.add(key);
      await Promise.race([promise, sleep(maxMs, undefined, { ref: false })]);
    }
    this.#stopped.abort();
    if (keep !== undefined && this.#events.size > 0) {
      keep([...this.#events.values()].map(({ object }) => object));
      warn(`${this.#events.size} Events wait for the API server: the next daemon of this state directory sends them`);
      this.#events.clear();
    }
    for (const [key, event] of this.#events) this.#end(key, event, "dropped", "the program ends");
    this.#losses.end();
  }

  #add(object: unknown, ageMs: number): void {
    if (!isJsonObject(object) || this.#stopped.signal.aborted) return;
    const { metadata, involvedObject, reason } = object;
    const [namespace, name]: readonly unknown[] = ["namespace", "name"].map((key) => Reflect.get(Object(metadata), key));
    if (typeof namespace !== "string" || typeof name !== "string") return;
    const path = eventsPath(namespace);
    const key = `${path}/${name}`;
    if (this.#events.has(key)) return;
    if (this.#events.size >= this.#maxWaiting) this.#dropOldest();
    const [kind, target] = ["kind", "name"].map((each) => String(Reflect.get(Object(involvedObject), each)));
    const title = `the Event ${String(reason)} of ${kind} ${target}`;
    const addedAt = this.#init.clock.now() - ageMs;
    this.#events.set(key, { path, namespace, title, object, addedAt, failures: 0 });
    this.#work.add(key);
  }

  async #send(key: string): Promise<WorkOutcome> {
    const event = this.#events.get(key);
    if (event === undefined) return { kind: "done" };
    const leftMs = this.#pausedUntil - this.#init.clock.now();
    if (leftMs > 0) return { kind: "again", afterMs: leftMs };
    const answer = await this.#init.objects.create(event.path, event.object);
    // The Event may have been dropped meanwhile.
    if (!this.#events.has(key)) return { kind: "done" };
    if (answer.kind !== "failed") {
      this.#failures = 0;
      // A conflict means that the API server has this minute's Event already.
      const isSent = answer.kind === "object" || answer.kind === "conflict";
      this.#end(key, event, isSent ? "sent" : "refused", isSent ? "" : answer.why);
      return { kind: "done" };
    }
    if (this.#isLastTry) this.#empty?.();
    if (this.#init.clock.now() - event.addedAt >= maxAgeMs) {
      this.#end(key, event, "dropped", answer.why);
      return { kind: "done" };
    }
    return { kind: "again", afterMs: this.#pause(event, answer.pauseMs ?? 0) };
  }

  /**
   * Begins a pause of all Events after a failure; answers that of this Event in ms. An Event that the API server never takes, such as for a webhook of its
   * namespace, holds up the others for a moment only. Requests that fail together count as one failure.
   */
  #pause(event: WaitingEvent, serverMs: number): number {
    const now = this.#init.clock.now();
    const ownMs = backoffMs(event.failures++, this.#random, maxPauseMs);
    if (this.#pausedUntil <= now) {
      this.#pausedUntil = now + pauseBefore(this.#failures++, this.#random, serverMs, maxPauseMs);
    }
    return Math.max(ownMs, serverMs, this.#pausedUntil - now);
  }

  /** Makes place for another Event: the namespace with the most Events loses its oldest one, so that no tenant displaces the others. */
  #dropOldest(): void {
    const counts = new Map<string, number>();
    for (const { namespace } of this.#events.values()) counts.set(namespace, (counts.get(namespace) ?? 0) + 1);
    const most = Math.max(...counts.values());
    const found = [...this.#events].find(([, { namespace }]) => counts.get(namespace) === most);
    if (found !== undefined) this.#end(...found, "dropped", `more than ${this.#maxWaiting} Events wait for the API server`);
  }

  #end(key: string, { title }: WaitingEvent, end: EventEnd, why: string): void {
    this.#events.delete(key);
    this.#init.ended(end);
    if (end !== "sent") this.#losses.add(title, why);
    if (this.#events.size === 0) this.#empty?.();
  }
}
