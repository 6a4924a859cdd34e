// NetworkAddressSlice: the addresses that one query finds, in the namespace of the policies that ask it. A query has as many slices as it needs.

import { isJsonObject } from "../../../src/json/document.ts";
import { type ObjectMetadata, problem, type Reading, readParts } from "../../../src/kube/object-parts.ts";
import { formatAddress, type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { type Peer, type PeerQuery, queryText } from "./peers.ts";
import { readNamedPorts } from "../../../src/kube/named-ports.ts";

/** The API of the slices. */
export const sliceApiVersion = "plexus.dev/v1alpha1";

/** The label with the id of a slice's query. */
export const queryLabel = "plexus.dev/peers";

/** Maximum addresses of a slice, as of an EndpointSlice. */
export const maxAddresses = 1000;

/** Characters of an endpoint that count as one address: a full slice has 400,000 of them at most, so that the API's store and a node's memory take the slice. */
const charactersOfAddress = 400;

/** Maximum addresses of one pod in a network: an honest pod has a few. */
const maxOfPod = 100;

/** The name of the query's slice with this number. */
export function sliceName(id: string, index: number): string {
  return `peers-${id}-${index}`;
}

/** The path of the slices of a namespace; empty: of all namespaces. */
export function slicesPath(namespace: string): string {
  return `/apis/${sliceApiVersion}/${namespace === "" ? "" : `namespaces/${namespace}/`}networkaddressslices`;
}

/** An endpoint as the object has it. */
export interface SliceEndpoint {
  /** The pod's namespace, if the query finds pods of several namespaces. */
  readonly namespace?: string;
  readonly addresses: readonly string[];
  readonly ports?: readonly { readonly name: string; readonly protocol: string; readonly port: number }[];
}

/** The content of a slice, which a node keeps. */
export interface SliceContent {
  readonly id: string;
  /** The text of the query (`queryText`). */
  readonly query: string;
  readonly endpoints: readonly SliceEndpoint[];
}

/** A slice that was read. */
export interface AddressSlice extends SliceContent {
  readonly namespace: string;
  readonly metadata: ObjectMetadata;
}

/** The object of a new slice. */
export function sliceObject(
  namespace: string,
  id: string,
  name: string,
  query: PeerQuery,
  endpoints: readonly SliceEndpoint[],
): Readonly<Record<string, unknown>> {
  return {
    apiVersion: sliceApiVersion,
    kind: "NetworkAddressSlice",
    metadata: { namespace, name, labels: { [queryLabel]: id } },
    spec: { network: query.network, query: queryText(query), endpoints },
  };
}

/** Reads a slice. */
export function readSlice(object: unknown): Reading<AddressSlice> {
  const parts = readParts(object, { isNamespaced: true });
  if (!parts.ok) return parts;
  const { namespace, metadata, spec } = parts.value;
  const labels = isJsonObject(object) && isJsonObject(object["metadata"]) ? object["metadata"]["labels"] : undefined;
  const id = isJsonObject(labels) ? labels[queryLabel] : undefined;
  const { query } = spec;
  if (typeof id !== "string" || typeof query !== "string") return problem(`the label ${queryLabel} or spec.query is missing`);
  const endpoints = readEndpoints(spec["endpoints"]);
  return endpoints.ok ? { ok: true, value: { namespace, metadata, id, query, endpoints: endpoints.value } } : endpoints;
}

/** The content of a slice; undefined if the value is none. */
export function readContent(value: unknown): SliceContent | undefined {
  const { id, query, endpoints } = isJsonObject(value) ? value : {};
  const read = readEndpoints(endpoints);
  return typeof id === "string" && typeof query === "string" && read.ok ? { id, query, endpoints: read.value } : undefined;
}

/** The memory that query and endpoints take, in characters: each part has some 50 besides its text. */
export function contentSize({ query, endpoints }: SliceContent): number {
  return endpoints.reduce((sum, { namespace, addresses, ports = [] }) => {
    const texts = [...(namespace === undefined ? [] : [namespace]), ...addresses, ...ports.map(({ name }) => name)];
    return texts.reduce((size, text) => size + 50 + text.length, sum + 50);
  }, query.length);
}

function readEndpoints(endpoints: unknown): Reading<readonly SliceEndpoint[]> {
  if (!Array.isArray(endpoints) || endpoints.length > maxAddresses) {
    return problem(`spec.endpoints is no list of at most ${maxAddresses}`);
  }
  const found: SliceEndpoint[] = [];
  for (const each of endpoints) {
    const addresses: unknown = isJsonObject(each) ? each["addresses"] : undefined;
    if (!isJsonObject(each) || !Array.isArray(addresses) || addresses.length > maxOfPod) {
      return problem("spec.endpoints has an endpoint without addresses");
    }
    const texts = addresses.filter((text): text is string => typeof text === "string" && readAddress(text) !== undefined);
    if (texts.length < addresses.length) return problem("spec.endpoints has an address that is none");
    const { namespace } = each;
    const place = typeof namespace === "string" ? { namespace } : {};
    const ports = readNamedPorts(each["ports"]);
    found.push(ports.length === 0 ? { ...place, addresses: texts } : { ...place, addresses: texts, ports });
  }
  return { ok: true, value: found };
}

/** The peers of slices. */
export function peersOf(slices: Iterable<SliceContent>): readonly Peer[] {
  return [...slices].flatMap(({ endpoints }) =>
    endpoints.map(({ namespace, addresses, ports }) => ({
      namespace,
      addresses: addresses.map((each) => readAddress(each)).filter((each): each is IpAddress => each !== undefined),
      ports: readNamedPorts(ports),
    })),
  );
}

/** The endpoint of a peer: sorted, so that equal peers are equal texts. */
export function endpointOf({ namespace, addresses, ports }: Peer): SliceEndpoint {
  const place = namespace === undefined ? {} : { namespace };
  const texts = addresses.slice(0, maxOfPod).map(formatAddress).toSorted();
  return ports.length === 0 ? { ...place, addresses: texts } : { ...place, addresses: texts, ports };
}

/** The size of an endpoint in addresses. Named ports of a pod take more of a slice than its addresses if they are many. */
function sizeOf(endpoint: SliceEndpoint): number {
  return Math.max(endpoint.addresses.length, Math.ceil(JSON.stringify(endpoint).length / charactersOfAddress));
}

/** The endpoints of each slice of a query, by the slices' order. */
export type Distribution = readonly (readonly SliceEndpoint[])[];

/**
 * Distributes endpoints on the query's slices. A slice has at most 1,000 addresses, and fewer if they have many ports. An endpoint stays in the slice that has it, and a new endpoint goes to the first slice that is not full, so that a
 * change of one pod writes one slice. Slices behind the last one that is needed are empty. `onLook` is called for each look at a
 * slice's size: a test counts them.
 */
export function distribute(before: Distribution, endpoints: readonly SliceEndpoint[], onLook?: () => void): Distribution {
  const wanted = new Map(endpoints.map((each) => [JSON.stringify(each), each]));
  const slices: SliceEndpoint[][] = before.map((slice) =>
    slice.filter((each) => {
      const isWanted = wanted.delete(JSON.stringify(each));
      return isWanted;
    }),
  );
  const sizes = slices.map((slice) => slice.reduce((sum, each) => sum + sizeOf(each), 0));
  // Slices only get fuller: no slice before this index takes an endpoint of this size any more.
  const firstFor = new Map<number, number>();
  for (const endpoint of wanted.values()) {
    const size = sizeOf(endpoint);
    let index = firstFor.get(size) ?? 0;
    onLook?.();
    while ((sizes[index] ?? 0) + size > maxAddresses) {
      index += 1;
      onLook?.();
    }
    firstFor.set(size, index);
    (slices[index] ??= []).push(endpoint);
    sizes[index] = (sizes[index] ?? 0) + size;
  }
  return slices;
}
