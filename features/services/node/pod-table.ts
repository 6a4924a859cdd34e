// A pod's table of Services in the kernel, replaced as a whole in one batch: no packet meets a table that is half made. Connections keep the endpoint that
// they have.
//
// - output: destination NAT, by a map from address, protocol and port to a chain for each port of a Service.
// - refused: packets that still have a cluster address as their destination have no endpoint.
// - postrouting: the source was chosen by the route to the cluster address; the reply must come back on the endpoint's network.

import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { concat } from "../../../host/system/netlink/bytes.ts";
import { u16be } from "../../../host/capabilities/firewall/big-endian.ts";
import {
  addressBytes,
  addressInSet,
  changeDestination,
  changeDestinationByMap,
  familyIs,
  lookUpPort,
  masquerade,
  originalDestinationInSet,
  protocolIs,
  refusal,
} from "../../../host/capabilities/firewall/expressions.ts";
import { commit, type Change, type NetlinkShim, refusalFault } from "../../../host/capabilities/firewall/kernel.ts";
import {
  dataElements,
  deleteTable,
  newChain,
  newDataMap,
  newElement,
  newMap,
  newRule,
  newSet,
  newTable,
  setElements,
  type Table,
} from "../../../host/capabilities/firewall/nf-tables.ts";
import type { NetlinkRequest } from "../../../host/system/netlink/message.ts";
import { formatAddress } from "../../../src/net/ip.ts";
import { protocolNumbers } from "../../../src/kube/named-ports.ts";
import type { BalancedPort } from "../rules/balance.ts";

/** The table of Plexus in a pod's network namespace. Other tables stay as they are. */
export const podTable = { family: "inet", name: "plexus-services" } as const satisfies Table;

/** Key types by nft's numbers. */
const [INTEGER, PROTOCOL, SERVICE] = [4, 12, 13];
const families = { 4: { type: 7, size: 4 }, 6: { type: 8, size: 16 } } as const;
const word = 4;
/** The kernel's priorities of destination NAT and of source NAT; the rules of policies for egress have 0 in postrouting. */
const priorities = { dstnat: -100, refused: 0, srcnat: 100 } as const;

/** Makes the table in place of an earlier one; without ports, removes it. Fault: FIREWALL_FAILED. */
export async function replaceTable(shim: NetlinkShim, path: string, ports: readonly BalancedPort[]): Promise<Result<void>> {
  // Making the table first lets the removal succeed where there is none.
  const removal = [newTable(podTable), deleteTable(podTable)];
  const requests = ports.length === 0 ? removal : [...removal, ...tableRequests(ports)];
  const changes = requests.map((request): Change => ({ request, action: "writing the pod's Services" }));
  const refusals = await commit(shim, changes, "commit", path);
  if (!refusals.ok) return refusals;
  const [refused] = refusals.value;
  return refused === undefined ? ok(undefined) : failed(refusalFault(refused));
}

function tableRequests(ports: readonly BalancedPort[]): readonly NetlinkRequest[] {
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
    for (const port of own) {
      const { name, backends, address } = port;
      const [only] = backends;
      if (only === undefined) continue;
      declared?.push(newChain(podTable, name));
      if (backends.length === 1) rules?.push(newRule(podTable, name, changeDestination(only.address, only.port)));
      else {
        const map = `to/${name}`;
        declared?.push(
          newDataMap(
            podTable,
            { name: map, types: [INTEGER], keySize: word, dataTypes: [type, SERVICE], dataSize: size + word },
            next(),
          ),
        );
        elements?.push(...dataElements(podTable, map, backends.map(backendElement)));
        rules?.push(newRule(podTable, name, changeDestinationByMap(family, backends.length, map)));
      }
      const key = concat([addressBytes(address), Uint8Array.of(port.protocol, 0, 0, 0), u16be(port.port), new Uint8Array(2)]);
      elements?.push(newElement(podTable, { map: fronts, key, verdict: { kind: "jump", chain: name } }));
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
  const key = new Uint8Array(Uint32Array.of(index).buffer);
  return { key, data: concat([addressBytes(address), u16be(port), new Uint8Array(2)]) };
}
