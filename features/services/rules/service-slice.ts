// EndpointSlices of a Service on a further network: read from the API, and as new objects.

import { isJsonObject } from "../../../src/json/document.ts";
import type { Family } from "../../../src/net/ip.ts";
import { isPortNumber, isProtocol } from "../../../src/kube/named-ports.ts";
import { type EndpointPort, type EndpointText, readEndpoint } from "./endpoint.ts";
import { frontAnnotation, frontText } from "./front.ts";
import { type NetworkService, proxyLabel, proxyName } from "./service.ts";

/** The label with the Service's name, and the label with the controller of a slice. */
export const serviceNameLabel = "kubernetes.io/service-name";
export const managedByLabel = "endpointslice.kubernetes.io/managed-by";
export const manager = "plexus-controller";
const headlessLabel = "service.kubernetes.io/headless";

/** The label with the id of the network, on slices of Services with a cluster address: nodes select them by it. */
export const networkLabel = "plexus.dev/network";

/** Maximum endpoints of a slice, as kube-controller-manager's default. */
export const maxEndpoints = 100;

/** Labels of a Service that do not belong to its slices. */
const notCopied = new Set([serviceNameLabel, managedByLabel, headlessLabel, networkLabel]);

/** A slice of Plexus. */
export interface ServiceSlice {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly service: string;
  /** The uid of the Service that owns the slice; empty: none does. */
  readonly owner: string;
  /** The text of labels and front; empty for a slice that another writer made. */
  readonly meta: string;
  readonly family: Family;
  /** The JSON text of the ports. */
  readonly ports: string;
  readonly endpoints: readonly EndpointText[];
}

/** Labels and front of a Service's slices. */
export interface SliceMeta {
  readonly labels: Readonly<Record<string, string>>;
  readonly front: string | undefined;
}

/** The collection's path; empty: of all namespaces. */
export function endpointSlicesPath(namespace: string): string {
  return `/apis/discovery.k8s.io/v1/${namespace === "" ? "" : `namespaces/${namespace}/`}endpointslices`;
}

/** Labels and front of the slices. `networkId` is the label's value for the Service's network. */
export function sliceMeta(service: NetworkService, networkId: string): SliceMeta {
  const front = frontText(service);
  const own = Object.entries(service.labels).filter(([key]) => !notCopied.has(key));
  const labels = {
    ...Object.fromEntries(own),
    [serviceNameLabel]: service.name,
    [managedByLabel]: manager,
    [proxyLabel]: proxyName,
    ...(front === undefined ? { [headlessLabel]: "" } : { [networkLabel]: networkId }),
  };
  return { labels, front };
}

/** The text of labels and front, which decides whether a slice's metadata are written. */
export function metaText({ labels, front = "" }: SliceMeta): string {
  return JSON.stringify([Object.entries(labels).toSorted(([one], [other]) => (one < other ? -1 : 1)), front]);
}

/** The labels' names in the text of labels and front. */
export function labelNames(meta: string): readonly string[] {
  const parsed: unknown = meta === "" ? [] : JSON.parse(meta);
  const labels: unknown = Array.isArray(parsed) ? parsed[0] : undefined;
  return Array.isArray(labels) ? labels.flatMap((each: unknown) => (Array.isArray(each) ? [String(each[0])] : [])) : [];
}

/** The owner of a Service's slices. The chart's policy refuses slices of plexus-controller without it. */
export function ownersOf({ name, uid }: NetworkService): readonly object[] {
  return [{ apiVersion: "v1", kind: "Service", name, uid, controller: true }];
}

/** The object of a new slice. The garbage collector removes it with its Service. */
export function sliceObject(
  service: NetworkService,
  name: string,
  meta: SliceMeta,
  content: { readonly family: Family; readonly ports: readonly EndpointPort[]; readonly endpoints: readonly EndpointText[] },
): Readonly<Record<string, unknown>> {
  const { namespace } = service;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      namespace,
      name,
      labels: meta.labels,
      ...(meta.front === undefined ? {} : { annotations: { [frontAnnotation]: meta.front } }),
      ownerReferences: ownersOf(service),
    },
    addressType: content.family === 4 ? "IPv4" : "IPv6",
    ports: content.ports,
    endpoints: content.endpoints.map(endpointObject),
  };
}

/** The object of an endpoint. */
export function endpointObject(text: EndpointText): unknown {
  return JSON.parse(text);
}

/** A slice of any writer. The controller holds the slices of all Services, and the text of labels and front has the labels. */
export interface ForeignSlice extends ServiceSlice {
  readonly managedBy: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** Reads a slice of any writer; undefined if the object is none. */
export function readSlice(object: unknown): ForeignSlice | undefined {
  const metadata = isJsonObject(object) ? object["metadata"] : undefined;
  if (!isJsonObject(object) || !isJsonObject(metadata)) return undefined;
  const { namespace, name, uid, resourceVersion } = metadata;
  if (typeof namespace !== "string" || typeof name !== "string" || typeof uid !== "string") return undefined;
  if (typeof resourceVersion !== "string") return undefined;
  const labels = textsIn(metadata["labels"]);
  const annotations = textsIn(metadata["annotations"]);
  const endpoints = Array.isArray(object["endpoints"]) ? object["endpoints"] : [];
  return {
    namespace,
    name,
    uid,
    resourceVersion,
    service: labels[serviceNameLabel] ?? "",
    owner: ownerIn(metadata["ownerReferences"]),
    managedBy: labels[managedByLabel] ?? "",
    meta: metaText({ labels, front: annotations[frontAnnotation] }),
    labels,
    family: object["addressType"] === "IPv6" ? 6 : 4,
    ports: JSON.stringify(readPorts(object["ports"])),
    endpoints: endpoints.map(readEndpoint),
  };
}

/** The ports of a slice. */
export function readPorts(ports: unknown): readonly EndpointPort[] {
  return (Array.isArray(ports) ? ports : []).flatMap((each) => {
    const { name = "", protocol = "TCP", port, appProtocol } = isJsonObject(each) ? each : {};
    if (typeof name !== "string" || !isProtocol(protocol) || !isPortNumber(port)) return [];
    return [{ name, protocol, port, ...(typeof appProtocol === "string" ? { appProtocol } : {}) }];
  });
}

function ownerIn(references: unknown): string {
  const owner = (Array.isArray(references) ? references : []).find((each) => isJsonObject(each) && each["controller"] === true);
  return isJsonObject(owner) && owner["kind"] === "Service" && typeof owner["uid"] === "string" ? owner["uid"] : "";
}

function textsIn(value: unknown): Readonly<Record<string, string>> {
  if (!isJsonObject(value)) return {};
  return Object.fromEntries(Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}
