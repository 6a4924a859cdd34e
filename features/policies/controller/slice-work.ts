// The work on the slices of one query: as many as the query needs, each written once for a change.

import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { inTurn, type WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import {
  type AddressSlice,
  distribute,
  endpointOf,
  readSlice,
  sliceName,
  sliceObject,
  slicesPath,
} from "../rules/address-slice.ts";
import { type PeerQuery, queryText } from "../rules/peers.ts";
import type { PolicyCollections } from "./collections.ts";
import { queryOf } from "./query-key.ts";
import { numberOf } from "./slice-index.ts";

const done: WorkOutcome = { kind: "done" };

/** Brings the slices of a query up to date; of a query that no policy asks, removes them. */
export async function workOnSlices(
  context: PartContext,
  collections: Pick<PolicyCollections, "asked" | "peers" | "slicesOf">,
  key: string,
): Promise<WorkOutcome> {
  const { namespace, id } = queryOf(key);
  const query = collections.asked(key);
  const slices = collections.slicesOf(key);
  if (query === undefined) return inTurn(slices, (slice) => remove(context, slice));
  const text = queryText(query);
  const spoilt = slices.filter((slice) => slice.query !== text);
  if (spoilt.length > 0) return inTurn(spoilt, (slice) => remove(context, slice));
  const endpoints = collections.peers(query).map(endpointOf);
  const wanted = distribute(
    slices.map((slice) => slice.endpoints),
    endpoints,
  );
  // A query without peers has one empty slice: nodes see that the controller has answered.
  const whole = wanted.length === 0 ? [[]] : wanted;
  const indexes = whole.map((_, index) => index);
  return inTurn(indexes, (index) => write(context, { namespace, id, query, slices, index, endpoints: whole[index] ?? [] }));
}

interface SliceWrite {
  readonly namespace: string;
  readonly id: string;
  readonly query: PeerQuery;
  readonly slices: readonly AddressSlice[];
  readonly index: number;
  readonly endpoints: AddressSlice["endpoints"];
}

async function write(context: PartContext, { namespace, id, query, slices, index, endpoints }: SliceWrite): Promise<WorkOutcome> {
  const slice = slices[index];
  if (slice === undefined) {
    const last = slices.at(-1);
    const name = sliceName(id, (last === undefined ? -1 : numberOf(last)) + 1 + index - slices.length);
    const object = sliceObject(namespace, id, name, query, endpoints);
    const made = outcomeOf(await context.objects.create(slicesPath(namespace), object));
    return made.kind === "conflict" ? removeSpoilt(context, namespace, name, made) : made;
  }
  if (endpoints.length === 0 && index > 0) return remove(context, slice);
  if (JSON.stringify(endpoints) === JSON.stringify(slice.endpoints)) return done;
  const { name, uid, resourceVersion } = slice.metadata;
  return outcomeOf(
    await context.objects.patch(`${slicesPath(namespace)}/${name}`, { metadata: { uid, resourceVersion }, spec: { endpoints } }),
  );
}

/**
 * Removes the object with the name of a slice that cannot be created, if another writer has spoilt the object: the watch shows it as no slice, and never as a newer one.
 * Otherwise the watch brings the slice that was made.
 */
async function removeSpoilt(
  { objects }: PartContext,
  namespace: string,
  name: string,
  conflict: WorkOutcome,
): Promise<WorkOutcome> {
  const listed = await objects.list(slicesPath(namespace), { fieldSelector: `metadata.name=${name}` });
  if (listed.kind === "failed") return { kind: "failed", why: listed.why, pauseMs: listed.pauseMs };
  const [item] = listed.kind === "list" ? listed.items : [];
  const meta = readObjectMeta(item);
  if (!meta.ok || meta.value.uid === undefined || readSlice(item).ok) return conflict;
  const removed = outcomeOf(await objects.remove(`${slicesPath(namespace)}/${name}`, { uid: meta.value.uid }));
  return removed.kind === "done" ? { kind: "again", afterMs: 0 } : removed;
}

async function remove(context: PartContext, { namespace, metadata }: AddressSlice): Promise<WorkOutcome> {
  const { name, uid } = metadata;
  return outcomeOf(await context.objects.remove(`${slicesPath(namespace)}/${name}`, { uid }));
}
