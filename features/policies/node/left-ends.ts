// Tables at the node's ends whose containers are gone: left by a DEL that could not remove them, or by a process that ended. They are listed before the journals are
// read, because an ADD journals its plan before it makes the table.

import type { ResidentNode } from "../../../host/node/resident-node.ts";
import { containersWithEnds, endTable, removeEnds } from "./end-table.ts";
import { noteListedEnds } from "./guarded-ends.ts";

/** The tables of one daemon's state directories. */
export class LeftEnds {
  readonly #node: ResidentNode;
  readonly #listed = new Map<string, readonly string[]>();

  constructor(node: ResidentNode) {
    this.#node = node;
  }

  /** Lists the tables. Without an agent the daemon cannot list them. */
  async list(): Promise<void> {
    this.#listed.clear();
    const shim = this.#node.agent()?.shim;
    if (shim === undefined) return;
    for (const directory of this.#node.directories) {
      const found = await containersWithEnds(shim, directory);
      if (found.ok) this.#listed.set(directory, found.value);
      else this.#node.log("warn", `policies: tables at the node's ends: ${found.fault.msg}`);
    }
    noteListedEnds(new Set([...this.#listed.values()].flat()));
  }

  /** Removes the listed tables of all other containers. */
  async removeOthers(containers: ReadonlySet<string>): Promise<void> {
    const shim = this.#node.agent()?.shim;
    if (shim === undefined) return;
    for (const [directory, listed] of this.#listed) {
      for (const container of listed) {
        if (containers.has(container)) continue;
        const removed = await removeEnds(shim, endTable(directory, container));
        const outcome = removed.ok ? "the table at its node's ends was removed" : removed.fault.msg;
        this.#node.log(removed.ok ? "info" : "warn", `policies: container ${container} is gone: ${outcome}`);
      }
    }
  }
}
