// The Kubernetes API as the source of pods and definitions.

import { type Fault, fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { parseDocument } from "../../src/json/document.ts";
import { quote } from "../../src/json/quote.ts";
import { backoffMs } from "../../src/kube/backoff.ts";
import { podEvent } from "../../src/kube/pod-event.ts";
import {
  type NetworkAttachmentDefinition,
  readNetworkAttachmentDefinition,
} from "../../src/npwg/network-attachment-definition.ts";
import { labelProblem, subdomainProblem } from "../../src/npwg/object-names.ts";
import { checkPodUid, type Pod, readPod } from "../../src/npwg/pod.ts";
import type { Cluster } from "../cluster/cluster.ts";
import { shortHash } from "../files/short-hash.ts";
import { ApiClient, type ApiClientInit, statusMessage } from "./api-client.ts";
import { type CredentialSource, kubeconfigCredentials, serviceAccountCredentials } from "./credentials.ts";

export interface KubeClusterInit extends Omit<ApiClientInit, "credentials"> {
  /** A kubeconfig, or the files of a service account with the server's URL; or where a brain that stays has them from. */
  readonly credentials:
    | CredentialSource
    | { readonly kubeconfig: string; readonly allowInsecure?: boolean }
    | { readonly serviceAccountDirectory: string; readonly server: string };
}

const statusAnnotation = "k8s.v1.cni.cncf.io/network-status";

/** How long a pod that isn't found is looked for: the runtime knows it from the same API, but a mirror pod may come later. */
const podPatienceMs = 2_500;
const longestLookMs = 500;

/** Milliseconds for one event, and events of one call. */
const eventBoundMs = 3_000;
const mostEvents = 32;

/**
 * The cluster behind an API server, for one call of a runtime: the budget is this call's. Nothing is asked before the first
 * lookup.
 */
export function kubeCluster(init: KubeClusterInit): Cluster {
  const { credentials, warn, random = Math.random } = init;
  const client = new ApiClient({ ...init, credentials: sourceOf(credentials) });
  const events: (() => Promise<unknown>)[] = [];

  const lookForPod = async (path: string, who: string): Promise<Result<Pod>> => {
    const started = init.now();
    for (let attempt = 0; ; attempt++) {
      const answer = await client.call({ method: "GET", path, metadataOnly: true });
      if (!answer.ok) return answer;
      if (answer.value.status < 300) return objectOf(answer.value.body, who, readPod);
      const absent = failed(fault("POD_NOT_FOUND", `${who}: the Kubernetes API doesn't have it`));
      if (init.now() - started >= podPatienceMs) return absent;
      if (!(await client.pause(Math.min(longestLookMs, backoffMs(attempt, random))))) return absent;
    }
  };

  return {
    pod: async (namespace, name, expected) => {
      const problem = labelProblem(namespace) ?? subdomainProblem(name);
      if (problem !== undefined)
        return failed(fault("POD_NOT_FOUND", `pod ${quote(namespace)}/${quote(name)}: a name ${problem}`));
      const who = `pod ${namespace}/${name}`;
      const found = await lookForPod(podPath(namespace, name), who);
      if (!found.ok) return found;
      const same = isNamed(found.value, namespace, name, who);
      return same.ok ? checkPodUid(found.value, expected?.uid) : same;
    },

    networkAttachmentDefinition: async (namespace, name) => {
      const problem = labelProblem(namespace) ?? labelProblem(name);
      const who = `NetworkAttachmentDefinition ${namespace}/${name}`;
      if (problem !== undefined) return failed(fault("NETWORK_NOT_FOUND", `${who}: a name ${problem}`));
      const path = `/apis/k8s.cni.cncf.io/v1/namespaces/${namespace}/network-attachment-definitions/${name}`;
      const answer = await client.call({ method: "GET", path });
      if (!answer.ok) return answer;
      const { status, body } = answer.value;
      if (status >= 300) return failed(fault("NETWORK_NOT_FOUND", `${who} is not in the Kubernetes API${statusMessage(body)}`));
      const read = objectOf<NetworkAttachmentDefinition>(body, who, readNetworkAttachmentDefinition);
      if (!read.ok) return read;
      const same = isNamed(read.value, namespace, name, who);
      return same.ok ? read : same;
    },

    publishStatus: async (pod, annotation) => {
      const who = `pod ${pod.namespace}/${pod.name}`;
      const path = `${podPath(pod.namespace, pod.name)}/status`;
      // The uid is a precondition: another pod of the name is never written to.
      const metadata = { ...(pod.uid === undefined ? {} : { uid: pod.uid }), annotations: { [statusAnnotation]: annotation } };
      const request = {
        method: "PATCH",
        path,
        contentType: "application/merge-patch+json",
        body: JSON.stringify({ metadata }),
        metadataOnly: true,
      } as const;
      for (let attempt = 0; ; attempt++) {
        const answer = await client.call(request);
        if (!answer.ok) return answer;
        const { status, body } = answer.value;
        if (status < 300) return ok(undefined);
        const said = `HTTP ${status}${statusMessage(body)}`;
        if (status === 404 || status === 410) return vanished(who, "is gone", warn);
        const now = await client.call({ method: "GET", path: podPath(pod.namespace, pod.name), metadataOnly: true });
        if (!now.ok) return now;
        if (now.value.status >= 300) return vanished(who, "is gone", warn);
        const current = objectOf(now.value.body, who, readPod);
        if (!current.ok) return current;
        if (pod.uid !== undefined && current.value.uid !== pod.uid) return vanished(who, "was created anew", warn);
        if (status !== 409) return failed(fault("API_REFUSED", `network status of ${who}: ${said}`));
        if (!(await client.pause(backoffMs(attempt, random)))) {
          return failed(fault("API_UNREACHABLE", `network status of ${who}: ${said} (tried ${attempt + 1} times)`));
        }
      }
    },

    tell: (pod, event) => {
      if (events.length >= mostEvents) return;
      const at = new Date();
      events.push(() => {
        const body = podEvent(pod, event, at, shortHash);
        const path = `/api/v1/namespaces/${pod.namespace}/events`;
        return client.attempt({ method: "POST", path, body, metadataOnly: true }, eventBoundMs);
      });
    },

    end: async (boundMs) => {
      // Not before: the runtime waits for its answer, and nobody for these.
      const sent = events.splice(0).map((send) => send());
      if (sent.length > 0) await Promise.race([Promise.allSettled(sent), init.sleep(boundMs)]);
      client.close();
    },
  };
}

function sourceOf(credentials: KubeClusterInit["credentials"]): CredentialSource {
  if (typeof credentials === "function") return credentials;
  if ("kubeconfig" in credentials) return kubeconfigCredentials(credentials.kubeconfig, credentials);
  return serviceAccountCredentials(credentials.serviceAccountDirectory, credentials.server);
}

function podPath(namespace: string, name: string): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** A pod that is gone has no status to be told; its sandbox gets its DEL from the runtime (MA-09). */
function vanished(who: string, what: string, warn: (text: string) => void): Result<void> {
  warn(`${who} ${what}: its network status is not published`);
  return ok(undefined);
}

function objectOf<T>(body: string, who: string, read: (object: unknown) => Result<T>): Result<T> {
  const document = parseDocument(body, { what: `the Kubernetes API's answer for ${who}`, kind: "API_REFUSED" });
  return document.ok ? read(document.value.parsed) : document;
}

/** What is read is what was asked for: a cache in between could mix them up. */
function isNamed(
  object: { readonly namespace: string; readonly name: string },
  namespace: string,
  name: string,
  who: string,
): Result<void> {
  if (object.namespace === namespace && object.name === name) return ok(undefined);
  const other: Fault = fault("API_REFUSED", `${who}: the Kubernetes API answered with ${object.namespace}/${object.name}`);
  return failed(other);
}
