// Routing tables of the pod's VRFs, as far as routes show them: the contract has no list of VRFs and no table of a VRF.

import { InstalledRoute, LinkName, routes } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";

/** A table, or the fault of its search. 0: none was found. */
@final
export class FoundTable {
  constructor(
    readonly table: u32,
    readonly fault: Fault | null,
  ) {}
}

/** The first table, from 1, without a route in the pod. */
export function freeTable(): FoundTable {
  const found = routes(null);
  if (!found.isOk) return new FoundTable(0, found.error);
  let table: u32 = 1;
  // 253 to 255 are the kernel's: default, main and local.
  while ((table >= 253 && table <= 255) || isUsed(found.value, table)) table++;
  return new FoundTable(table, null);
}

/** The table of a VRF, by the routes of its members. Members without addresses have none. */
export function tableOfMembers(members: Array<string>): FoundTable {
  const found = routes(null);
  if (!found.isOk) return new FoundTable(0, found.error);
  for (let i = 0; i < found.value.length; i++) {
    const link = found.value[i].link;
    const table = found.value[i].table;
    if (link !== null && table !== null && members.includes(link)) return new FoundTable(table.value, null);
  }
  return new FoundTable(0, null);
}

/** The table of the routes of an interface that has joined a VRF. */
export function tableOfInterface(link: LinkName): FoundTable {
  const found = routes(link);
  if (!found.isOk) return new FoundTable(0, found.error);
  for (let i = 0; i < found.value.length; i++) {
    const table = found.value[i].table;
    if (table !== null) return new FoundTable(table.value, null);
  }
  return new FoundTable(0, null);
}

function isUsed(all: Array<InstalledRoute>, table: u32): bool {
  for (let i = 0; i < all.length; i++) {
    const one = all[i].table;
    if (one !== null && one.value == table) return true;
  }
  return false;
}
