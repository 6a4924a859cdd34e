// A pod's table of Services as messages to the kernel.
//
// - output: destination NAT, by a map from address, protocol and port to a chain for each port of a Service.
// - refused: packets that still have a cluster address as their destination have no endpoint.
// - kept4, kept6: the endpoint of each client of a port with session affinity. They outlive a replacement, without endpoints that are gone.
// - postrouting: the source was chosen by the route to the cluster address; the reply must come back on the endpoint's network.

import { formatAddress } from "../../../src/net/ip.ts";
import { protocolNumbers } from "../../../src/kube/named-ports.ts";
import { refusal } from "../../../host/capabilities/firewall/expressions.ts";
import { addressInSet, lookUpPort, originalDestinationInSet } from "../../../host/capabilities/firewall/lookup-expressions.ts";
import { familyIs, protocolIs } from "../../../host/capabilities/firewall/match-expressions.ts";
import {
  changeDestination,
  changeDestinationAndKeep,
  changeDestinationByMap,
  changeDestinationToKept,
  masquerade,
} from "../../../host/capabilities/firewall/nat-expressions.ts";
import {
  dataElements,
  newDataMap,
  newElement,
  newMap,
  newSet,
  setElements,
} from "../../../host/capabilities/firewall/nf-sets.ts";
import { newChain, newRule, newTable } from "../../../host/capabilities/firewall/nf-tables.ts";
import { addressBytes } from "../../../host/capabilities/firewall/packet-values.ts";
import type { NetlinkRequest } from "../../../host/system/netlink/message.ts";
import type { BalancedPort } from "../rules/balance.ts";
import {
  backendData,
  destinationsName,
  frontKey,
  type KeptElements,
  keptMap,
  maxKept,
  numberBytes,
  podTable,
} from "./kept-destinations.ts";

/** Key types by nft's numbers. */
const [INTEGER, PROTOCOL, SERVICE] = [4, 12, 13];
const families = { 4: { type: 7, size: 4 }, 6: { type: 8, size: 16 } } as const;
type Family = keyof typeof families;
const wordBytes = 4;
/** The kernel's priorities of destination NAT and of source NAT; the rules of policies for egress have 0 in postrouting. */
const priorities = { dstnat: -100, refused: 0, srcnat: 100 } as const;
const clustersSet = (family: Family): string => `clusters${family}`;
const portsMap = (family: Family): string => `ports${family}`;

/** Parts of the table. Sets, maps and chains come before the elements and rules that name them. */
interface TableParts {
  readonly declared: readonly NetlinkRequest[];
  readonly elements?: readonly NetlinkRequest[];
  readonly rules?: readonly NetlinkRequest[];
}

/** The requests that make the table. `kept`: the endpoints that clients keep. */
export function tableRequests(ports: readonly BalancedPort[], kept: KeptElements): readonly NetlinkRequest[] {
  let id = 0;
  const nextId = (): number => (id += 1);
  const parts = ([4, 6] as const).flatMap((family): readonly TableParts[] => {
    const portsOfFamily = ports.filter(({ address }) => address.family === family);
    if (portsOfFamily.length === 0) return [];
    const affinity = portsOfFamily.some(({ affinitySeconds }) => affinitySeconds !== undefined);
    return [
      clusterParts(family, portsOfFamily, nextId),
      ...(affinity ? [keptParts(family, kept, nextId)] : []),
      ...portsOfFamily.flatMap((port) => portParts(family, port, nextId)),
    ];
  });
  return [
    newTable(podTable),
    newChain(podTable, "output", { hook: { type: "nat", hook: "output", priority: priorities.dstnat } }),
    newChain(podTable, "refused", { hook: { type: "filter", hook: "output", priority: priorities.refused } }),
    newChain(podTable, "postrouting", { hook: { type: "nat", hook: "postrouting", priority: priorities.srcnat } }),
    ...parts.flatMap(({ declared }) => declared),
    ...parts.flatMap(({ elements = [] }) => elements),
    ...parts.flatMap(({ rules = [] }) => rules),
  ];
}

/** The set of cluster addresses and the map of ports of one family, with the rules that ask them. */
function clusterParts(family: Family, ports: readonly BalancedPort[], nextId: () => number): TableParts {
  const { type, size } = families[family];
  const [clusters, fronts] = [clustersSet(family), portsMap(family)];
  const addresses = new Map(ports.map(({ address }) => [formatAddress(address), addressBytes(address)]));
  const toCluster = [...familyIs(family), ...addressInSet(family, "destination", clusters)];
  return {
    declared: [
      newSet(podTable, { name: clusters, types: [type], keySize: size, isInterval: false }, nextId()),
      newMap(podTable, { name: fronts, types: [type, PROTOCOL, SERVICE], keySize: size + 2 * wordBytes }, nextId()),
    ],
    elements: setElements(
      podTable,
      clusters,
      "add",
      [...addresses.values()].map((key) => ({ key, isEnd: false })),
    ),
    rules: [
      newRule(podTable, "output", [...familyIs(family), ...lookUpPort(family, true, fronts)]),
      newRule(podTable, "refused", [...toCluster, ...protocolIs(protocolNumbers.TCP), refusal("reset")]),
      newRule(podTable, "refused", [...toCluster, refusal("unreachable")]),
      newRule(podTable, "postrouting", [...familyIs(family), ...originalDestinationInSet(family, clusters), masquerade()]),
    ],
  };
}

/** The map of the endpoints that clients of ports with session affinity keep. */
function keptParts(family: Family, kept: KeptElements, nextId: () => number): TableParts {
  return {
    declared: [newDataMap(podTable, keptMap(family), nextId(), { maxElements: maxKept })],
    elements: dataElements(podTable, keptMap(family).name, kept[family]),
  };
}

/** The chain of one port, which the map of ports leads to. A port without an endpoint has none: its packets are refused. */
function portParts(family: Family, port: BalancedPort, nextId: () => number): readonly TableParts[] {
  const { name, backends, affinitySeconds } = port;
  const [first] = backends;
  if (first === undefined) return [];
  const front = newElement(podTable, { map: portsMap(family), key: frontKey(port), verdict: { kind: "jump", chain: name } });
  const chain: TableParts = { declared: [newChain(podTable, name)], elements: [front] };
  if (backends.length > 1 || affinitySeconds !== undefined) return [chain, choiceParts(family, port, nextId)];
  return [{ ...chain, rules: [newRule(podTable, name, changeDestination(first.address, first.port))] }];
}

/** The map from numbers to the endpoints of a port, and the rules that choose a number: the one that the client keeps, or one at random. */
function choiceParts(family: Family, port: BalancedPort, nextId: () => number): TableParts {
  const { name, backends, affinitySeconds } = port;
  const { type, size } = families[family];
  const map = destinationsName(port);
  const destinations = {
    name: map,
    types: [INTEGER],
    keySize: wordBytes,
    dataTypes: [type, SERVICE],
    dataSize: size + wordBytes,
  };
  const keeping = affinitySeconds === undefined ? undefined : { map: keptMap(family).name, seconds: affinitySeconds };
  const kept = keeping && [
    changeDestinationToKept(family, map, keeping),
    changeDestinationAndKeep(family, backends.length, map, keeping),
  ];
  const rules = [...(kept ?? []), changeDestinationByMap(family, backends.length, map)];
  return {
    declared: [newDataMap(podTable, destinations, nextId())],
    elements: dataElements(podTable, map, backends.map(backendElement)),
    rules: rules.map((rule) => newRule(podTable, name, rule)),
  };
}

/** The number of an endpoint is a host's integer; address and port are as in a packet. */
function backendElement({ address, port }: BalancedPort["backends"][number], index: number) {
  return { key: numberBytes(index), data: backendData({ address, port }) };
}
