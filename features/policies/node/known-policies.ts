// The last known policies of a namespace, in cniDir: an ADD needs no API for them, and a daemon that restarts without the API has them.
//
//     policies/NAMESPACE/policies.json            the MultiNetworkPolicies
//     policies/NAMESPACE/network-policies.json    the NetworkPolicies, if a pod of this node is on a PodNetwork
//     policies/NAMESPACE/ID.json                  the slices of a query that a pod of this node asked
//
// A file that no pod of the node has asked in the last rounds is removed. A namespace has a bounded number of files: beyond it the file that was asked longest
// ago goes.

import { createHash } from "node:crypto";
import { readdirSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { writeShared } from "../../../host/store/files/shared-file.ts";
import { readRegularFile } from "../../../host/store/files/regular-file.ts";
import { readContent } from "../rules/address-slice.ts";
import { keptPolicy, type KeptPolicy, type KeptSlice, type PolicySource, storedNetworkPolicy } from "./policy-source.ts";

const maxBytes = 32 * 1024 * 1024;
const policiesName = "policies";
const networkPoliciesName = "network-policies";
/** Rounds of 5 minutes in which a file stays that no pod has asked: the next pod of a workload that restarts needs no API. */
const keptRounds = 12;
/** Maximum files of a namespace: an author who edits a policy again and again makes a new query each time. */
const defaultMaxFiles = 4096;

interface WrittenAnswer {
  /** The objects of the answer, which all callers get as long as the text is the same. */
  readonly objects: readonly object[];
  /** Other objects with the same text, which came last. Those of a watch come again, and take the place of `objects`. */
  readonly others: readonly object[];
  /** The hash of the file's text. */
  readonly hash: string;
}

/** The last known policies of one node. */
export class KnownPolicies {
  readonly #directory: string;
  /** The answer in each file as it was written last, so that an ADD without a change writes nothing. */
  readonly #written = new Map<string, WrittenAnswer>();
  /**
   * By namespace and path, the file that was asked longest ago at the beginning: the round in which a pod asked it last. A file of an earlier daemon counts
   * as asked in the first round that sees it.
   */
  readonly #asked = new Map<string, Map<string, number>>();
  readonly #maxFiles: number;
  #round = 0;

  constructor(cniDir: string, maxFiles = defaultMaxFiles) {
    this.#maxFiles = maxFiles;
    this.#directory = join(cniDir, "policies");
  }

  /** `source`, with every answer kept, and with the last known answers in place of a fault. `onFault` receives each such fault's text. */
  over(source: PolicySource, onFault: (text: string) => void): PolicySource {
    return {
      policies: async (namespace) =>
        this.#orKnown(await source.policies(namespace), namespace, policiesName, keptPolicy, onFault),
      networkPolicies: async (namespace) =>
        this.#orKnown(await source.networkPolicies(namespace), namespace, networkPoliciesName, storedNetworkPolicy, onFault),
      slices: async (namespace, ids) => {
        const read = await source.slices(namespace, ids);
        if (read.ok) {
          const byId = Map.groupBy(read.value, ({ id }) => id);
          const slices: KeptSlice[] = [];
          for (const id of ids) {
            const ofQuery = byId.get(id) ?? [];
            const kept = this.#kept(namespace, id, ofQuery, () => JSON.stringify(ofQuery));
            if (!kept.ok) return kept;
            slices.push(...kept.value);
          }
          return ok(slices);
        }
        const known = ids.map((id) => this.#list(namespace, id, readContent));
        // A query that was never answered has no peers: nothing is allowed by it.
        onFault(read.fault.msg);
        return ok(known.flatMap((slices) => slices ?? []));
      },
    };
  }

  /**
   * Ends a round, in which each pod of the node has asked its files. Removes the files that no pod has asked in the last rounds. `unfinished`: the namespaces of
   * pods whose work has failed, which may not have asked; their files stay.
   */
  endRound(unfinished: ReadonlySet<string> = new Set()): void {
    this.#round += 1;
    const namespaces = namesIn(this.#directory);
    for (const namespace of namespaces) {
      const directory = join(this.#directory, namespace);
      const known = this.#asked.get(namespace) ?? new Map<string, number>();
      const present = new Map<string, number>();
      for (const path of namesIn(directory).map((name) => join(directory, name))) {
        const asked = known.get(path) ?? this.#round;
        if (unfinished.has(namespace) || this.#round - asked < keptRounds) present.set(path, asked);
        else this.#remove(path);
      }
      // Files of an earlier daemon come first; the others keep their order.
      const order = [...present].filter(([path]) => !known.has(path));
      for (const [path, asked] of known) if (present.has(path)) order.push([path, asked]);
      this.#asked.set(namespace, new Map(order));
      this.#removeExcess(namespace);
      if (present.size === 0) this.#asked.delete(namespace);
      removeIfEmpty(directory);
    }
    for (const namespace of this.#asked.keys()) if (!namespaces.includes(namespace)) this.#asked.delete(namespace);
  }

  #remove(path: string): void {
    // The note goes first: the next answer is written, even if it is the same.
    this.#written.delete(path);
    rmSync(path, { force: true });
  }

  /** Notes that a pod has asked the file. */
  #ask(namespace: string, path: string): void {
    const asked = this.#asked.get(namespace) ?? new Map<string, number>();
    this.#asked.set(namespace, asked);
    asked.delete(path);
    asked.set(path, this.#round);
    this.#removeExcess(namespace);
  }

  #removeExcess(namespace: string): void {
    const asked = this.#asked.get(namespace);
    for (const path of asked?.keys() ?? []) {
      if (asked === undefined || asked.size <= this.#maxFiles) return;
      asked.delete(path);
      this.#remove(path);
    }
  }

  /** The answer, which is kept; in place of a fault the last known answer, if there is one. */
  #orKnown(
    read: Result<readonly KeptPolicy[]>,
    namespace: string,
    name: string,
    reread: (value: unknown) => KeptPolicy | undefined,
    onFault: (text: string) => void,
  ): Result<readonly KeptPolicy[]> {
    if (read.ok) {
      const { value } = read;
      return this.#kept(namespace, name, value, () => `[${value.map(({ text }) => text).join(",")}]`);
    }
    const known = this.#list(namespace, name, reread);
    if (known === undefined) return read;
    onFault(read.fault.msg);
    return ok(known);
  }

  /**
   * Keeps an answer. An answer with the text of the one before has its objects: until a watch is live each ADD reads other ones, and pods share what is
   * made of the same objects.
   */
  #kept<T extends KeptPolicy | KeptSlice>(
    namespace: string,
    name: string,
    objects: readonly T[],
    makeText: () => string,
  ): Result<readonly T[]> {
    const path = this.#path(namespace, name);
    this.#ask(namespace, path);
    const before = this.#written.get(path);
    if (before !== undefined && areSame(before.objects, objects)) return ok(objects);
    if (before !== undefined && objects.length > 0 && areSame(before.others, objects)) {
      this.#written.set(path, { objects, others: [], hash: before.hash });
      return ok(objects);
    }
    const text = makeText();
    const hash = hashOf(text);
    // A file has objects of one kind.
    if (before?.hash === hash) {
      this.#written.set(path, { ...before, others: objects });
      return ok(before.objects as readonly T[]);
    }
    if (textOf(path) !== text) {
      const written = writeShared(path, text, false);
      if (!written.ok) return written;
    }
    this.#written.set(path, { objects, others: [], hash });
    return ok(objects);
  }

  #list<T extends KeptPolicy | KeptSlice>(
    namespace: string,
    name: string,
    read: (value: unknown) => T | undefined,
  ): readonly T[] | undefined {
    const path = this.#path(namespace, name);
    this.#ask(namespace, path);
    const text = textOf(path);
    const list = text === undefined ? undefined : boundedJson(text);
    return Array.isArray(list) ? list.flatMap((each) => read(each) ?? []) : undefined;
  }

  #path(namespace: string, name: string): string {
    return join(this.#directory, namespace, `${name}.json`);
  }
}

function areSame(one: readonly object[], other: readonly object[]): boolean {
  return one.length === other.length && one.every((each, index) => each === other[index]);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}

function textOf(path: string): string | undefined {
  try {
    return readRegularFile(path, { maxBytes, foreign: false });
  } catch {
    return undefined;
  }
}

/** The names in a directory; none if it is not there. */
function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

function removeIfEmpty(directory: string): void {
  try {
    rmdirSync(directory);
  } catch {
    // A file is there, or an ADD has written one meanwhile.
  }
}
