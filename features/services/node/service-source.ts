// Slices of Services with a cluster address in the Kubernetes API, by the networks of a node's pods.

import type { Result } from "../../../src/fault/result.ts";
import { isJsonObject } from "../../../src/json/document.ts";
import { listObjects } from "../../../host/cluster/list-objects.ts";
import type { ClusterApi } from "../../../host/cluster/object-source.ts";
import { backendAddress, type KeptSlice } from "../rules/balance.ts";
import { frontAnnotation, readFront } from "../rules/front.ts";
import { endpointSlicesPath, managedByLabel, manager, networkLabel, readPorts, readSlice } from "../rules/service-slice.ts";

/** The slices of networks, by the networks' ids. Faults: those of the API. */
export interface ServiceSource {
  readonly slices: (networks: readonly string[]) => Promise<Result<readonly KeptSlice[]>>;
}

/** A request's line has a bound. */
const maxSelected = 100;

/** The selector of the slices of these networks; of many networks, of all. */
export function sliceSelector(networks: readonly string[]): string {
  const own = `${managedByLabel}=${manager}`;
  return networks.length > maxSelected
    ? `${own},${networkLabel}`
    : `${own},${networkLabel} in (${networks.toSorted().join(",")})`;
}

/** The source, with the call's time for the API. */
export function serviceSource(api: ClusterApi): ServiceSource {
  return {
    slices: (networks) => {
      const wanted = new Set(networks);
      const collection = {
        path: endpointSlicesPath(""),
        query: { labelSelector: sliceSelector(networks) },
        absentIsEmpty: false,
      };
      return listObjects(api, collection, (object) => {
        const slice = keptSlice(object);
        return slice !== undefined && wanted.has(slice.network) ? slice : undefined;
      });
    },
  };
}

/** Reads a slice; undefined for one that is none: its endpoints get no connections. */
export function keptSlice(object: unknown): KeptSlice | undefined {
  const slice = readSlice(object);
  const metadata = isJsonObject(object) && isJsonObject(object["metadata"]) ? object["metadata"] : {};
  const annotations = isJsonObject(metadata["annotations"]) ? metadata["annotations"] : {};
  const text = annotations[frontAnnotation];
  const front = readFront(typeof text === "string" ? text : undefined);
  const network = slice?.labels[networkLabel];
  if (slice === undefined || front === undefined || network === undefined || slice.managedBy !== manager) return undefined;
  const { namespace, service, family } = slice;
  const ports = readPorts(isJsonObject(object) ? object["ports"] : undefined);
  return {
    namespace,
    service,
    network,
    front,
    family,
    ports,
    endpoints: slice.endpoints.flatMap((each) => backendAddress(each) ?? []),
  };
}
