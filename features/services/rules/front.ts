// The front of a Service: the cluster addresses and ports that its clients see. The controller writes the front into an annotation of the slices, so that a node watches the slices
// of its networks only, and no Services.

import { isJsonObject } from "../../../src/json/document.ts";
import { boundedJson } from "../../../src/json/bounded-json.ts";
import { readAddress } from "../../../src/net/ip.ts";
import { isPortNumber, isProtocol, type Protocol } from "../../../src/kube/named-ports.ts";
import { isAffinity, maxPorts, type NetworkService } from "./service.ts";

/** The annotation of slices. */
export const frontAnnotation = "plexus.dev/service";

/** The front of a Service. */
export interface Front {
  /** The uid of the Service; empty: the slice does not name it. */
  readonly uid: string;
  readonly clusterIps: readonly string[];
  readonly ports: readonly { readonly name: string; readonly protocol: Protocol; readonly port: number }[];
  readonly affinitySeconds?: number;
}

const maxIps = 2;

/** The annotation's text; undefined for a headless Service, which pods reach by its endpoints. */
export function frontText({ uid, clusterIps, ports, affinitySeconds }: NetworkService): string | undefined {
  if (clusterIps.length === 0) return undefined;
  return JSON.stringify({
    uid,
    clusterIPs: clusterIps,
    ports: ports.map(({ name, protocol, port }) => ({ name, protocol, port })),
    affinitySeconds,
  });
}

/** Reads the annotation; undefined if the text is none. */
export function readFront(text: string | undefined): Front | undefined {
  const value = text === undefined ? undefined : boundedJson(text);
  if (!isJsonObject(value)) return undefined;
  const { uid, clusterIPs, ports, affinitySeconds } = value;
  if (!Array.isArray(clusterIPs) || !Array.isArray(ports)) return undefined;
  const clusterIps = clusterIPs.filter((ip): ip is string => typeof ip === "string" && readAddress(ip) !== undefined);
  const read = ports.slice(0, maxPorts).flatMap((each) => {
    const { name, protocol, port } = isJsonObject(each) ? each : {};
    return typeof name === "string" && isProtocol(protocol) && isPortNumber(port) ? [{ name, protocol, port }] : [];
  });
  return {
    uid: isUid(uid) ? uid : "",
    clusterIps: clusterIps.slice(0, maxIps),
    ports: read,
    ...(isAffinity(affinitySeconds) ? { affinitySeconds } : {}),
  };
}

/** Names in the kernel have a part of the uid. */
function isUid(value: unknown): value is string {
  return typeof value === "string" && /^[\w-]{1,63}$/u.test(value);
}
