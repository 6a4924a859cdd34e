// Lists a whole collection of the API: at once from the server's cache, or in pages from its store.

import { statusMessage } from "./api-client.ts";
import { maxObjectBytes, type Outcome } from "./api-request.ts";
import type { Connection } from "./connection.ts";
import type { CredentialSource } from "./credentials.ts";
import type { Clock } from "../../system/clock.ts";
import { isAbsence } from "../../../src/kube/absence.ts";
import { serverPauseMs } from "../../../src/kube/backoff.ts";
import { readListPage } from "../../../src/kube/object-list.ts";

/** Settings of a list. */
export interface CollectionListInit {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  /** The collection's path with these query parameters. */
  readonly url: (query: Readonly<Record<string, string>>) => string;
  readonly metadataOnly: boolean;
  /** Whether a list must contain everything that was written before the request. */
  readonly consistent: boolean;
  readonly pageSize?: number;
}

/** The reason why there is no list. `relist`: the known version cannot be continued. */
export type NotServed =
  | { readonly kind: "relist" }
  | {
      readonly kind: "failed";
      readonly why: string;
      readonly pauseMs?: number | undefined;
      readonly patient?: boolean;
      /** Whether the server has no such collection. */
      readonly absent?: boolean;
    };

/** `version`: the start of a watch. */
export type Listed = { readonly kind: "listed"; readonly version: string } | NotServed;

/** Objects in a page: 100 definitions of 3 KB are some 0.3 MB, which are parsed in 2 ms. */
const defaultPageSize = 100;
/** Maximum duration of one request of a list, in milliseconds. */
export const listMs = 30_000;

/** Lists one collection, again and again. */
export class CollectionList {
  readonly #init: CollectionListInit;
  /** Whether the next list comes in pages: always if it must be consistent, once if the whole list was refused. */
  #paged: boolean;

  constructor(init: CollectionListInit) {
    this.#init = init;
    this.#paged = init.consistent;
  }

  /**
   * Passes every object to `take` as it arrives, until `take` answers false; the objects count only if the answer is `listed`. `newest` is
   * the minimum version of a list from the server's cache. Never throws.
   */
  async all(newest: string, take: (object: unknown) => boolean): Promise<Listed> {
    const { connection, credentials, metadataOnly, url } = this.#init;
    let next = "";
    const pageSize = this.#init.pageSize ?? defaultPageSize;
    let limit = pageSize;
    for (;;) {
      const current = await credentials();
      if (!current.ok) return { kind: "failed", why: current.fault.msg };
      const path = url(this.#query(limit, next, newest));
      const form = metadataOnly ? "list" : false;
      const size = this.#paged && limit === 1 ? { maxBytes: maxObjectBytes } : {};
      const outcome = await connection.request(current.value, { method: "GET", path, metadataOnly: form, ...size }, listMs);
      if (outcome.kind === "tooLarge" && (!this.#paged || limit > 1)) {
        if (this.#paged) limit = Math.max(1, limit >> 2);
        this.#paged = true;
        continue;
      }
      if (outcome.kind !== "answer") return { kind: "failed", why: outcome.why };
      if (outcome.status === 410 || isTooNew(outcome)) {
        // The page or the version has expired, or the server's cache lags behind: list again from the start, and from the store.
        const again = next !== "" || !this.#paged;
        this.#paged = true;
        return again ? { kind: "relist" } : refused(outcome, connection.clock);
      }
      if (outcome.status !== 200) return refused(outcome, connection.clock);
      const page = readListPage(outcome.body);
      if (page === undefined) return { kind: "failed", why: "the answer is not a list" };
      const wanted = page.items.every(take);
      if (page.next === "" || !wanted) {
        this.#paged = this.#init.consistent;
        return { kind: "listed", version: page.version };
      }
      next = page.next;
      // One long object makes its own page small, and not those of all objects behind it.
      limit = Math.min(pageSize, limit << 2);
    }
  }

  #query(limit: number, next: string, newest: string): Readonly<Record<string, string>> {
    // Without a version: the current state. With one: at least that version, complete, from the server's cache.
    if (!this.#paged) return { resourceVersion: newest, resourceVersionMatch: "NotOlderThan" };
    return { limit: String(limit), ...(next === "" ? {} : { continue: next }) };
  }
}

type Answer = Extract<Outcome, { kind: "answer" }>;

/** The server's answer if its cache has not reached the version yet. */
function isTooNew({ status, body }: Answer): boolean {
  return status === 504 && body.includes("ResourceVersionTooLarge");
}

/** A refusal, with the pause that the server requests. */
export function refused({ status, body, retryAfter }: Answer, { date }: Clock): NotServed {
  const pauseMs = serverPauseMs(retryAfter, Date.parse, date().getTime());
  const patient = [401, 403, 404, 405].includes(status);
  return {
    kind: "failed",
    why: `HTTP ${status}${statusMessage(body)}`,
    pauseMs,
    patient,
    absent: status === 404 && isAbsence(body),
  };
}
