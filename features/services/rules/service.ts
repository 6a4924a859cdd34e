// A Service on a further network, read from an object of the API that its author may have spoilt.

import { isJsonObject } from "../../../src/json/document.ts";
import type { Family } from "../../../src/net/ip.ts";
import { readAddress } from "../../../src/net/ip.ts";
import { isPortName, isPortNumber, isProtocol, type Protocol } from "../../../src/kube/named-ports.ts";
import { readNetworkName } from "../../../src/npwg/network-name.ts";

/** The annotation with the Service's network, and the same in the domain of NPWG. */
export const networkAnnotation = "plexus.dev/network";
export const npwgNetworkAnnotation = "k8s.v1.cni.cncf.io/service-network";

/** The annotation with the pods' labels, `LABEL=VALUE,...`. The admission policy moves `spec.selector` there. */
export const selectorAnnotation = "plexus.dev/selector";

/** The label with which kube-proxy leaves a Service and its slices alone, and its value. */
export const proxyLabel = "service.kubernetes.io/service-proxy-name";
export const proxyName = "plexus.dev";

/** A port of a Service. */
export interface ServicePort {
  /** Empty for a Service's only port. */
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** The number of the pods' port, or the name of a container's port. */
  readonly target: number | string;
  readonly appProtocol?: string;
}

/** A Service on a further network. */
export interface NetworkService {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The labels of the Service, which its slices have, too. */
  readonly labels: Readonly<Record<string, string>>;
  readonly network: string;
  /** `LABEL=VALUE`, sorted. Empty: the Service's author writes the slices. */
  readonly selector: readonly string[];
  readonly ports: readonly ServicePort[];
  /** Empty for a headless Service. */
  readonly clusterIps: readonly string[];
  readonly families: readonly Family[];
  readonly publishesNotReady: boolean;
  /** Connections of one client go to one endpoint until so many seconds have passed without any; undefined: each goes to an endpoint by chance. */
  readonly affinitySeconds: number | undefined;
}

/** A Service with a mistake. */
export interface UnreadableService {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The mistake and its remedy, as the rest of a sentence that begins with the Service's name. */
  readonly problem: string;
}

/** Maximum labels of a selector. */
const maxSelected = 64;
/** Maximum ports of a Service. The API server has no bound; each slice has all of them. */
export const maxPorts = 1000;

/** Reads a Service; undefined for a Service that names no further network, or that cannot have endpoints. */
export function readService(object: unknown): NetworkService | UnreadableService | undefined {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  const spec = isJsonObject(object) ? object["spec"] : undefined;
  if (!isJsonObject(metadata) || !isJsonObject(spec) || spec["type"] === "ExternalName") return undefined;
  const { namespace = "default", name, uid } = metadata;
  if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") return undefined;
  const annotations = textsIn(metadata["annotations"]);
  const named = annotations[networkAnnotation] ?? annotations[npwgNetworkAnnotation];
  if (named === undefined) return undefined;
  const service = { namespace, name, uid };
  const network = readNetworkName(named.trim(), namespace);
  if (!network.ok) return { ...service, problem: `the annotation ${networkAnnotation}: ${network.problem}` };
  if (Object.keys(textsIn(spec["selector"])).length > 0) {
    return {
      ...service,
      problem: `spec.selector gives its endpoints to the cluster's own controller. Install the chart's MutatingAdmissionPolicy plexus-services and write the Service again, or name the pods in the annotation ${selectorAnnotation}`,
    };
  }
  const selector = readSelectorText(annotations[selectorAnnotation] ?? "");
  if (selector === undefined) {
    return {
      ...service,
      problem: `the annotation ${selectorAnnotation} must be LABEL=VALUE, separated by commas, at most ${maxSelected}`,
    };
  }
  const ports: readonly unknown[] = Array.isArray(spec["ports"]) ? spec["ports"] : [];
  if (ports.length > maxPorts)
    return { ...service, problem: `spec.ports has ${ports.length} entries; Plexus allows ${maxPorts}. Divide the Service.` };
  const ips = listOf(spec["clusterIPs"]).filter((ip) => readAddress(ip) !== undefined);
  return {
    ...service,
    labels: textsIn(metadata["labels"]),
    network: network.value,
    selector,
    ports: ports.flatMap((port) => readPort(port) ?? []),
    clusterIps: ips,
    families: familiesOf(listOf(spec["ipFamilies"])),
    publishesNotReady: spec["publishNotReadyAddresses"] === true,
    affinitySeconds: affinityOf(spec),
  };
}

/** Reads `LABEL=VALUE,...`; undefined if a part is none. */
function readSelectorText(text: string): readonly string[] | undefined {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");
  return parts.length > maxSelected || parts.some((part) => !/^[^=\s]+=[^=\s]*$/u.test(part)) ? undefined : parts.toSorted();
}

function readPort(value: unknown): ServicePort | undefined {
  const { name = "", protocol = "TCP", port, targetPort = port, appProtocol } = isJsonObject(value) ? value : {};
  if (typeof name !== "string" || !isProtocol(protocol) || !isPortNumber(port)) return undefined;
  // A target of 0 means the port itself, as for an unset field of the API's type.
  const target = targetPort === 0 ? port : targetPort;
  if (!isPortNumber(target) && !isPortName(target)) return undefined;
  return { name, protocol, port, target, ...(typeof appProtocol === "string" ? { appProtocol } : {}) };
}

/** The API server's default and its bounds (core/v1 SessionAffinityConfig). */
export const affinityBounds = { usual: 10_800, max: 86_400 } as const;

function affinityOf({ sessionAffinity, sessionAffinityConfig }: Readonly<Record<string, unknown>>): number | undefined {
  if (sessionAffinity !== "ClientIP") return undefined;
  const clientIp = isJsonObject(sessionAffinityConfig) ? sessionAffinityConfig["clientIP"] : undefined;
  const seconds = isJsonObject(clientIp) ? clientIp["timeoutSeconds"] : undefined;
  return isAffinity(seconds) ? seconds : affinityBounds.usual;
}

/** Whether the value is a time of session affinity in seconds. */
export function isAffinity(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value > 0 && value <= affinityBounds.max;
}

function familiesOf(families: readonly string[]): readonly Family[] {
  const found = families.flatMap((each): Family[] => (each === "IPv4" ? [4] : each === "IPv6" ? [6] : []));
  return found.length === 0 ? [4] : found;
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === "string") : [];
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
