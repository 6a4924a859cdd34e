// Subports of the nodes' trunks: a node that is itself a machine of OpenStack carries each pod's port as a VLAN.

import type { ProviderResult } from "../provider.ts";
import { failure } from "../provider.ts";
import { type Body, type NeutronClient, objectsOf } from "./client.ts";

/** Attempts to find a free VLAN while other controllers take VLANs of the same trunk. */
const maxAttempts = 16;

/** The trunks. A node's trunk is the one whose parent port has the node's name. */
export class Trunks {
  readonly #client: NeutronClient;
  readonly #vlans: { readonly first: number; readonly last: number };

  constructor(client: NeutronClient, vlans: { readonly first: number; readonly last: number }) {
    this.#client = client;
    this.#vlans = vlans;
  }

  /** Adds a port to the node's trunk, with the lowest free VLAN; answers the VLAN, also if it was added before. */
  async add(nodeName: string, portId: string): Promise<ProviderResult<number>> {
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const trunk = await this.#trunkOf(nodeName);
      if (!trunk.ok) return trunk;
      const subports = objectsOf(trunk.value["sub_ports"]);
      const own = subports.find(({ port_id: id }) => id === portId);
      if (typeof own?.["segmentation_id"] === "number") return { ok: true, value: own["segmentation_id"] };
      const vlan = this.#free(subports);
      if (vlan === undefined) return failure("quota", `the trunk of node ${nodeName} has no free VLAN`);
      const body = { sub_ports: [{ port_id: portId, segmentation_type: "vlan", segmentation_id: vlan }] };
      const added = await this.#client.send("PUT", `/trunks/${String(trunk.value["id"])}/add_subports`, body);
      if (added.ok) return { ok: true, value: vlan };
      // Another writer took the VLAN meanwhile (DuplicateSubPort): look again.
      if (added.status !== 409) return added;
    }
    return failure("unavailable", `the trunk of node ${nodeName} changes all the time`);
  }

  /** Removes a port from its trunk; succeeds if it is in none. */
  async remove(portId: string): Promise<ProviderResult<void>> {
    const trunks = await this.#client.list("trunks", [
      ["fields", "id"],
      ["fields", "sub_ports"],
    ]);
    if (!trunks.ok) return trunks;
    for (const trunk of trunks.value) {
      if (!objectsOf(trunk["sub_ports"]).some(({ port_id: id }) => id === portId)) continue;
      const left = await this.#client.send("PUT", `/trunks/${String(trunk["id"])}/remove_subports`, {
        sub_ports: [{ port_id: portId }],
      });
      if (!left.ok && left.status !== 404) return left;
    }
    return { ok: true, value: undefined };
  }

  async #trunkOf(nodeName: string): Promise<ProviderResult<Body>> {
    const parents = await this.#client.list("ports", [
      ["name", nodeName],
      ["fields", "id"],
    ]);
    if (!parents.ok) return parents;
    for (const { id } of parents.value) {
      const trunks = await this.#client.list("trunks", [["port_id", String(id)]]);
      if (!trunks.ok) return trunks;
      const [trunk] = trunks.value;
      if (trunk !== undefined) return { ok: true, value: trunk };
    }
    return failure("refused", `Neutron has no trunk whose parent port has the name of node ${nodeName}`);
  }

  #free(subports: readonly Body[]): number | undefined {
    const taken = new Set(subports.map(({ segmentation_id: vlan }) => vlan));
    for (let vlan = this.#vlans.first; vlan <= this.#vlans.last; vlan++) if (!taken.has(vlan)) return vlan;
    return undefined;
  }
}
