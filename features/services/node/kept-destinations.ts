// The endpoints that a pod's table keeps for its clients (session affinity). Rules add them; a table that replaces another one takes over those that still hold.

import { u16be } from "../../../host/capabilities/firewall/big-endian.ts";
import { addressBytes } from "../../../host/capabilities/firewall/packet-values.ts";
import { ask, type NetlinkShim } from "../../../host/capabilities/firewall/kernel.ts";
import { dataElementsIn } from "../../../host/capabilities/firewall/nf-answers.ts";
import { type DataElement, type DataMap, elementsRequest } from "../../../host/capabilities/firewall/nf-sets.ts";
import type { Table } from "../../../host/capabilities/firewall/nf-request.ts";
import { concat } from "../../../host/system/netlink/bytes.ts";
import type { Family } from "../../../src/net/ip.ts";
import type { Backend, BalancedPort } from "../rules/balance.ts";

/** The table of Plexus in a pod's network namespace. Other tables stay as they are. */
export const podTable = { family: "inet", name: "plexus-services" } as const satisfies Table;

/** Maximum kept endpoints of a family; a client beyond it gets an endpoint by chance. */
export const maxKept = 65_536;

/** The elements of both families. */
export type KeptElements = Readonly<Record<Family, readonly DataElement[]>>;

/** Types by nft's numbers: 4 integer, 7 ipv4_addr, 8 ipv6_addr, 12 inet_proto, 13 inet_service. */
const [INTEGER, PROTOCOL, SERVICE] = [4, 12, 13];
const addresses = { 4: { type: 7, size: 4 }, 6: { type: 8, size: 16 } } as const;
const word = 4;

/** The map of a family: from a port and a client's address to the number of an endpoint. */
export function keptMap(family: Family): DataMap {
  const { type, size } = addresses[family];
  return {
    name: `kept${family}`,
    types: [type, PROTOCOL, SERVICE, type],
    keySize: 2 * size + 2 * word,
    dataTypes: [INTEGER],
    dataSize: word,
  };
}

/**
 * The name of the map from numbers to the endpoints of a port. With the Service's uid: endpoints that are kept for clients are not those of a later Service of the
 * same name and address.
 */
export function destinationsName({ name, uid }: BalancedPort): string {
  return uid === "" ? `to/${name}` : `to/${name}/${uid}`;
}

/** The number of an endpoint, as a host's integer. */
export function numberBytes(index: number): Uint8Array {
  return new Uint8Array(Uint32Array.of(index).buffer);
}

/** The key of a port. */
export function frontKey({ address, protocol, port }: BalancedPort): Uint8Array {
  return concat([addressBytes(address), Uint8Array.of(protocol, 0, 0, 0), u16be(port), new Uint8Array(2)]);
}

/** An endpoint as the data of a map. */
export function backendData({ address, port }: Backend): Uint8Array {
  return concat([addressBytes(address), u16be(port), new Uint8Array(2)]);
}

/**
 * The kept endpoints that `ports` still have, by their new numbers. Without a map in the kernel, or if the kernel does not answer, none: a client then gets an
 * endpoint by chance.
 */
export async function keptDestinations(shim: NetlinkShim, path: string, ports: readonly BalancedPort[]): Promise<KeptElements> {
  const list = async (map: string): Promise<readonly DataElement[]> => {
    const answers = await ask(shim, [elementsRequest(podTable, map)], "listing kept endpoints", "netfilter", path);
    return answers.ok ? answers.value.flatMap(({ messages }) => messages.flatMap(dataElementsIn)) : [];
  };
  const of = async (family: Family): Promise<readonly DataElement[]> => {
    const own = ports.filter(({ address, affinitySeconds }) => address.family === family && affinitySeconds !== undefined);
    const kept = own.length === 0 ? [] : await list(keptMap(family).name);
    const frontSize = addresses[family].size + 2 * word;
    const byFront = Map.groupBy(kept, ({ key }) => key.subarray(0, frontSize).toHex());
    const found: DataElement[] = [];
    for (const port of own) {
      const ofPort = byFront.get(frontKey(port).toHex()) ?? [];
      // Numbers are those of the earlier table, whose endpoints were others.
      const earlier = ofPort.length === 0 ? [] : await list(destinationsName(port));
      const endpoints = new Map(earlier.map(({ key, data }) => [key.toHex(), data.toHex()]));
      const numbers = new Map(port.backends.map((each, index) => [backendData(each).toHex(), index]));
      for (const { key, data, times } of ofPort) {
        const number = numbers.get(endpoints.get(data.toHex()) ?? "");
        if (number !== undefined && times !== undefined) found.push({ key, data: numberBytes(number), times });
      }
    }
    return found;
  };
  return { 4: await of(4), 6: await of(6) };
}
