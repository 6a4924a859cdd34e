// The gate of a pod that names networks: opened when all of them are ready, else the reason stands in the pod's condition and in an Event (KE-43, KE-44).

import { isJsonObject } from "../../../src/json/document.ts";
import { podNetworksAnnotation } from "../rules/annotations.ts";
import { readPodNetworks } from "../rules/pod-networks.ts";
import { waitReason } from "../rules/pod-readiness.ts";
import { networksLabel, readPod } from "../../../src/npwg/pod.ts";
import type { ApiObject } from "../../../host/cluster/kube/api-objects.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import type { NetworkCollections } from "./collections.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import { gatedValue } from "./stored.ts";

/** The name of the gate in spec.schedulingGates, which the admission policy adds. */
export const networksGate = "plexus.dev/networks-ready";
/** The label's value after the gate was opened. */
const openValue = "open";

const done: WorkOutcome = { kind: "done" };

/** The work on a pod with the label's value `gated`. */
export async function workOnPod(
  { objects, event }: PartContext,
  collections: NetworkCollections,
  namespace: string,
  name: string,
): Promise<WorkOutcome> {
  if (collections.pods.get(namespace, name)?.isGated !== true) return done;
  const path = `/api/v1/namespaces/${namespace}/pods/${name}`;
  const answer = await objects.get(path);
  if (answer.kind !== "object") return outcomeOf(answer);
  const pod = readPod(answer.object);
  if (!pod.ok || pod.value.uid === undefined) return { kind: "failed", why: "the API's answer is not a pod" };
  const entries = readPodNetworks(pod.value.annotations.get(podNetworksAnnotation));
  const reason = entries.ok
    ? waitReason(entries.value, {
        network: (each) => collections.networks.get("", each),
        attachment: (each) => collections.attachments.get(namespace, each),
      })
    : entries.fault.msg;
  if (reason === undefined) return outcomeOf(await objects.patch(path, openGate(answer.object, pod.value.uid), "json"));
  if (messageOf(answer.object) === reason) return done;
  const condition = { type: "PodScheduled", status: "False", reason: "SchedulingGated", message: reason };
  const written = await objects.patch(
    `${path}/status`,
    { metadata: { uid: pod.value.uid }, status: { conditions: [condition] } },
    "strategic",
  );
  if (written.kind === "object") {
    const target = { kind: "Pod", eventNamespace: namespace, name, uid: pod.value.uid };
    event(target, { reason: "NetworksNotReady", message: reason, type: "Warning" });
  }
  return outcomeOf(written);
}

/** A JSON patch that removes the gate, if the pod is still the same and has it at this place. */
function openGate(pod: ApiObject, uid: string): readonly object[] {
  const spec = isJsonObject(pod["spec"]) ? pod["spec"] : {};
  const gates = Array.isArray(spec["schedulingGates"]) ? spec["schedulingGates"] : [];
  const index = gates.findIndex((gate) => isJsonObject(gate) && gate["name"] === networksGate);
  const label = `/metadata/labels/${networksLabel.replace("/", "~1")}`;
  const remove = [
    { op: "test", path: `/spec/schedulingGates/${index}/name`, value: networksGate },
    { op: "remove", path: `/spec/schedulingGates/${index}` },
  ];
  return [
    { op: "test", path: "/metadata/uid", value: uid },
    { op: "test", path: label, value: gatedValue },
    { op: "replace", path: label, value: openValue },
    ...(index === -1 ? [] : remove),
  ];
}

/** The message of the condition PodScheduled. */
function messageOf(pod: ApiObject): unknown {
  const status = isJsonObject(pod["status"]) ? pod["status"] : {};
  const conditions: unknown[] = Array.isArray(status["conditions"]) ? status["conditions"] : [];
  const scheduled = conditions.find((each) => isJsonObject(each) && each["type"] === "PodScheduled");
  return isJsonObject(scheduled) ? scheduled["message"] : undefined;
}
