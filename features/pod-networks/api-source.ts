// PodNetworks and PodNetworkAttachments of the Kubernetes API, for one call of a runtime.

import { ok, type Result } from "../../src/fault/result.ts";
import { labelProblem, subdomainProblem } from "../../src/npwg/object-names.ts";
import {
  type PodNetwork,
  type PodNetworkAttachment,
  podNetworkApiVersion,
  readPodNetwork,
  readPodNetworkAttachment,
} from "./rules/objects.ts";
import { namedObject } from "../../host/cluster/api/named-object.ts";
import type { ApiCaller } from "../../host/cluster/object-source.ts";

const group = `/apis/${podNetworkApiVersion}`;

/** PodNetworks and their attachments of a cluster's API; undefined: there is no object of that name. Faults: those of the API. */
export interface PodNetworkSource {
  readonly network: (name: string) => Promise<Result<PodNetwork | undefined>>;
  readonly attachment: (namespace: string, name: string) => Promise<Result<PodNetworkAttachment | undefined>>;
}

/** The source, with the call's time for the API. A name that no object can have finds none, without a request. */
export function podNetworkSource(api: ApiCaller): PodNetworkSource {
  return {
    network: async (name) =>
      subdomainProblem(name) === undefined
        ? namedObject(api, `${group}/podnetworks/${name}`, { namespace: "", name }, readPodNetwork)
        : ok(undefined),
    attachment: async (namespace, name) =>
      (labelProblem(namespace) ?? subdomainProblem(name)) === undefined
        ? namedObject(
            api,
            `${group}/namespaces/${namespace}/podnetworkattachments/${name}`,
            { namespace, name },
            readPodNetworkAttachment,
          )
        : ok(undefined),
  };
}
