// Holds a collection of the API in memory: lists it, then watches it from there on, for as long as it is wanted.

import { CollectionList, listMs, type NotServed, refused } from "./collection-list.ts";
import type { Connection } from "./connection.ts";
import type { CredentialSource } from "./credentials.ts";
import { ObjectStore, type StoreBounds, type StoredObject } from "./object-store.ts";
import { longestSilenceMs, watch } from "./watch-stream.ts";
import { isJsonObject } from "../../src/json/document.ts";
import { backoffMs } from "../../src/kube/backoff.ts";
import { readListPage, readWatchEvent } from "../../src/kube/object-list.ts";

export interface ReflectorInit<T> {
  /** For people: `pods of node n1`. */
  readonly what: string;
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  /** Of the collection. */
  readonly path: string;
  /** Further parameters, e.g. a fieldSelector. */
  readonly query: Readonly<Record<string, string>>;
  readonly metadataOnly: boolean;
  /**
   * Whether a list must hold what was written before it was asked for. Otherwise the server's memory is enough, which is spared a
   * look at all objects of the cluster.
   */
  readonly consistent: boolean;
  readonly bounds: StoreBounds;
  /** What is kept of an object; undefined where it can't be read, and is to be asked for instead. */
  readonly read: (object: unknown) => StoredObject<T> | undefined;
  /** Is told of an object that has just come. */
  readonly onNew?: (object: StoredObject<T>) => void;
  /** What an administrator should know; the same is told once until it went well. */
  readonly warn: (text: string) => void;
  readonly random?: () => number;
  /** Objects of a page; a page that is too large is asked for again as smaller ones. */
  readonly pageSize?: number;
  /** Milliseconds after which a silent watch is no longer believed. */
  readonly silenceMs?: number;
}

/** How a reflector is doing. */
export interface ReflectorState {
  readonly what: string;
  /** Whether what it holds is believed. */
  readonly live: boolean;
  readonly objects: number;
  readonly lists: number;
  readonly watches: number;
  /** Why it isn't live; empty where it is. */
  readonly problem: string;
}

/** A watch is asked for anew after so long, so that servers can share their watchers out. */
const watchSeconds = { least: 300, spread: 300 };

const longestWaitMs = 30_000;
/** For what only an administrator changes (rights, a definition that isn't installed), unless the server was just started. */
const patientWaitMs = 60_000;
/**
 * What has changed before a watch was opened is told at once after that; only a watch that has been open for so long is taken to have told
 * everything.
 */
const catchUpMs = 1_000;
/** A watch that ends sooner counts as a failure: who repeats it at once keeps a server busy. */
const shortWatchMs = 1_000;

/**
 * Failures in a row, for the wait: only a watch that stayed open ends the row, however it ended then. A list that went well doesn't: where
 * each watch is refused, lists would follow one another.
 */
export function failuresAfter(failures: number, openMs: number): number {
  return openMs >= shortWatchMs ? 0 : failures;
}

/** What a list or a watch came to. */
type Step = { readonly kind: "done" } | NotServed;

const done: Step = { kind: "done" };

export class Reflector<T> {
  readonly #init: ReflectorInit<T>;
  readonly #random: () => number;
  readonly #silenceMs: number;
  readonly #ended = new AbortController();
  /** Ends the watch or the wait that is under way. */
  #attempt = new AbortController();
  readonly #list: CollectionList;
  #store: ObjectStore<T>;
  /** Where a watch goes on from; undefined: nothing is listed. */
  #version: string | undefined;
  /** The newest that was ever seen, for a list that must not go back in time. */
  #newest = "0";
  /** Milliseconds of a clock that never goes back; undefined: no watch is open. */
  #openedAt: number | undefined;
  #heardAt = 0;
  /** How long the last watch was open, in milliseconds. */
  #openMs = 0;
  #lists = 0;
  #watches = 0;
  #problem = "not listed yet";
  #told = "";

  constructor(init: ReflectorInit<T>) {
    this.#init = init;
    this.#random = init.random ?? Math.random;
    this.#silenceMs = init.silenceMs ?? longestSilenceMs;
    this.#store = new ObjectStore(init.bounds);
    this.#list = new CollectionList({ ...init, url: (query) => this.#url(query) });
  }

  get state(): ReflectorState {
    const { what } = this.#init;
    const problem = this.#openedAt === undefined ? this.#problem : "";
    return { what, live: this.live, objects: this.#store.count, lists: this.#lists, watches: this.#watches, problem };
  }

  /**
   * Whether the server tells of changes, and has told those that were before. By the clock on the wall besides: the stream's own bound
   * stands still while the machine is suspended.
   */
  get live(): boolean {
    if (this.#openedAt === undefined || performance.now() - this.#openedAt < catchUpMs) return false;
    return Date.now() - this.#heardAt <= this.#silenceMs;
  }

  /** Undefined: ask the server. Either it isn't there, or what is held is not to be believed now. */
  get(namespace: string, name: string): T | undefined {
    return this.live ? this.#store.get(namespace, name) : undefined;
  }

  /** Begins; never throws. */
  start(): void {
    void this.#run();
  }

  /** The credentials are others now: what is held is believed again once they have opened a watch of their own. */
  renew(): void {
    this.#openedAt = undefined;
    this.#attempt.abort();
  }

  stop(): void {
    this.#ended.abort();
    this.#attempt.abort();
    this.#openedAt = undefined;
    this.#store = new ObjectStore(this.#init.bounds);
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
      const longest = step.kind === "failed" && step.patient === true ? patientWaitMs : longestWaitMs;
      const asked = step.kind === "failed" ? (step.waitMs ?? 0) : 0;
      await this.#pause(Math.max(asked, backoffMs(failures, this.#random, longest)));
      failures += 1;
    }
  }

  /**
   * Whether the server has not come to the version from which a watch would go on: its store was restored. It would accept the watch, and
   * tell nothing until then.
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
    if (this.#told === why) return;
    this.#told = why;
    this.#init.warn(`${this.#init.what}: not watched, each call asks for what it needs: ${why}`);
  }

  async #listed(): Promise<Step> {
    const store = new ObjectStore<T>(this.#init.bounds);
    const listed = await this.#list.all(this.#newest, (item) => void this.#put(store, item));
    if (listed.kind !== "listed") return listed;
    this.#store = store;
    this.#version = listed.version;
    this.#newest = listed.version;
    this.#lists += 1;
    return done;
  }

  async #watch(): Promise<Step> {
    const { credentials, metadataOnly } = this.#init;
    const current = await credentials();
    if (!current.ok) return { kind: "failed", why: current.fault.msg };
    const seconds = Math.round(watchSeconds.least + this.#random() * watchSeconds.spread);
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
        opened = performance.now();
        this.#openedAt = opened;
        this.#heardAt = Date.now();
        this.#watches += 1;
        if (this.#told !== "") this.#init.warn(`${this.#init.what}: watched again`);
        this.#told = "";
      },
      onLine: (line) => {
        this.#heardAt = Date.now();
        heard = true;
        const event = readWatchEvent(line);
        if (event === undefined) return false;
        if (event.kind === "error") {
          this.#openedAt = undefined;
          step = event.code === 410 ? { kind: "relist" } : { kind: "failed", why: event.message };
          return true;
        }
        if (event.kind === "put") this.#changed(event.object);
        if (event.kind === "remove") this.#remove(event.object);
        this.#version = event.version;
        this.#newest = event.version;
        return true;
      },
    });
    this.#openedAt = undefined;
    this.#openMs = opened === undefined ? 0 : performance.now() - opened;
    this.#problem = "the watch has ended";
    if (step !== undefined) return step;
    if (end.kind !== "answer") {
      // A server whose store was restored accepts a version that it hasn't come to, and is silent until then. Any other has said something.
      if (opened !== undefined && !heard && this.#openMs >= this.#silenceMs) this.#version = undefined;
      return { kind: "failed", why: end.why };
    }
    if (end.status === 410) return { kind: "relist" };
    return end.status === 200 ? done : refused(end);
  }

  #changed(object: unknown): void {
    const stored = this.#put(this.#store, object);
    if (stored?.isNew === true) this.#init.onNew?.(stored.object);
  }

  #put(store: ObjectStore<T>, object: unknown): { readonly object: StoredObject<T>; readonly isNew: boolean } | undefined {
    const stored = this.#init.read(object);
    if (stored === undefined) {
      this.#remove(object, store);
      return undefined;
    }
    const isNew = store.get(stored.namespace, stored.name) === undefined;
    store.put(stored);
    return { object: stored, isNew };
  }

  #remove(object: unknown, store = this.#store): void {
    const metadata = isJsonObject(object) ? object["metadata"] : undefined;
    const [namespace, name] = isJsonObject(metadata) ? [metadata["namespace"], metadata["name"]] : [];
    if (typeof namespace === "string" && typeof name === "string") store.remove(namespace, name);
  }

  #url(query: Readonly<Record<string, string>>): string {
    return `${this.#init.path}?${new URLSearchParams({ ...this.#init.query, ...query }).toString()}`;
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#attempt;
    return new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      signal.addEventListener("abort", end);
    });
  }
}

/** Of two versions of a collection; false where one is no number. */
function isOlder(one: string, other: string): boolean {
  return /^\d+$/.test(one) && /^\d+$/.test(other) && BigInt(one) < BigInt(other);
}
