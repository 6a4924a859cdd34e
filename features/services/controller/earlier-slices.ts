// Slices that kube-controller-manager wrote before a Service named its network. It never touches slices of a Service without a selector again, so they
// would stay beside those of Plexus.

import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import type { NetworkService } from "../rules/service.ts";
import { endpointSlicesPath, readSlice, serviceNameLabel } from "../rules/service-slice.ts";

const builtIn = "endpointslice-controller.k8s.io";
/** The mirroring controller makes slices of an Endpoints object without this label. */
const skipMirror = { "endpointslice.kubernetes.io/skip-mirror": "true" };

/** Removes the slices that kube-controller-manager left, and keeps it from making others of its Endpoints object. */
export async function leaveToPlexus({ objects }: PartContext, { namespace, name }: NetworkService): Promise<WorkOutcome> {
  const path = endpointSlicesPath(namespace);
  const listed = await objects.list(path, { labelSelector: `${serviceNameLabel}=${name}` });
  if (listed.kind === "absent") return { kind: "done" };
  if (listed.kind !== "list") return { kind: "failed", why: listed.why, pauseMs: listed.pauseMs };
  const left = listed.items.flatMap((item) => readSlice(item) ?? []).filter(({ managedBy }) => managedBy === builtIn);
  if (left.length === 0) return { kind: "done" };
  const endpoints = `/api/v1/namespaces/${namespace}/endpoints/${name}`;
  const marked = outcomeOf(await objects.patch(endpoints, { metadata: { labels: skipMirror } }));
  if (marked.kind !== "done") return marked;
  for (const slice of left) {
    const removed = outcomeOf(await objects.remove(`${path}/${slice.name}`, { uid: slice.uid }));
    if (removed.kind !== "done") return removed;
  }
  return { kind: "done" };
}
