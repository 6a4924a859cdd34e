// The parsers of what users of a cluster write: annotations, pods, definitions and other objects.

import { readIpPool, readOverlappingReservation } from "../../../features/pools/rules/import/whereabouts.ts";
import { readAddressBlock } from "../../../features/pools/rules/address-block.ts";
import { readAddressPool } from "../../../features/pools/rules/address-pool.ts";
import { readAddressReservation } from "../../../features/pools/rules/address-reservation.ts";
import { readWish } from "../../../features/pools/rules/reservation-wish.ts";
import { externalPortAnnotation } from "../../../features/external-ports/rules/annotations.ts";
import { definitionProvider } from "../../../features/external-ports/rules/definition-provider.ts";
import { readExternalPort } from "../../../features/external-ports/rules/external-port.ts";
import { readProvidedPort } from "../../../features/external-ports/rules/provided-port.ts";
import { parseDefaultNetwork } from "../../../src/npwg/default-network-selection.ts";
import { splitRequests } from "../../../src/npwg/capability-args.ts";
import { readNetworkAttachmentDefinition } from "../../../src/npwg/network-attachment-definition.ts";
import { networkFor } from "../../../src/npwg/network-for-definition.ts";
import { readPod } from "../../../src/npwg/pod.ts";
import { compat, strict } from "../../../src/npwg/profile.ts";
import { parseSelection } from "../../../src/npwg/selection.ts";
import { verificationOf } from "../../../src/npwg/verification.ts";

import { readContent, readSlice } from "../../../features/policies/rules/address-slice.ts";
import { readPolicyNetworks } from "../../../features/policies/rules/policy-networks.ts";
import { readAsker, readNetworkPolicy } from "../../../features/policies/rules/network-policies.ts";
import { readPolicy } from "../../../features/policies/rules/policy.ts";
import { readAllocatedClaim } from "../../../features/claims/rules/claim-networks.ts";
import { readReachedNetwork } from "../../../features/claims/rules/reaching-devices.ts";
import { readFront } from "../../../features/services/rules/front.ts";
import { readMemberPod } from "../../../features/services/rules/member-pod.ts";
import { readService } from "../../../features/services/rules/service.ts";
import { readSlice as readServiceSlice } from "../../../features/services/rules/service-slice.ts";
import { readPodNetwork, readPodNetworkAttachment } from "../../../features/pod-networks/rules/objects.ts";
import { readPodNetworks } from "../../../features/pod-networks/rules/pod-networks.ts";
import { allocatedTo } from "../../../features/resource-claims/rules/claim-allocation.ts";
import { readPodClaims } from "../../../features/resource-claims/rules/pod-claims.ts";
import type { Parser } from "./parser.ts";
import {
  allocated,
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
  service,
  servicePod,
  serviceSlice,
} from "./samples.ts";
import { recordOf } from "./parser.ts";

/** Parsers of what users of a cluster write. */
// prettier-ignore
export const parsersOfUsers: readonly Parser[] = [
  // Texts of a pod.
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
  // Texts of a definition.
  { name: "NetworkAttachmentDefinition", covers: ["readNetworkAttachmentDefinition"], kind: "value", sample: definition, parse: readNetworkAttachmentDefinition },
  { name: "configuration in a definition", covers: ["networkFor"], kind: "json", sample: list, parse: (text) => networkFor({ namespace: "shop", name: "pods", annotations: new Map(), config: text }, undefined) },
  { name: "wish for a reservation", covers: ["readWish"], kind: "value", sample: { args: { cni: { "ipam-claim-reference": "c" } }, ipam: { keep: "ordinal" } }, parse: (value) => readWish(recordOf(value)) },
  { name: "PodNetwork", covers: ["readPodNetwork", "readParts", "readConditions"], kind: "value", sample: { metadata, spec: { enabled: true, provider: "p", parametersRefs: [{ group: "g", kind: "k", name: "n" }] }, status: { phase: "p", conditions: [{ type: "Ready", status: "True", observedGeneration: 1 }] } }, parse: readPodNetwork },
  { name: "PodNetworkAttachment", covers: ["readPodNetworkAttachment"], kind: "value", sample: { metadata, spec: { podNetworkName: "blue", parametersRefs: [{ group: "g", kind: "k", name: "n" }] } }, parse: readPodNetworkAttachment },
  { name: "AddressPool", covers: ["readAddressPool", "readDetection", "readFreeCounts", "readSpan"], kind: "value", sample: pool, parse: readAddressPool },
  { name: "AddressBlock", covers: ["readAddressBlock", "readText", "readIp", "readInteger", "readFreeAfter"], kind: "value", sample: block, parse: readAddressBlock },
  { name: "AddressReservation", covers: ["readAddressReservation"], kind: "value", sample: reservation, parse: readAddressReservation },
  { name: "ExternalPort", covers: ["readExternalPort"], kind: "value", sample: { metadata, spec: { podName: "p", podUid: "u", nodeName: "n", provider: "x", index: 0, definition: { namespace: "a", name: "b" }, parameters: "{}", requested: { mac: "m", ips: ["10.0.0.1"] } }, status: port }, parse: readExternalPort },
  { name: "MultiNetworkPolicy", covers: ["readPolicy", "readIpBlock", "readSelector", "readPolicyPort", "readPolicyNetworks"], kind: "value", sample: { metadata: { ...metadata, annotations: { "k8s.v1.cni.cncf.io/policy-for": "shop/blue, red" } }, spec: { podSelector: { matchLabels: { app: "web" }, matchExpressions: [{ key: "tier", operator: "In", values: ["a", "b"] }] }, policyTypes: ["Ingress", "Egress"], ingress: [{ from: [{ namespaceSelector: {}, podSelector: {} }, { ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }], ports: [{ protocol: "TCP", port: 80, endPort: 90 }, { port: "web" }] }], egress: [{}] } }, parse: (value) => readPolicy(value, "MultiNetworkPolicy") },
  { name: "NetworkPolicy", covers: ["readNetworkPolicy"], kind: "value", sample: { metadata, spec: { podSelector: {}, policyTypes: ["Ingress"], ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8" } }], ports: [{ port: 80 }] }] } }, parse: (value) => readNetworkPolicy(value, ["podnetwork/blue"]) },
  { name: "PodNetwork that asks for NetworkPolicies", covers: ["readAsker"], kind: "value", sample: { metadata, spec: { policies: "NetworkPolicy" } }, parse: readAsker },
  { name: "Service on a further network", covers: ["readService", "readNetworkName"], kind: "value", sample: service, parse: readService },
  { name: "endpoint of Services", covers: ["readMemberPod"], kind: "value", sample: servicePod, parse: readMemberPod },
  { name: "EndpointSlice", covers: ["readSlice", "readEndpoint", "readPorts", "readFront"], kind: "value", sample: serviceSlice, parse: (value) => [readServiceSlice(value), readFront(JSON.stringify(recordOf(recordOf(recordOf(value)["metadata"])["annotations"])["plexus.dev/service"]))] },
  { name: "PodNetwork that names devices", covers: ["readReachedNetwork"], kind: "value", sample: { metadata, spec: { devices: ["storage"] } }, parse: readReachedNetwork },
  { name: "allocated claim of networks", covers: ["readAllocatedClaim", "readNetworkParameters"], kind: "value", sample: allocated, parse: (value) => readAllocatedClaim(value, { namespace: "shop", name: "pods", uid: "u1" }) },
  { name: "annotation policy-for", kind: "text", sample: "shop/blue,red", parse: (text) => readPolicyNetworks(text, "shop") },
  { name: "NetworkAddressSlice", covers: ["readSlice"], kind: "value", sample: { metadata: { ...metadata, labels: { "plexus.dev/peers": "q" } }, spec: { query: "{}", endpoints: [{ addresses: ["10.0.0.1"], ports: [{ name: "web", protocol: "TCP", port: 80 }] }] } }, parse: readSlice },
  { name: "known addresses of policies", covers: ["readContent", "readNamedPorts"], kind: "value", sample: { id: "q", query: "{}", endpoints: [{ addresses: ["10.0.0.1"], ports: [{ name: "web", protocol: "TCP", port: 80 }] }] }, parse: readContent },
  { name: "port of a provider", covers: ["readProvidedPort"], kind: "value", sample: port, parse: readProvidedPort },
  { name: "IPPool of whereabouts", covers: ["readIpPool"], kind: "value", sample: { metadata, spec: { range: "10.0.0.0/24", allocations: { 1: { id: "c", podref: "a/b", ifname: "eth0" } } } }, parse: readIpPool },
  { name: "OverlappingRangeIPReservation of whereabouts", covers: ["readOverlappingReservation"], kind: "value", sample: { metadata: { namespace: "k", name: "net-fd00--1" }, spec: { podref: "a/b" } }, parse: readOverlappingReservation },
  { name: "name of an OverlappingRangeIPReservation", kind: "text", sample: "net-fd00--1", parse: (name) => readOverlappingReservation({ metadata: { namespace: "k", name }, spec: {} }) },
];
