// Attaches and detaches one network of a running container on request. Such an attachment is not the pod's annotation's: it stays until another request
// or the runtime's DEL.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { PodEvent } from "../../../src/kube/pod-event.ts";
import { requestsText } from "../../../src/npwg/hot-plug-difference.ts";
import type { NetworkSelection } from "../../../src/npwg/network-selection.ts";
import type { Cluster, Pod } from "../../../host/cluster/cluster.ts";
import { withRuntimeAnnotations } from "../../../host/cluster/runtime-pods.ts";
import type { JournalEntry } from "../../../host/store/journal/entry.ts";
import type { JournalKey } from "../../../host/store/journal/entry-file.ts";
import type { Call } from "../../../host/engine/call.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { addedInterface } from "../../../host/engine/verbs/publish-status.ts";
import { attachToContainer, detachFromContainer } from "./change-container.ts";
import { underLock } from "./follow-annotation.ts";
import { planAddition } from "./plan-addition.ts";
import { isWhole, runningContainer } from "./running-container.ts";

/** One attachment that was made while its container runs. */
export interface HotPlugged {
  /** The interface's name in the container. */
  readonly ifname: string;
  /** `namespace/name` of the NetworkAttachmentDefinition. */
  readonly source: string;
  /** Final CNI result of the chain, as JSON in the version of the network's list. */
  readonly result: string;
}

/** Attaches a network. The same request again answers its attachment. Takes the container's lock. Faults: those of `planAddition` and of plugins. */
export async function attachRequested(call: Call, key: JournalKey, selection: NetworkSelection): Promise<Result<HotPlugged>> {
  const found = await clusterAndPod(call);
  if (!found.ok) return found;
  const { cluster, pod } = found.value;
  return underLock(call, key, async () => {
    const container = await runningContainer(call, key);
    if (!container.ok) return container;
    const { entry } = container.value;
    const same = sameRequest(entry, selection);
    if (same !== undefined) return ok(same);
    const index = entry.plan.attachments.length - 1;
    const addition = { selection, index, requestedNames: [], podNamespace: pod?.namespace };
    const plan = await planAddition(call, cluster, container.value, addition);
    if (!plan.ok) return plan;
    const tell = (event: PodEvent): void => {
      if (pod !== undefined) cluster.tell(pod, event);
    };
    const attached = await attachToContainer(
      call,
      container.value,
      plan.value,
      { requested: requestsText(selection) },
      { cluster, pod, tell },
    );
    if (!attached.ok) return attached;
    tell(addedInterface(attached.value));
    const { attachment, source } = attached.value.plan;
    return ok({ ifname: attachment.ifname, source, result: attached.value.result.text });
  });
}

/**
 * Detaches what a request attached; an unknown interface is a success. Takes the container's lock. Faults: HOT_PLUG_REFUSED for other attachments of the
 * container, and those of plugins: the attachment then stays in the journal.
 */
export async function detachRequested(call: Call, key: JournalKey, ifname: string): Promise<Result<void>> {
  return underLock(call, key, async () => {
    const container = await runningContainer(call, key);
    if (!container.ok) return container;
    const { entry } = container.value;
    const index = entry.plan.attachments.findIndex((each) => each.ifname === ifname);
    const planned = entry.plan.attachments[index];
    if (planned === undefined) return ok(undefined);
    if (planned.hotPlug?.requested === undefined) {
      const why = `interface ${ifname} of container ${key.containerId} (network ${planned.source}) was not attached by a request`;
      return failed(
        fault("HOT_PLUG_REFUSED", `${why}: the pod's annotation, a PodNetwork or the node's configuration asks for it`),
      );
    }
    return detachFromContainer(call, entry, index);
  });
}

/** The source of definitions, and the container's pod; `pod` is undefined if the runtime named none. */
async function clusterAndPod(call: Call): Promise<Result<{ readonly cluster: Cluster; readonly pod: Pod | undefined }>> {
  const identity = podIdentity(call.request.args);
  if (!identity.ok) return identity;
  // Without a cluster, a request names a network of the node, as the annotations that a runtime passes do.
  const cluster = (await call.cluster()) ?? withRuntimeAnnotations(undefined, new Map());
  if (identity.value === undefined) return ok({ cluster, pod: undefined });
  const { namespace, name, uid } = identity.value;
  const pod = await cluster.pod(namespace, name, { uid });
  return pod.ok ? ok({ cluster, pod: pod.value }) : pod;
}

function sameRequest({ plan, progress }: JournalEntry, selection: NetworkSelection): HotPlugged | undefined {
  const source = `${selection.namespace}/${selection.name}`;
  const requests = requestsText(selection);
  for (const [index, { ifname, source: of, hotPlug }] of plan.attachments.entries()) {
    const state = progress[index];
    const fits = of === source && hotPlug?.requested === requests && (selection.interface ?? ifname) === ifname;
    if (fits && state?.result !== undefined && isWhole(state)) return { ifname, source, result: state.result };
  }
  return undefined;
}
