// Subports of the nodes' trunks: a node that is itself a machine of OpenStack carries each pod's port as a VLAN.

import { quote } from "../../../../src/json/quote.ts";
import type { ProviderResult } from "../provider.ts";
import { failure } from "../provider.ts";
import { type Body, type NeutronClient, objectsOf, portsOf } from "./client.ts";

/** Maximum attempts to get a free VLAN while other controllers take VLANs of the same trunk. */
const maxAttempts = 16;
/** Maximum ports of one request for trunks: the request's URL has their IDs, and Neutron bounds the URL. */
const maxParents = 50;
/** Maximum trunks that an error names. */
const maxNamed = 3;
/** Maximum length of an ID in an error. */
const maxId = 64;

/** The trunks. A node's trunk is the only one whose parent port has the node's name. */
export class Trunks {
  readonly #client: NeutronClient;
  readonly #vlans: { readonly first: number; readonly last: number };

  constructor(client: NeutronClient, vlans: { readonly first: number; readonly last: number }) {
    this.#client = client;
    this.#vlans = vlans;
  }

  /**
   * Adds a port to the node's trunk, with the lowest free VLAN; answers the VLAN, also if it was added before. Fails with `refused` if Neutron's answer
   * cannot change by another look at the trunk, such as for a port of another trunk.
   */
  async add(nodeName: string, portId: string): Promise<ProviderResult<number>> {
    let wasSubport = false;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const trunk = await this.#trunkOf(nodeName);
      if (!trunk.ok) return trunk;
      const subports = objectsOf(trunk.value["sub_ports"]);
      const own = subports.find(({ port_id: id }) => id === portId);
      if (typeof own?.["segmentation_id"] === "number") return { ok: true, value: own["segmentation_id"] };
      const vlan = this.#free(subports);
      if (vlan === undefined) return failure("quota", this.#noVlan(nodeName));
      const body = { sub_ports: [{ port_id: portId, segmentation_type: "vlan", segmentation_id: vlan }] };
      const added = await this.#client.send("PUT", `/trunks/${String(trunk.value["id"])}/add_subports`, body);
      if (added.ok) return { ok: true, value: vlan };
      if (added.type === "TrunkPortInUse") {
        // Another writer may have added the port to this trunk meanwhile: one more look tells.
        if (wasSubport) return failure("refused", inOtherTrunk(portId, nodeName));
        wasSubport = true;
      } else if (added.type !== "DuplicateSubPort") return added;
    }
    const { first, last } = this.#vlans;
    const remedy = `Give other programs that add subports to this trunk VLANs outside of the provider's vlans (${first} to ${last})`;
    return failure(
      "unavailable",
      `other writers took the free VLAN of the trunk of node ${nodeName} first, ${maxAttempts} times. ${remedy}`,
    );
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

  /** Neutron's names are not unique. A port of the node's name without a trunk is no parent port; a second trunk could be another machine's. */
  async #trunkOf(nodeName: string): Promise<ProviderResult<Body>> {
    const named = await this.#client.list("ports", [
      ["name", nodeName],
      ["fields", "id"],
    ]);
    if (!named.ok) return named;
    const ids = portsOf(named.value).map(({ id }) => String(id));
    const found: Body[] = [];
    for (let from = 0; from < ids.length && found.length < 2; from += maxParents) {
      const parents = ids.slice(from, from + maxParents).map((id) => ["port_id", id] as const);
      const trunks = await this.#client.list("trunks", parents);
      if (!trunks.ok) return trunks;
      for (const trunk of trunks.value) if (typeof trunk["id"] === "string") found.push(trunk);
    }
    const [trunk, ...others] = found;
    if (trunk === undefined) return failure("refused", `Neutron has no trunk whose parent port has the name of node ${nodeName}`);
    return others.length === 0 ? { ok: true, value: trunk } : failure("refused", severalTrunks(nodeName, found));
  }

  #noVlan(nodeName: string): string {
    const { first, last } = this.#vlans;
    return `the trunk of node ${nodeName} has no free VLAN from ${first} to ${last}. Give the provider's vlans more, or the node fewer pods`;
  }

  #free(subports: readonly Body[]): number | undefined {
    const taken = new Set(subports.map(({ segmentation_id: vlan }) => vlan));
    for (let vlan = this.#vlans.first; vlan <= this.#vlans.last; vlan++) if (!taken.has(vlan)) return vlan;
    return undefined;
  }
}

function inOtherTrunk(portId: string, nodeName: string): string {
  const remedy = "Remove it from that trunk, or delete the pod, whose port then leaves it";
  return `port ${portId} is a subport of another trunk than that of node ${nodeName}. ${remedy}`;
}

function severalTrunks(nodeName: string, trunks: readonly Body[]): string {
  const named = trunks.slice(0, maxNamed).map(({ id, port_id: parent }) => `${quotedId(id)} of port ${quotedId(parent)}`);
  return (
    `Neutron has more than one trunk whose parent port has the name of node ${nodeName}: ${named.join(", ")}` +
    `${trunks.length > maxNamed ? " and others" : ""}. Only one may be the node's: give the parent ports of other machines another name`
  );
}

function quotedId(id: unknown): string {
  return quote(typeof id === "string" ? id : "", maxId);
}
