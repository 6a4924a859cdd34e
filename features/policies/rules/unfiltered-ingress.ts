// Interfaces whose packets to the pod pass no hook of the pod's network namespace, so that ingress policies in the pod's table do not hold.

import { parseNetworkList } from "../../../src/cni/network-list.ts";
import { foldedKey } from "../../../src/json/folded-key.ts";
import type { PolicyTable } from "./table.ts";

/** An interface, and its network. */
export interface ListedInterface {
  readonly ifname: string;
  readonly source: string;
  /** The text of the network's configuration list. */
  readonly conflist?: string;
}

/** The reason why ingress policies of the pod's table do not hold on an interface; undefined: they hold on all. */
export function unfilteredIngress(interfaces: readonly ListedInterface[], table: PolicyTable | undefined): string | undefined {
  const isolated = new Set(table?.chains.map(({ name }) => name));
  const passing = interfaces.find(({ ifname, conflist = "" }) => isolated.has(`in/${ifname}`) && hasMode(conflist, "l3s"));
  if (passing === undefined) return undefined;
  return `interface ${passing.ifname} of network ${passing.source}: packets to an ipvlan in the mode l3s pass the node's hooks and not those of the pod, so ingress policies do not hold. Set mode to l2 or l3`;
}

/** Whether a list makes an ipvlan in this mode. Keys are read as Go reads them. */
function hasMode(conflist: string, mode: string): boolean {
  const list = parseNetworkList(conflist);
  const ipvlans = list.ok ? list.value.plugins.filter(({ type }) => type === "ipvlan") : [];
  return ipvlans.some(
    ({ document }) => Object.entries(document.parsed).findLast(([key]) => foldedKey(key) === foldedKey("mode"))?.[1] === mode,
  );
}
