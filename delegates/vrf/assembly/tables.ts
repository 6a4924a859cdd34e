// Routing tables of the pod's VRFs.

import { InstalledRoute, routes, Vrf, vrfs } from "plexus/abi/links";
import { Fault } from "plexus/abi/types";

/** A table, or the fault of its search. */
@final
export class FoundTable {
  constructor(
    readonly table: u32,
    readonly fault: Fault | null,
  ) {}
}

/** The first table, from 1, that no VRF of the pod has, and no route. A VRF whose interfaces are down has no route. */
export function freeTable(): FoundTable {
  const existing = vrfs();
  if (!existing.isOk) return new FoundTable(0, existing.error);
  const installed = routes(null);
  if (!installed.isOk) return new FoundTable(0, installed.error);
  let table: u32 = 1;
  // 253 to 255 are the kernel's: default, main and local.
  while ((table >= 253 && table <= 255) || isTaken(existing.value, table) || isUsed(installed.value, table)) table++;
  return new FoundTable(table, null);
}

/** The table of a VRF of the pod; 0: the VRF is gone. */
export function tableOf(name: string): FoundTable {
  const existing = vrfs();
  if (!existing.isOk) return new FoundTable(0, existing.error);
  for (let i = 0; i < existing.value.length; i++)
    if (existing.value[i].name == name) return new FoundTable(existing.value[i].table, null);
  return new FoundTable(0, null);
}

function isTaken(all: Array<Vrf>, table: u32): bool {
  for (let i = 0; i < all.length; i++) if (all[i].table == table) return true;
  return false;
}

function isUsed(all: Array<InstalledRoute>, table: u32): bool {
  for (let i = 0; i < all.length; i++) {
    const one = all[i].table;
    if (one !== null && one.value == table) return true;
  }
  return false;
}
