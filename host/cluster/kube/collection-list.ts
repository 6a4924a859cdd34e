// Lists a whole collection of the API: at once from the server's memory, or in pages from its store.

import { statusMessage } from "./api-client.ts";
import type { Outcome } from "./api-request.ts";
import type { Connection } from "./connection.ts";
import type { CredentialSource } from "./credentials.ts";
import { retryAfterMs } from "../../src/kube/backoff.ts";
import { readListPage } from "../../src/kube/object-list.ts";

export interface CollectionListInit {
  readonly connection: Connection;
  readonly credentials: CredentialSource;
  /** The collection's path with these parameters. */
  readonly url: (query: Readonly<Record<string, string>>) => string;
  readonly metadataOnly: boolean;
  /** Whether a list must hold what was written before it was asked for. */
  readonly consistent: boolean;
  readonly pageSize?: number;
}

/** Why there is none. `relist`: what is held can't be gone on from. */
export type NotServed =
  | { readonly kind: "relist" }
  | { readonly kind: "failed"; readonly why: string; readonly waitMs?: number | undefined; readonly patient?: boolean };

/** `version`: where a watch goes on from. */
export type Listed = { readonly kind: "listed"; readonly version: string } | NotServed;

/** Objects of a page: 100 definitions of 3 KB are some 0.3 MB, which are read in 2 ms. */
const usualPage = 100;
/** Milliseconds that one request of a list may take. */
export const listMs = 30_000;

export class CollectionList {
  readonly #init: CollectionListInit;
  /** Whether the next list comes in pages: always where it must be consistent, once where the whole was refused. */
  #paged: boolean;

  constructor(init: CollectionListInit) {
    this.#init = init;
    this.#paged = init.consistent;
  }

  /**
   * Hands every object on as it comes; what was handed on counts only where the answer is `listed`. `newest` is a version that the list
   * must not be older than, where it comes from the server's memory. Never throws.
   */
  async all(newest: string, take: (object: unknown) => void): Promise<Listed> {
    const { connection, credentials, metadataOnly, url } = this.#init;
    let next = "";
    let limit = this.#init.pageSize ?? usualPage;
    for (;;) {
      const current = await credentials();
      if (!current.ok) return { kind: "failed", why: current.fault.msg };
      const path = url(this.#query(limit, next, newest));
      const form = metadataOnly ? "list" : false;
      const outcome = await connection.request(current.value, { method: "GET", path, metadataOnly: form }, listMs);
      if (outcome.kind === "tooLarge" && (!this.#paged || limit > 1)) {
        if (this.#paged) limit = Math.max(1, limit >> 2);
        this.#paged = true;
        continue;
      }
      if (outcome.kind !== "answer") return { kind: "failed", why: outcome.why };
      if (outcome.status === 410 || isTooNew(outcome)) {
        // The page or the version is gone, or the server's memory lags behind: from the start, and from its store.
        const again = next !== "" || !this.#paged;
        this.#paged = true;
        return again ? { kind: "relist" } : refused(outcome);
      }
      if (outcome.status !== 200) return refused(outcome);
      const page = readListPage(outcome.body);
      if (page === undefined) return { kind: "failed", why: "the answer is no list" };
      for (const item of page.items) take(item);
      if (page.next === "") {
        this.#paged = this.#init.consistent;
        return { kind: "listed", version: page.version };
      }
      next = page.next;
    }
  }

  #query(limit: number, next: string, newest: string): Readonly<Record<string, string>> {
    // Without a version: as of now. With one: at least as new as that, from the server's memory, and whole.
    if (!this.#paged) return { resourceVersion: newest, resourceVersionMatch: "NotOlderThan" };
    return { limit: String(limit), ...(next === "" ? {} : { continue: next }) };
  }
}

type Answer = Extract<Outcome, { kind: "answer" }>;

/** What a server says whose memory has not come so far yet. */
function isTooNew({ status, body }: Answer): boolean {
  return status === 504 && body.includes("ResourceVersionTooLarge");
}

/** A refusal, with how long the server asks to wait. */
export function refused({ status, body, retryAfter }: Answer): NotServed {
  const waitMs = retryAfterMs(retryAfter, Date.parse, Date.now());
  return { kind: "failed", why: `HTTP ${status}${statusMessage(body)}`, waitMs, patient: [401, 403, 404, 405].includes(status) };
}
