// The work on the slices of one Service: each changed slice is written once.

import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import { endpointGroups } from "../rules/endpoint.ts";
import { frontAnnotation } from "../rules/front.ts";
import { planSlices, type SliceWrite } from "../rules/plan-slices.ts";
import type { NetworkService, UnreadableService } from "../rules/service.ts";
import {
  endpointObject,
  endpointSlicesPath,
  ownersOf,
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
  if (slices.length === 0) {
    const left = await leaveToPlexus(context, service);
    if (left.kind !== "done") return left;
  }
  const groups = endpointGroups(service, collections.members(service), (node) => collections.zoneOf(node));
  const meta = sliceMeta(service, networkId(service.network));
  const writes = planSlices({ service: service.name, uid: service.uid, families: service.families, groups, meta, slices });
  return inTurn(writes, (write) => carryOut(context, service, meta, write));
}

async function carryOut(context: PartContext, service: NetworkService, meta: SliceMeta, write: SliceWrite): Promise<WorkOutcome> {
  const path = endpointSlicesPath(service.namespace);
  switch (write.kind) {
    case "remove":
      return remove(context, write.slice);
    case "create":
      return outcomeOf(await context.objects.create(path, sliceObject(service, write.name, meta, write.content)));
    case "patch": {
      const { name, uid, resourceVersion, labels: before } = write.slice;
      const gone = Object.keys(before).filter((key) => !Object.hasOwn(meta.labels, key));
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

async function remove(context: PartContext, { namespace, name, uid }: ServiceSlice): Promise<WorkOutcome> {
  return outcomeOf(await context.objects.remove(`${endpointSlicesPath(namespace)}/${name}`, { uid }));
}

function report(context: PartContext, { namespace, name, uid, problem }: UnreadableService): void {
  const target = { kind: "Service", eventNamespace: namespace, name, uid };
  context.event(target, { type: "Warning", reason: "ServiceNotOnNetwork", message: `Plexus writes no endpoints: ${problem}` });
}

/** Works on one after the other, until one is not done. */
async function inTurn<T>(all: readonly T[], work: (each: T) => Promise<WorkOutcome>): Promise<WorkOutcome> {
  for (const each of all) {
    const outcome = await work(each);
    if (outcome.kind !== "done") return outcome;
  }
  return done;
}
