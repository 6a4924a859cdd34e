// Holds a collection of the API in memory: lists it once, then watches it from the list's version on.

import { CollectionList, listMs, type NotServed, refused } from "./collection-list.ts";
import type { Connection } from "./connection.ts";
import type { CredentialSource } from "./credentials.ts";
import type { StoredObject } from "./object-store.ts";
import { type ObjectHandling, ReflectedObjects } from "./reflected-objects.ts";
import { maxSilenceMs, watch } from "./watch-stream.ts";
import type { Clock } from "../../system/clock.ts";
import { pause } from "../../system/pause.ts";
import { pauseBefore } from "../../../src/kube/backoff.ts";
import { readListPage, readWatchEvent } from "../../../src/kube/object-list.ts";

/** Settings of a reflector. */
export interface ReflectorInit<T> extends ObjectHandling<T> {
  /** The collection's name in messages: `pods of node n1`. */
  readonly what: string;
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  /** The collection's path. */
  readonly path: string;
  /** Further parameters, e.g. a fieldSelector. */
  readonly query: Readonly<Record<string, string>>;
  readonly metadataOnly: boolean;
  /**
   * Whether a list must contain everything that was written before the request. If not, the server's cache suffices, which spares
   * the server a search of all objects in its store.
   */
  readonly consistent: boolean;
  /**
   * Whether a collection that the server does not have counts as empty: its CustomResourceDefinition was removed. By default the
   * objects last seen are kept.
   */
  readonly absentIsEmpty?: boolean;
  /** The consequence while the collection is not watched; by default: "each call reads its objects from the API". */
  readonly whileNotWatched?: string;
  /** Warnings for the administrator; a repeated warning is logged once until the watch has worked again. */
  readonly warn: (text: string) => void;
  readonly random?: () => number;
  /** Objects in a page; a page that is too large is requested again in smaller ones. */
  readonly pageSize?: number;
  /** Milliseconds after which a silent watch no longer counts as live. */
  readonly silenceMs?: number;
}

/** A reflector's state. */
export interface ReflectorState {
  readonly what: string;
  /** Whether lookups may use the held objects. */
  readonly live: boolean;
  readonly objects: number;
  readonly lists: number;
  readonly watches: number;
  /** The reason why the reflector is not live; empty if it is live. */
  readonly problem: string;
}

/** The duration of a watch, after which it is renewed, so that servers can distribute their watchers. */
const watchSeconds = { min: 300, spread: 300 };

const maxPauseMs = 30_000;
/**
 * The maximum pause after refusals that only an administrator can remove (missing rights, a missing definition), unless the
 * server was just started.
 */
const maxRefusedPauseMs = 60_000;
/**
 * Changes before the start of a watch are sent right after it opens. Only after this time a watch counts as having sent them all.
 */
const catchUpMs = 1_000;
/** A watch that ends sooner counts as a failure: repeating it without a pause would keep a server busy. */
const shortWatchMs = 1_000;

/**
 * Failures in a row, which determine the pause. Only a watch that stayed open resets the count, however it ended. A successful
 * list does not: if each watch is refused, lists would follow one another.
 */
export function failuresAfter(failures: number, openMs: number): number {
  return openMs >= shortWatchMs ? 0 : failures;
}

/** The outcome of a list or a watch. */
type Step = { readonly kind: "done" } | NotServed;

const done: Step = { kind: "done" };

/** One collection of the API in memory. */
export class Reflector<T> {
  readonly #init: ReflectorInit<T>;
  readonly #random: () => number;
  readonly #clock: Clock;
  readonly #silenceMs: number;
  readonly #ended = new AbortController();
  /** Aborts the current watch or pause. */
  #attempt = new AbortController();
  readonly #list: CollectionList;
  readonly #objects: ReflectedObjects<T>;
  /** The start version of the next watch; undefined: a list is needed. */
  #version: string | undefined;
  /** The newest version seen, below which a list must not fall. */
  #newest = "0";
  /** When the watch opened, in milliseconds of a monotonic clock; undefined: no watch is open. */
  #openedAt: number | undefined;
  #heardAt = 0;
  /** Duration of the last watch, in milliseconds. */
  #openMs = 0;
  #lists = 0;
  /** Whether the last list found no such collection, which counts as empty. */
  #absent = false;
  #watches = 0;
  #problem = "not listed yet";
  #lastWarning = "";

  constructor(init: ReflectorInit<T>) {
    this.#init = init;
    this.#random = init.random ?? Math.random;
    this.#clock = init.connection.clock;
    this.#silenceMs = init.silenceMs ?? maxSilenceMs;
    this.#objects = new ReflectedObjects(init);
    this.#list = new CollectionList({ ...init, url: (query) => this.#url(query) });
  }

  get state(): ReflectorState {
    const { what } = this.#init;
    const problem = this.#openedAt === undefined ? this.#problem : "";
    return { what, live: this.live, objects: this.#objects.count, lists: this.#lists, watches: this.#watches, problem };
  }

  /**
   * Whether a watch is open, has caught up, and is not silent for too long. The silence is also measured by wall-clock time: the
   * stream's own timer stands still while the machine is suspended.
   */
  get live(): boolean {
    if (this.#openedAt === undefined || this.#clock.now() - this.#openedAt < catchUpMs) return false;
    // A clock that was set back by more than this cannot tell the silence: the server is asked until the next message.
    return Math.abs(this.#clock.date().getTime() - this.#heardAt) <= this.#silenceMs;
  }

  /** The object; undefined: ask the server, because the object is missing or the held objects are not live. */
  get(namespace: string, name: string): T | undefined {
    return this.live ? this.#objects.get(namespace, name) : undefined;
  }

  /** All stored objects as last seen, whether the reflector is live or not. */
  stored(): Iterable<StoredObject<T>> {
    return this.#objects.all();
  }

  /** The stored object as last seen, whether the reflector is live or not. */
  lastSeen(namespace: string, name: string): T | undefined {
    return this.#objects.get(namespace, name);
  }

  /** Whether all objects were listed at least once, and none of them was too large to be stored. */
  get complete(): boolean {
    return this.listed && this.#objects.refused === 0;
  }

  /** Whether all objects of the namespace were listed at least once, and none of them was too large to be stored: one namespace's objects must not make others' lookups dear. */
  completeIn(namespace: string): boolean {
    return this.listed && !this.#objects.hasRefused(namespace);
  }

  /** Whether all objects were listed at least once. An object that was too large to be stored counts as absent. */
  get listed(): boolean {
    return this.#lists > 0 || this.#absent;
  }

  /** Starts listing and watching; never throws. */
  start(): void {
    void this.#run();
  }

  /** Call after a change of credentials: the held objects are live again once the new credentials have opened a watch. */
  renew(): void {
    this.#openedAt = undefined;
    this.#attempt.abort();
  }

  stop(): void {
    this.#ended.abort();
    this.#attempt.abort();
    this.#openedAt = undefined;
    this.#objects.clear();
  }

  async #run(): Promise<void> {
    const { signal } = this.#ended;
    let failures = 0;
    let broken = false;
    while (!signal.aborted) {
      this.#attempt = new AbortController();
      this.#openMs = 0;
      if (broken && this.#version !== undefined && (await this.#isAhead())) this.#version = undefined;
      const listing = this.#version === undefined;
      const step = await (listing ? this.#listed() : this.#watch());
      broken = step.kind === "failed";
      if (signal.aborted) return;
      failures = this.#attempt.signal.aborted ? 0 : failuresAfter(failures, this.#openMs);
      if (this.#attempt.signal.aborted || (step.kind === "done" && (listing || this.#openMs >= shortWatchMs))) continue;
      if (step.kind === "relist") this.#version = undefined;
      if (step.kind === "failed") this.#fail(step.why);
      const maxMs = step.kind === "failed" && step.patient === true ? maxRefusedPauseMs : maxPauseMs;
      const requested = step.kind === "failed" ? (step.pauseMs ?? 0) : 0;
      await pause(pauseBefore(failures, this.#random, requested, maxMs), this.#attempt.signal);
      failures += 1;
    }
  }

  /**
   * Whether the server's version is older than the start of the next watch, because its store was restored. The server would
   * accept the watch and send nothing until it reaches that version.
   */
  async #isAhead(): Promise<boolean> {
    const { connection, credentials } = this.#init;
    const current = await credentials();
    if (!current.ok) return false;
    const path = this.#url({ limit: "1" });
    const outcome = await connection.request(current.value, { method: "GET", path, metadataOnly: "list" }, listMs);
    const version = outcome.kind === "answer" && outcome.status === 200 ? readListPage(outcome.body)?.version : undefined;
    return version !== undefined && isOlder(version, this.#version ?? "");
  }

  #fail(why: string): void {
    this.#problem = why;
    if (this.#lastWarning === why) return;
    this.#lastWarning = why;
    const { what, whileNotWatched = "each call reads its objects from the API" } = this.#init;
    this.#init.warn(`${what}: not watched, so ${whileNotWatched}: ${why}`);
  }

  async #listed(): Promise<Step> {
    const list = this.#objects.emptyList();
    const listed = await this.#list.all(this.#newest, (item) => {
      list.add(item);
      return true;
    });
    const isAbsent = listed.kind === "failed" && listed.absent === true && this.#init.absentIsEmpty === true;
    if (isAbsent) {
      this.#absent = true;
      this.#objects.replace(this.#objects.emptyList());
    }
    if (listed.kind !== "listed") return listed;
    this.#absent = false;
    this.#version = listed.version;
    this.#newest = listed.version;
    this.#lists += 1;
    this.#objects.replace(list);
    return done;
  }

  async #watch(): Promise<Step> {
    const { credentials, metadataOnly } = this.#init;
    const current = await credentials();
    if (!current.ok) return { kind: "failed", why: current.fault.msg };
    const seconds = Math.round(watchSeconds.min + this.#random() * watchSeconds.spread);
    const path = this.#url({
      watch: "1",
      allowWatchBookmarks: "true",
      timeoutSeconds: String(seconds),
      resourceVersion: this.#version ?? "",
    });
    let step: Step | undefined;
    let opened: number | undefined;
    let heard = false;
    const end = await watch(current.value, {
      path,
      metadataOnly,
      silenceMs: this.#silenceMs,
      signal: this.#attempt.signal,
      onOpen: () => {
        opened = this.#clock.now();
        this.#openedAt = opened;
        this.#heardAt = this.#clock.date().getTime();
        this.#watches += 1;
        if (this.#lastWarning !== "") this.#init.warn(`${this.#init.what}: watched again`);
        this.#lastWarning = "";
      },
      onLine: (line) => {
        this.#heardAt = this.#clock.date().getTime();
        heard = true;
        const event = readWatchEvent(line);
        if (event === undefined) return false;
        if (event.kind === "error") {
          this.#openedAt = undefined;
          step = event.code === 410 ? { kind: "relist" } : { kind: "failed", why: event.message };
          return true;
        }
        if (event.kind === "put") this.#objects.changed(event.object);
        if (event.kind === "remove") this.#objects.removed(event.object);
        this.#version = event.version;
        this.#newest = event.version;
        return true;
      },
    });
    this.#openedAt = undefined;
    this.#openMs = opened === undefined ? 0 : this.#clock.now() - opened;
    this.#problem = "the watch has ended";
    if (step !== undefined) return step;
    if (end.kind !== "answer") {
      // A server whose store was restored accepts a version that it has not reached yet, and is silent until then. Any other
      // server would have sent something.
      if (opened !== undefined && !heard && this.#openMs >= this.#silenceMs) this.#version = undefined;
      return { kind: "failed", why: end.why };
    }
    if (end.status === 410) return { kind: "relist" };
    // Only a list tells whether the collection is gone.
    if (end.status === 404 && this.#init.absentIsEmpty === true) return { kind: "relist" };
    return end.status === 200 ? done : refused(end, this.#clock);
  }

  #url(query: Readonly<Record<string, string>>): string {
    return `${this.#init.path}?${new URLSearchParams({ ...this.#init.query, ...query }).toString()}`;
  }
}

/** Whether version `one` is older than `other`; false if either is not a number. */
function isOlder(one: string, other: string): boolean {
  return /^\d+$/.test(one) && /^\d+$/.test(other) && BigInt(one) < BigInt(other);
}
