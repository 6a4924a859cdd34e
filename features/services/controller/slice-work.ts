// The work on the slices of one Service: each changed slice is written once.

import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { inTurn, type WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import { endpointGroups } from "../rules/endpoint.ts";
import { frontAnnotation } from "../rules/front.ts";
import { isSliceName, planSlices, type SliceWrite } from "../rules/plan-slices.ts";
import type { NetworkService, UnreadableService } from "../rules/service.ts";
import {
  endpointObject,
  endpointSlicesPath,
  labelNames,
  manager,
  ownersOf,
  readSlice,
  type ServiceSlice,
  sliceMeta,
  type SliceMeta,
  sliceObject,
} from "../rules/service-slice.ts";
import { networkId } from "../network-id.ts";
import type { ServiceCollections } from "./collections.ts";
import { leaveToPlexus } from "./earlier-slices.ts";

const done: WorkOutcome = { kind: "done" };

/** Brings the slices of a Service up to date; of a Service on no further network, removes them. */
export async function workOnService(context: PartContext, collections: ServiceCollections, key: string): Promise<WorkOutcome> {
  const service = collections.service(key);
  const slices = collections.slices(key);
  if (service !== undefined && "problem" in service) report(context, service);
  // A Service without a selector has the slices that its author writes.
  if (service === undefined || "problem" in service || service.selector.length === 0)
    return inTurn(slices, (slice) => remove(context, slice));
  const left = collections.leftToPlexus.has(service) ? done : await leaveToPlexus(context, service);
  if (left.kind === "done") collections.leftToPlexus.add(service);
  // Endpoints of a Service that has slices of Plexus do not wait for others to go.
  else if (slices.length === 0) return left;
  const groups = endpointGroups(service, collections.members(service), (node) => collections.zoneOf(node));
  const meta = sliceMeta(service, networkId(service.network));
  const { name, uid, families } = service;
  const writes = planSlices({ service: name, uid, families, groups, meta, slices, taken: collections.takenNames(key) });
  const written = await inTurn(writes, async (write): Promise<WorkOutcome> => {
    const outcome = await carryOut(context, service, meta, write);
    if (write.kind !== "create" || outcome.kind !== "conflict") return outcome;
    const taken = await takenNames(context, service);
    if (taken.kind !== "names") return taken;
    // No slice of another writer is in the way: the watch brings the slice that was made.
    if (!taken.names.has(write.name)) return outcome;
    collections.noteTakenNames(key, taken.names);
    return { kind: "again", afterMs: 0 };
  });
  return written.kind === "done" ? left : written;
}

async function carryOut(context: PartContext, service: NetworkService, meta: SliceMeta, write: SliceWrite): Promise<WorkOutcome> {
  const path = endpointSlicesPath(service.namespace);
  switch (write.kind) {
    case "remove":
      return remove(context, write.slice);
    case "create":
      return outcomeOf(await context.objects.create(path, sliceObject(service, write.name, meta, write.content)));
    case "patch": {
      const { name, uid, resourceVersion, meta: before } = write.slice;
      const gone = labelNames(before).filter((key) => !Object.hasOwn(meta.labels, key));
      const labels = { ...meta.labels, ...Object.fromEntries(gone.map((key) => [key, null])) };
      const annotations = { [frontAnnotation]: meta.front ?? null };
      const { ports, endpoints } = write.content;
      const change = {
        metadata: { uid, resourceVersion, labels, annotations, ownerReferences: ownersOf(service) },
        ports,
        endpoints: endpoints.map(endpointObject),
      };
      return outcomeOf(await context.objects.patch(`${path}/${name}`, change));
    }
  }
}

/** The names of the namespace's slices that are none of Plexus' for this Service. The watch does not show them. */
async function takenNames(
  { objects }: PartContext,
  { namespace, name }: NetworkService,
): Promise<{ readonly kind: "names"; readonly names: ReadonlySet<string> } | WorkOutcome> {
  const names = new Set<string>();
  const read = await objects.each(endpointSlicesPath(namespace), { metadataOnly: true }, (item) => {
    const slice = readSlice(item);
    const isOwn = slice?.managedBy === manager && slice.service === name;
    if (slice !== undefined && !isOwn && isSliceName(name, slice.name)) names.add(slice.name);
    return true;
  });
  if (read.kind === "read") return { kind: "names", names };
  return read.kind === "absent" ? done : { kind: "failed", why: read.why, pauseMs: read.pauseMs };
}

async function remove(context: PartContext, { namespace, name, uid }: ServiceSlice): Promise<WorkOutcome> {
  return outcomeOf(await context.objects.remove(`${endpointSlicesPath(namespace)}/${name}`, { uid }));
}

function report(context: PartContext, { namespace, name, uid, problem }: UnreadableService): void {
  const target = { kind: "Service", eventNamespace: namespace, name, uid };
  context.event(target, { type: "Warning", reason: "ServiceNotOnNetwork", message: `Plexus writes no endpoints: ${problem}` });
}
