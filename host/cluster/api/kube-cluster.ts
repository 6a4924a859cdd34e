// The Kubernetes API as a source of pods and definitions.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import { quote } from "../../../src/json/quote.ts";
import { backoffMs } from "../../../src/kube/backoff.ts";
import { type EventPod, involvedPod, type PodEvent, podEventContent } from "../../../src/kube/pod-event.ts";
import { eventsPath, eventText } from "../../../src/kube/event.ts";
import {
  type NetworkAttachmentDefinition,
  readNetworkAttachmentDefinition,
} from "../../../src/npwg/network-attachment-definition.ts";
import { labelProblem, subdomainProblem } from "../../../src/npwg/object-names.ts";
import { checkPodUid, type Pod, readPod } from "../../../src/npwg/pod.ts";
import type { Cluster } from "../cluster.ts";
import { shortHash } from "../../system/ids.ts";
import type { Clock } from "../../system/clock.ts";
import type { EventQueue } from "../events/event-queue.ts";
import { ApiClient, type ApiClientInit, statusMessage } from "../kube/api-client.ts";
import { type CredentialSource, kubeconfigCredentials, serviceAccountCredentials } from "../kube/credentials.ts";

/** Settings of a cluster behind the API. */
export interface KubeClusterInit extends Omit<ApiClientInit, "credentials"> {
  /** A daemon's source; a kubeconfig; or the files of a service account with the server's URL. */
  readonly credentials:
    | CredentialSource
    | { readonly kubeconfig: string; readonly allowInsecure?: boolean }
    | { readonly serviceAccountDirectory: string; readonly server: string };
  /** A daemon's queue. Undefined: each Event is sent once, because the process ends with the call. */
  readonly events?: EventQueue;
}

const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";

/** Time for which a missing pod is looked for, in ms: the runtime knows it from the same API, but a mirror pod may appear later. */
const maxWaitMs = 2_500;
const maxPauseMs = 500;

/** Maximum duration of sending one event, in milliseconds, and maximum number of events of one call. */
const eventMs = 3_000;
const maxEvents = 32;

/**
 * The cluster behind an API server, for one call of a runtime, with this call's budget. The first lookup sends the first request.
 */
export function kubeCluster(init: KubeClusterInit): Cluster {
  const { credentials, warn } = init;
  const access = {
    client: new ApiClient({ ...init, credentials: sourceOf(credentials) }),
    clock: init.clock,
    random: init.random ?? Math.random,
  };
  const { client } = access;
  const events: { readonly pod: EventPod; readonly event: PodEvent; readonly at: Date }[] = [];
  return {
    pod: (namespace, name, expected) => readPodOf(access, namespace, name, expected?.uid),
    networkAttachmentDefinition: (namespace, name) => readDefinition(client, namespace, name),
    api: client,
    objects: async (source) => source.read(client),
    publishStatus: (pod, annotation, further = {}) =>
      writeAnnotations(access, pod, { ...further, [statusAnnotation]: annotation }, warn),

    tell: (pod, event) => {
      if (events.length < maxEvents) events.push({ pod, event, at: init.clock.date() });
    },

    end: async (maxMs) => {
      // Events are sent at the end, so that they do not delay the runtime's answer.
      const sent = events.splice(0).flatMap(({ pod, event, at }) => {
        const [target, content] = [involvedPod(pod), podEventContent(event)];
        if (init.events !== undefined) {
          init.events.add(target, content, at);
          return [];
        }
        const body = eventText(target, content, at, shortHash);
        const path = eventsPath(pod.namespace);
        return [client.attempt({ method: "POST", path, body, metadataOnly: true }, eventMs)];
      });
      if (sent.length > 0) await Promise.race([Promise.allSettled(sent), init.sleep(maxMs)]);
      client.close();
    },
  };
}

/** The API of one call, and what its waits need. */
interface Access {
  readonly client: ApiClient;
  readonly clock: Clock;
  readonly random: () => number;
}

async function readPodOf(access: Access, namespace: string, name: string, uid: string | undefined): Promise<Result<Pod>> {
  const problem = labelProblem(namespace) ?? subdomainProblem(name);
  if (problem !== undefined) return failed(fault("POD_NOT_FOUND", `pod ${quote(namespace)}/${quote(name)}: a name ${problem}`));
  const podName = `pod ${namespace}/${name}`;
  const found = await lookForPod(access, podPath(namespace, name), podName);
  if (!found.ok) return found;
  const same = isNamed(found.value, namespace, name, podName);
  return same.ok ? checkPodUid(found.value, uid) : same;
}

/** Reads a pod, and waits for a pod that the API does not have yet. */
async function lookForPod({ client, clock, random }: Access, path: string, podName: string): Promise<Result<Pod>> {
  const started = clock.now();
  for (let attempt = 0; ; attempt++) {
    const answer = await client.call({ method: "GET", path, metadataOnly: true });
    if (!answer.ok) return answer;
    if (answer.value.status < 300) return objectOf(answer.value.body, podName, readPod);
    const absent = failed(fault("POD_NOT_FOUND", `${podName}: not found in the Kubernetes API`));
    if (clock.now() - started >= maxWaitMs) return absent;
    if (!(await client.pause(Math.min(maxPauseMs, backoffMs(attempt, random))))) return absent;
  }
}

async function readDefinition(client: ApiClient, namespace: string, name: string): Promise<Result<NetworkAttachmentDefinition>> {
  const problem = labelProblem(namespace) ?? labelProblem(name);
  const definitionName = `NetworkAttachmentDefinition ${namespace}/${name}`;
  if (problem !== undefined) return failed(fault("NETWORK_NOT_FOUND", `${definitionName}: a name ${problem}`));
  const path = `/apis/k8s.cni.cncf.io/v1/namespaces/${namespace}/network-attachment-definitions/${name}`;
  const answer = await client.call({ method: "GET", path });
  if (!answer.ok) return answer;
  const { status, body } = answer.value;
  if (status >= 300)
    return failed(fault("NETWORK_NOT_FOUND", `${definitionName} is not in the Kubernetes API${statusMessage(body)}`));
  const read = objectOf<NetworkAttachmentDefinition>(body, definitionName, readNetworkAttachmentDefinition);
  if (!read.ok) return read;
  const same = isNamed(read.value, namespace, name, definitionName);
  return same.ok ? read : same;
}

/** Writes annotations through the pod's subresource `status`. A pod that is gone, or was recreated under its name, is skipped with a warning. */
async function writeAnnotations(
  { client, random }: Access,
  { namespace, name, uid }: Pod,
  annotations: Readonly<Record<string, string>>,
  warn: (text: string) => void,
): Promise<Result<void>> {
  const podName = `pod ${namespace}/${name}`;
  const path = podPath(namespace, name);
  // The uid is a precondition: another pod of the same name is never written to.
  const body = JSON.stringify({ metadata: { ...(uid === undefined ? {} : { uid }), annotations } });
  const contentType = "application/merge-patch+json";
  for (let attempt = 0; ; attempt++) {
    const answer = await client.call({ method: "PATCH", path: `${path}/status`, contentType, body, metadataOnly: true });
    if (!answer.ok) return answer;
    const { status } = answer.value;
    if (status < 300) return ok(undefined);
    if (status === 404 || status === 410) return vanished(podName, "no longer exists", warn);
    const now = await client.call({ method: "GET", path, metadataOnly: true });
    if (!now.ok) return now;
    if (now.value.status >= 300) return vanished(podName, "no longer exists", warn);
    const current = objectOf(now.value.body, podName, readPod);
    if (!current.ok) return current;
    if (uid !== undefined && current.value.uid !== uid) return vanished(podName, "was recreated", warn);
    const what = `network status of ${podName}: HTTP ${status}${statusMessage(answer.value.body)}`;
    if (status !== 409) return failed(fault("API_REFUSED", what));
    if (!(await client.pause(backoffMs(attempt, random))))
      return failed(fault("API_UNREACHABLE", `${what} (tried ${attempt + 1} times)`));
  }
}

function sourceOf(credentials: KubeClusterInit["credentials"]): CredentialSource {
  if (typeof credentials === "function") return credentials;
  if ("kubeconfig" in credentials) return kubeconfigCredentials(credentials.kubeconfig, credentials);
  return serviceAccountCredentials(credentials.serviceAccountDirectory, credentials.server);
}

function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** A deleted pod needs no status; the runtime sends its sandbox's DEL (MA-09). */
function vanished(podName: string, problem: string, warn: (text: string) => void): Result<void> {
  warn(`${podName} ${problem}: its network status is not published`);
  return ok(undefined);
}

function objectOf<T>(body: string, name: string, read: (object: unknown) => Result<T>): Result<T> {
  const document = parseDocument(body, { what: `the Kubernetes API's answer for ${name}`, kind: "API_REFUSED" });
  return document.ok ? read(document.value.parsed) : document;
}

/** Checks that the answer is the requested object: a cache in between could confuse objects. */
function isNamed(
  object: { readonly namespace: string; readonly name: string },
  namespace: string,
  name: string,
  wanted: string,
): Result<void> {
  if (object.namespace === namespace && object.name === name) return ok(undefined);
  const other: Fault = fault("API_REFUSED", `${wanted}: the Kubernetes API answered with ${object.namespace}/${object.name}`);
  return failed(other);
}
