// PodNetworks and PodNetworkAttachments of the Kubernetes API, for one call of a runtime.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { parseDocument } from "../../src/json/document.ts";
import { labelProblem, subdomainProblem } from "../../src/npwg/object-names.ts";
import type { Reading } from "../../src/kube/object-parts.ts";
import {
  type NetworkObject,
  type PodNetwork,
  type PodNetworkAttachment,
  podNetworkApiVersion,
  readPodNetwork,
  readPodNetworkAttachment,
} from "./rules/objects.ts";
import type { ClusterApi } from "../../host/cluster/object-source.ts";

const group = `/apis/${podNetworkApiVersion}`;

/** PodNetworks and their attachments of a cluster's API; undefined: there is no object of that name. Faults: those of the API. */
export interface PodNetworkSource {
  readonly network: (name: string) => Promise<Result<PodNetwork | undefined>>;
  readonly attachment: (namespace: string, name: string) => Promise<Result<PodNetworkAttachment | undefined>>;
}

/** The source, with the call's time for the API. A name that no object can have finds none, without a request. */
export function podNetworkSource(api: Pick<ClusterApi, "call">): PodNetworkSource {
  return {
    network: async (name) =>
      subdomainProblem(name) === undefined
        ? read(api, `${group}/podnetworks/${name}`, { namespace: "", name }, readPodNetwork)
        : ok(undefined),
    attachment: async (namespace, name) =>
      (labelProblem(namespace) ?? subdomainProblem(name)) === undefined
        ? read(
            api,
            `${group}/namespaces/${namespace}/podnetworkattachments/${name}`,
            { namespace, name },
            readPodNetworkAttachment,
          )
        : ok(undefined),
  };
}

async function read<T extends NetworkObject>(
  api: Pick<ClusterApi, "call">,
  path: string,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  reader: (object: unknown) => Reading<T>,
): Promise<Result<T | undefined>> {
  const answer = await api.call({ method: "GET", path });
  if (!answer.ok) return answer;
  if (answer.value.status >= 300) return ok(undefined);
  const what = `the Kubernetes API's answer for ${path}`;
  const document = parseDocument(answer.value.body, { what, kind: "API_REFUSED" });
  if (!document.ok) return document;
  const object = reader(document.value.parsed);
  if (!object.ok) return failed(fault("API_REFUSED", `${what}: ${object.problem}`));
  // A cache in between could confuse objects.
  if (object.value.namespace === namespace && object.value.name === name) return ok(object.value);
  return failed(fault("API_REFUSED", `${what} is ${object.value.namespace}/${object.value.name}`));
}
