// The queries that policies ask, within the bounds of each namespace: a tenant's policies must not make objects without an end.

import type { PeerQuery } from "../rules/peers.ts";
import { queryText } from "../rules/peers.ts";
import { keyOf } from "./query-key.ts";

/** Queries of the policies of a namespace, and the characters of their texts. */
export interface NamespaceBounds {
  readonly queries: number;
  readonly characters: number;
}

/** The largest policy takes half of the characters. */
export const namespaceBounds: NamespaceBounds = { queries: 4096, characters: 4 * 1024 * 1024 };

interface AskedQuery {
  readonly query: PeerQuery;
  /** Policies that ask the query. */
  users: number;
}

interface PolicyQueries {
  readonly namespace: string;
  readonly queries: ReadonlyMap<string, PeerQuery>;
}

const noQueries: ReadonlyMap<string, PeerQuery> = new Map();

/** The queries. `onDue` receives the key of each query that is asked now, or is asked no longer. */
export class AskedQueries {
  readonly #onDue: (key: string) => void;
  readonly #bounds: NamespaceBounds;
  /** The queries of each policy within the bounds, and of each policy beyond them. */
  readonly #asked = new Map<string, PolicyQueries>();
  readonly #refused = new Map<string, PolicyQueries>();
  readonly #queries = new Map<string, AskedQuery>();
  /** The keys of the queries of each network. */
  readonly #ofNetwork = new Map<string, Set<string>>();
  readonly #used = new Map<string, { queries: number; characters: number }>();

  constructor(onDue: (key: string) => void, bounds = namespaceBounds) {
    this.#onDue = onDue;
    this.#bounds = bounds;
  }

  /** The query, if a policy of the namespace asks it. */
  get(key: string): PeerQuery | undefined {
    return this.#queries.get(key)?.query;
  }

  /** The keys of the queries of a network. */
  ofNetwork(network: string): Iterable<string> {
    return this.#ofNetwork.get(network) ?? [];
  }

  /** All queries by their keys. */
  *all(): Iterable<readonly [string, PeerQuery]> {
    for (const [key, { query }] of this.#queries) yield [key, query];
  }

  /** Notes the queries of a policy, by their ids. Answers false if the bounds of the namespace do not allow them: then none of them is asked until others go. */
  set(policy: string, namespace: string, queries: ReadonlyMap<string, PeerQuery>): boolean {
    const before = { ...this.#usedBy(namespace) };
    const fits = this.#change(policy, { namespace, queries });
    const after = this.#usedBy(namespace);
    // A refused policy may fit once another policy of its namespace asks for less.
    if (after.queries < before.queries || after.characters < before.characters)
      for (const [other, each] of this.#refused) if (other !== policy && each.namespace === namespace) this.#change(other, each);
    return fits;
  }

  #change(policy: string, after: PolicyQueries): boolean {
    const { namespace, queries } = after;
    const before = this.#asked.get(policy)?.queries ?? noQueries;
    const fits = this.#fits(namespace, before, queries);
    if (fits) this.#refused.delete(policy);
    else this.#refused.set(policy, after);
    const accepted = fits ? queries : noQueries;
    if (accepted.size === 0) this.#asked.delete(policy);
    else this.#asked.set(policy, after);
    for (const [id, query] of accepted) if (!before.has(id)) this.#use(namespace, id, query, 1);
    for (const [id, query] of before) if (!accepted.has(id)) this.#use(namespace, id, query, -1);
    return fits;
  }

  #fits(namespace: string, before: ReadonlyMap<string, PeerQuery>, after: ReadonlyMap<string, PeerQuery>): boolean {
    let { queries, characters } = this.#usedBy(namespace);
    for (const [id, query] of after) {
      if (this.#queries.has(keyOf({ namespace, id }))) continue;
      queries += 1;
      characters += queryText(query).length;
    }
    for (const [id, query] of before) {
      if (after.has(id) || (this.#queries.get(keyOf({ namespace, id }))?.users ?? 0) > 1) continue;
      queries -= 1;
      characters -= queryText(query).length;
    }
    // A policy that asks nothing always fits.
    return after.size === 0 || (queries <= this.#bounds.queries && characters <= this.#bounds.characters);
  }

  #use(namespace: string, id: string, query: PeerQuery, change: 1 | -1): void {
    const key = keyOf({ namespace, id });
    const earlier = this.#queries.get(key)?.users ?? 0;
    const users = earlier + change;
    const keys = this.#ofNetwork.get(query.network) ?? new Set();
    if (users === 0) {
      this.#queries.delete(key);
      keys.delete(key);
    } else {
      this.#queries.set(key, { query, users });
      keys.add(key);
    }
    if (keys.size === 0) this.#ofNetwork.delete(query.network);
    else this.#ofNetwork.set(query.network, keys);
    if (users === 0 || earlier === 0) this.#count(namespace, query, change);
    this.#onDue(key);
  }

  #usedBy(namespace: string): NamespaceBounds {
    return this.#used.get(namespace) ?? { queries: 0, characters: 0 };
  }

  #count(namespace: string, query: PeerQuery, change: 1 | -1): void {
    const used = this.#used.get(namespace) ?? { queries: 0, characters: 0 };
    used.queries += change;
    used.characters += change * queryText(query).length;
    if (used.queries === 0) this.#used.delete(namespace);
    else this.#used.set(namespace, used);
  }
}
