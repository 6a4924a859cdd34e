// A pod's table of Services in the kernel, replaced as a whole in one batch: no packet meets a table that is half made. Connections keep the endpoint that
// they have.
//
// - output: destination NAT, by a map from address, protocol and port to a chain for each port of a Service.
// - refused: packets that still have a cluster address as their destination have no endpoint.
// - kept4, kept6: the endpoint of each client of a port with session affinity. They outlive a replacement, without endpoints that are gone.
// - postrouting: the source was chosen by the route to the cluster address; the reply must come back on the endpoint's network.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { refusal } from "../../../host/capabilities/firewall/expressions.ts";
import {
  changeDestination,
  changeDestinationAndKeep,
  changeDestinationByMap,
  changeDestinationToKept,
  masquerade,
} from "../../../host/capabilities/firewall/nat-expressions.ts";
import {
  addressInSet,
  familyIs,
  lookUpPort,
  originalDestinationInSet,
  protocolIs,
} from "../../../host/capabilities/firewall/match-expressions.ts";
import { addressBytes } from "../../../host/capabilities/firewall/packet-values.ts";
import { commit, type Change, type NetlinkShim, type Refusal, refusalFault } from "../../../host/capabilities/firewall/kernel.ts";
import { deleteTable, newChain, newRule, newTable } from "../../../host/capabilities/firewall/nf-tables.ts";
import {
  dataElements,
  newDataMap,
  newElement,
  newMap,
  newSet,
  setElements,
} from "../../../host/capabilities/firewall/nf-sets.ts";
import { EEXIST } from "../../../host/system/errno.ts";
import type { NetlinkRequest } from "../../../host/system/netlink/message.ts";
import { formatAddress } from "../../../src/net/ip.ts";
import { protocolNumbers } from "../../../src/kube/named-ports.ts";
import type { BalancedPort } from "../rules/balance.ts";
import {
  backendData,
  destinationsName,
  frontKey,
  keptDestinations,
  type KeptElements,
  keptMap,
  maxKept,
  numberBytes,
  podTable,
} from "./kept-destinations.ts";

/** Key types by nft's numbers. */
const [INTEGER, PROTOCOL, SERVICE] = [4, 12, 13];
const families = { 4: { type: 7, size: 4 }, 6: { type: 8, size: 16 } } as const;
const word = 4;
/** The kernel's priorities of destination NAT and of source NAT; the rules of policies for egress have 0 in postrouting. */
const priorities = { dstnat: -100, refused: 0, srcnat: 100 } as const;

/**
 * Makes the table in place of an earlier one; without ports, removes it. `isFirst`: the pod has no table as far as is known, so that the first try removes none:
 * the kernel waits for an RCU grace period after each removal. Fault: FIREWALL_FAILED.
 */
export async function replaceTable(
  shim: NetlinkShim,
  path: string,
  ports: readonly BalancedPort[],
  isFirst = false,
): Promise<Result<void>> {
  const refuses = async (requests: readonly NetlinkRequest[]): Promise<Result<Refusal | undefined>> => {
    const changes = requests.map((request): Change => ({ request, action: "writing the pod's Services" }));
    const refusals = await commit(shim, changes, "commit", path);
    return refusals.ok ? ok(refusals.value[0]) : refusals;
  };
  if (isFirst && ports.length > 0) {
    const made = await refuses([newTable(podTable, true), ...tableRequests(ports, { 4: [], 6: [] })]);
    if (!made.ok || made.value === undefined) return made.ok ? ok(undefined) : made;
    if (made.value.errno !== EEXIST) return failed(refusalFault(made.value));
  }
  const kept = await keptDestinations(shim, path, ports);
  // Making the table first lets the removal succeed where there is none.
  const removal = [newTable(podTable), deleteTable(podTable)];
  const refused = await refuses(ports.length === 0 ? removal : [...removal, ...tableRequests(ports, kept)]);
  if (!refused.ok) return refused;
  return refused.value === undefined ? ok(undefined) : failed(refusalFault(refused.value));
}

function tableRequests(ports: readonly BalancedPort[], kept: KeptElements): readonly NetlinkRequest[] {
  const both = ([4, 6] as const).map((family) => ({ family, own: ports.filter(({ address }) => address.family === family) }));
  const used = both.filter(({ own }) => own.length > 0);
  let id = 0;
  const next = (): number => (id += 1);
  const [declared, rules, elements]: NetlinkRequest[][] = [[], [], []];
  for (const { family, own } of used) {
    const { type, size } = families[family];
    const [addresses, fronts] = [`clusters${family}`, `ports${family}`];
    declared?.push(
      newSet(podTable, { name: addresses, types: [type], keySize: size, isInterval: false }, next()),
      newMap(podTable, { name: fronts, types: [type, PROTOCOL, SERVICE], keySize: size + 2 * word }, next()),
    );
    const clusters = new Map(own.map(({ address }) => [formatAddress(address), addressBytes(address)]));
    elements?.push(
      ...setElements(
        podTable,
        addresses,
        "add",
        [...clusters.values()].map((key) => ({ key, isEnd: false })),
      ),
    );
    const hasAffinity = own.some(({ affinitySeconds }) => affinitySeconds !== undefined);
    if (hasAffinity) {
      declared?.push(newDataMap(podTable, keptMap(family), next(), { maxElements: maxKept }));
      elements?.push(...dataElements(podTable, keptMap(family).name, kept[family]));
    }
    for (const port of own) {
      const { name, backends, affinitySeconds } = port;
      const [only] = backends;
      if (only === undefined) continue;
      declared?.push(newChain(podTable, name));
      if (backends.length === 1 && affinitySeconds === undefined)
        rules?.push(newRule(podTable, name, changeDestination(only.address, only.port)));
      else {
        const map = destinationsName(port);
        declared?.push(
          newDataMap(
            podTable,
            { name: map, types: [INTEGER], keySize: word, dataTypes: [type, SERVICE], dataSize: size + word },
            next(),
          ),
        );
        elements?.push(...dataElements(podTable, map, backends.map(backendElement)));
        if (affinitySeconds !== undefined) {
          const keeping = { map: keptMap(family).name, seconds: affinitySeconds };
          rules?.push(
            newRule(podTable, name, changeDestinationToKept(family, map, keeping)),
            newRule(podTable, name, changeDestinationAndKeep(family, backends.length, map, keeping)),
          );
        }
        rules?.push(newRule(podTable, name, changeDestinationByMap(family, backends.length, map)));
      }
      elements?.push(newElement(podTable, { map: fronts, key: frontKey(port), verdict: { kind: "jump", chain: name } }));
    }
    const toCluster = [...familyIs(family), ...addressInSet(family, "destination", addresses)];
    rules?.push(
      newRule(podTable, "output", [...familyIs(family), ...lookUpPort(family, true, fronts)]),
      newRule(podTable, "refused", [...toCluster, ...protocolIs(protocolNumbers.TCP), refusal("reset")]),
      newRule(podTable, "refused", [...toCluster, refusal("unreachable")]),
      newRule(podTable, "postrouting", [...familyIs(family), ...originalDestinationInSet(family, addresses), masquerade()]),
    );
  }
  return [
    newTable(podTable),
    newChain(podTable, "output", { hook: { type: "nat", hook: "output", priority: priorities.dstnat } }),
    newChain(podTable, "refused", { hook: { type: "filter", hook: "output", priority: priorities.refused } }),
    newChain(podTable, "postrouting", { hook: { type: "nat", hook: "postrouting", priority: priorities.srcnat } }),
    ...(declared ?? []),
    ...(elements ?? []),
    ...(rules ?? []),
  ];
}

/** The number of an endpoint is a host's integer; address and port are as in a packet. */
function backendElement({ address, port }: BalancedPort["backends"][number], index: number) {
  return { key: numberBytes(index), data: backendData({ address, port }) };
}
