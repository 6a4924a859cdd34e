// The PodNetworks that an allocated resource claim names (docs/how-to/networks-as-claims.md). A claim without an allocation attaches nothing.

import { isJsonObject } from "../../../src/json/document.ts";
import { readParts } from "../../../src/kube/object-parts.ts";
import { podNetworkPrefix } from "../../../src/npwg/network-name.ts";
import type { StoredObject } from "../../../host/cluster/kube/object-store.ts";

/** The driver whose opaque configurations name PodNetworks. */
const driver = "plexus.dev";
const none: readonly string[] = [];

/** Reads the names. Claims without any share one value: a cluster may have many claims of other drivers. */
export function storedClaim(object: unknown): StoredObject<readonly string[]> | undefined {
  const parts = readParts(object, { isNamespaced: true });
  if (!parts.ok) return undefined;
  const { namespace, metadata, status } = parts.value;
  const networks = podNetworksIn(status["allocation"]);
  const size = networks.reduce((sum, each) => sum + each.length, 0);
  return { namespace, name: metadata.name, value: networks.length === 0 ? none : networks, size };
}

function podNetworksIn(allocation: unknown): readonly string[] {
  const devices = isJsonObject(allocation) ? allocation["devices"] : undefined;
  const configs: unknown = isJsonObject(devices) ? devices["config"] : undefined;
  if (!Array.isArray(configs)) return none;
  const names = configs.flatMap((each: unknown) => {
    const opaque = isJsonObject(each) ? each["opaque"] : undefined;
    const parameters = isJsonObject(opaque) && opaque["driver"] === driver ? opaque["parameters"] : undefined;
    if (!isJsonObject(parameters)) return [];
    const { podNetwork, policies } = parameters;
    if (typeof podNetwork === "string") return [podNetwork];
    return typeof policies === "string" && policies.startsWith(podNetworkPrefix) ? [policies.slice(podNetworkPrefix.length)] : [];
  });
  return [...new Set(names)];
}
