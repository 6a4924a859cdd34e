// The work on a pod whose networks have external ports: an ExternalPort for each of them, before its node needs them.

import type { PodFacts } from "../rules/wanted-ports.ts";
import { externalPortObject, waitsForPorts, wantedPorts } from "../rules/wanted-ports.ts";
import { externalPortName } from "../rules/external-port.ts";
import type { NamespacePolicy } from "../../../src/npwg/namespace-policy.ts";
import { readPod } from "../../../src/npwg/pod.ts";
import type { NpwgProfile } from "../../../src/npwg/profile.ts";
import type { ApiObject } from "../../../host/cluster/kube/api-objects.ts";
import type { PartContext } from "../../../host/controller/part.ts";
import { outcomeOf } from "../../../host/controller/work/request-outcome.ts";
import type { WorkOutcome } from "../../../host/cluster/work/work-queue.ts";
import type { PortCollections } from "./collections.ts";
import { portPath, portsPath } from "./status.ts";
import { objectOf } from "../rules/values.ts";

/** The keys of the nodes' configuration that decide which networks a pod gets. */
export interface SelectionRules {
  readonly profile: NpwgProfile;
  /** The namespaces whose definitions a pod may select. */
  readonly isolation: NamespacePolicy;
}

const done: WorkOutcome = { kind: "done" };

/** Creates what the pod lacks. Creating the objects is idempotent: their names have the pod's UID. `rules`: those of the nodes. */
export async function workOnPod(
  { objects, event }: PartContext,
  collections: PortCollections,
  rules: SelectionRules,
  namespace: string,
  name: string,
): Promise<WorkOutcome> {
  if (!collections.wantsPorts(namespace, name)) return done;
  const answer = await objects.get(`/api/v1/namespaces/${namespace}/pods/${name}`);
  if (answer.kind !== "object") return outcomeOf(answer);
  const pod = podFacts(answer.object);
  if (pod === undefined) return { kind: "failed", why: "the API's answer is not a pod" };
  if (!waitsForPorts(pod)) return done;
  const find = (...id: [string, string]): ReadonlyMap<string, string> | undefined =>
    collections.definitions.get(...id)?.annotations;
  const wanted = wantedPorts(pod, find, rules.profile, rules.isolation);
  if (!wanted.ok) {
    event(
      { kind: "Pod", eventNamespace: namespace, name, uid: pod.uid },
      { reason: "ExternalPortInvalid", message: wanted.problem, type: "Warning" },
    );
    return done;
  }
  for (const spec of wanted.ports) {
    const port = externalPortName(spec.podUid, spec.index);
    if (collections.ports.get(namespace, port) !== undefined) continue;
    const made = await objects.create(portsPath(namespace), externalPortObject(namespace, spec));
    if (made.kind === "object") continue;
    // A conflict means that the object exists, or that a ResourceQuota was changed at the same time.
    if (made.kind === "conflict" && (await objects.get(portPath(namespace, port))).kind === "object") continue;
    if (made.kind === "refused") {
      const message = `the API server refuses ExternalPort ${port}, which is tried again: ${made.why}`;
      event(
        { kind: "Pod", eventNamespace: namespace, name, uid: pod.uid },
        { reason: "ExternalPortNotCreated", message, type: "Warning" },
      );
    }
    return outcomeOf(made);
  }
  return done;
}

/** The facts of a pod; undefined for another object. */
export function podFacts(object: ApiObject): PodFacts | undefined {
  const pod = readPod(object);
  if (!pod.ok || pod.value.uid === undefined) return undefined;
  const { nodeName, hostNetwork } = objectOf(object["spec"]);
  const { phase } = objectOf(object["status"]);
  return {
    ...pod.value,
    uid: pod.value.uid,
    nodeName: typeof nodeName === "string" ? nodeName : "",
    phase: typeof phase === "string" ? phase : "Pending",
    isHostNetwork: hostNetwork === true,
  };
}
