// The parsers of what users of a cluster write: annotations, pods, definitions and other objects.

import { readIpPool, readOverlappingReservation } from "../../../src/address-import/whereabouts.ts";
import { readAddressBlock } from "../../../src/address-pool/address-block.ts";
import { readAddressPool } from "../../../src/address-pool/address-pool.ts";
import { readAddressReservation } from "../../../src/address-pool/address-reservation.ts";
import { readWish } from "../../../src/address-pool/reservation-wish.ts";
import { definitionProvider, externalPortAnnotation } from "../../../src/external-port/definition-provider.ts";
import { readExternalPort } from "../../../src/external-port/external-port.ts";
import { readProvidedPort } from "../../../src/external-port/provided-port.ts";
import { parseDefaultNetwork } from "../../../src/npwg/default-network-selection.ts";
import { splitRequests } from "../../../src/npwg/capability-args.ts";
import { readNetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { networkFor } from "../../../src/npwg/network-for-definition.ts";
import { readPod } from "../../../src/npwg/pod.ts";
import { compat, strict } from "../../../src/npwg/profile.ts";
import { parseSelection } from "../../../src/npwg/selection.ts";
import { verificationOf } from "../../../src/npwg/verification.ts";

import { readPodNetwork, readPodNetworkAttachment } from "../../../src/podnetwork/objects.ts";
import { readPodNetworks } from "../../../src/podnetwork/pod-networks.ts";
import { allocatedTo } from "../../../src/resource-claims/claim-allocation.ts";
import { readPodClaims } from "../../../src/resource-claims/pod-claims.ts";
import type { Parser } from "./parser.ts";
import {
  block,
  claim,
  claims,
  definition,
  list,
  metadata,
  parsedList,
  pool,
  port,
  reservation,
  selection,
  selectionKeys,
} from "./samples.ts";
import { recordOf } from "./parser.ts";

/** Parsers of what users of a cluster write. */
// prettier-ignore
export const parsersOfUsers: readonly Parser[] = [
  // Of a pod.
  ...[compat, strict].flatMap((profile): Parser[] => [
    { name: `selection annotation, JSON, ${profile.name}`, covers: ["parseSelection", "readElement", "checkHardwareAddress"], kind: "json", sample: [selection], keys: selectionKeys, parse: (text) => parseSelection(text, "shop", profile) },
    { name: `selection annotation, commas, ${profile.name}`, covers: ["readReference"], kind: "text", sample: "shop/blue@net1, red", parse: (text) => parseSelection(text, "shop", profile) },
  ]),
  { name: "default network annotation", covers: ["parseDefaultNetwork"], kind: "json", sample: [{ name: "blue" }], parse: (text) => parseDefaultNetwork(text, "kube-system", compat) },
  { name: "capability arguments of a selection", covers: ["splitRequests"], kind: "json", sample: [selection], parse: (text) => {
    const read = parseSelection(text, "shop", compat);
    const network = parsedList;
    return read.ok && network.ok ? read.value.networks.map((each) => splitRequests(each, network.value, compat)) : read;
  } },
  { name: "annotation of PodNetworks", covers: ["readPodNetworks"], kind: "json", sample: [{ podNetworkName: "blue", interfaceName: "net1", isDefaultGW4: true }], parse: readPodNetworks },
  { name: "annotation of an external port", covers: ["definitionProvider"], kind: "json", sample: { provider: "neutron", subnet: "s" }, parse: (text) => definitionProvider(new Map([[externalPortAnnotation, text]])) },
  { name: "annotation of the verification", covers: ["verificationOf"], kind: "text", sample: "ips,mac", parse: (text) => verificationOf(new Map([["plexus.dev/verify", text]])) },
  { name: "pod", covers: ["readPod", "readObjectMeta", "checkPodUid"], kind: "value", sample: { metadata, spec: {} }, parse: readPod },
  { name: "resource claims of a pod", covers: ["readPodClaims"], kind: "value", sample: claims, parse: readPodClaims },
  { name: "allocation of a resource claim", kind: "value", sample: claim, parse: (value) => allocatedTo(value, "claim", { namespace: "shop", name: "p", uid: "u" }) },
  // Of a definition.
  { name: "NetworkAttachmentDefinition", covers: ["readNetworkAttachmentDefinition"], kind: "value", sample: definition, parse: readNetworkAttachmentDefinition },
  { name: "configuration in a definition", covers: ["networkFor"], kind: "json", sample: list, parse: (text) => networkFor({ namespace: "shop", name: "pods", annotations: new Map(), config: text }, undefined) },
  { name: "wish for a reservation", covers: ["readWish"], kind: "value", sample: { args: { cni: { "ipam-claim-reference": "c" } }, ipam: { keep: "ordinal" } }, parse: (value) => readWish(recordOf(value)) },
  { name: "PodNetwork", covers: ["readPodNetwork", "readParts", "readConditions"], kind: "value", sample: { metadata, spec: { enabled: true, provider: "p", parametersRefs: [{ group: "g", kind: "k", name: "n" }] }, status: { phase: "p", conditions: [{ type: "Ready", status: "True", observedGeneration: 1 }] } }, parse: readPodNetwork },
  { name: "PodNetworkAttachment", covers: ["readPodNetworkAttachment"], kind: "value", sample: { metadata, spec: { podNetworkName: "blue", parametersRefs: [{ group: "g", kind: "k", name: "n" }] } }, parse: readPodNetworkAttachment },
  { name: "AddressPool", covers: ["readAddressPool", "readSpan"], kind: "value", sample: pool, parse: readAddressPool },
  { name: "AddressBlock", covers: ["readAddressBlock", "readText", "readIp", "readInteger"], kind: "value", sample: block, parse: readAddressBlock },
  { name: "AddressReservation", covers: ["readAddressReservation"], kind: "value", sample: reservation, parse: readAddressReservation },
  { name: "ExternalPort", covers: ["readExternalPort"], kind: "value", sample: { metadata, spec: { podName: "p", podUid: "u", nodeName: "n", provider: "x", index: 0, definition: { namespace: "a", name: "b" }, parameters: "{}", requested: { mac: "m", ips: ["10.0.0.1"] } }, status: port }, parse: readExternalPort },
  { name: "port of a provider", covers: ["readProvidedPort"], kind: "value", sample: port, parse: readProvidedPort },
  { name: "IPPool of whereabouts", covers: ["readIpPool"], kind: "value", sample: { metadata, spec: { range: "10.0.0.0/24", allocations: { 1: { id: "c", podref: "a/b", ifname: "eth0" } } } }, parse: readIpPool },
  { name: "OverlappingRangeIPReservation of whereabouts", covers: ["readOverlappingReservation"], kind: "value", sample: { metadata: { namespace: "k", name: "net-fd00--1" }, spec: { podref: "a/b" } }, parse: readOverlappingReservation },
  { name: "name of an OverlappingRangeIPReservation", kind: "text", sample: "net-fd00--1", parse: (name) => readOverlappingReservation({ metadata: { namespace: "k", name }, spec: {} }) },
];
