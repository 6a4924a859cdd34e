// Pods of one network while its addresses move from whereabouts to an AddressPool. Each ADD reads the network's definition first, as a meta-plugin does,
// and each DEL goes to the plugin of the pod's ADD.

import { setTimeout } from "node:timers/promises";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { whereaboutsGroup } from "../lab/kube/whereabouts-objects.ts";
import type { Whereabouts } from "../lab/whereabouts/run-whereabouts.ts";
import { addressesIn, type PoolNode } from "./pool-node.ts";

const namespace = "shop";
const definitionPath = `/apis/k8s.cni.cncf.io/v1/namespaces/${namespace}/network-attachment-definitions/storage`;

/** The pods, and the addresses that they have. */
export class MovingPods {
  readonly #objects: ApiObjects;
  readonly #whereabouts: Whereabouts;
  /** The pod of each address, from the answer of its ADD to the request of its DEL. */
  readonly #pods = new Map<string, string>();
  /** The IPAM configuration of each pod with an address of whereabouts. */
  readonly #ipam = new Map<string, object>();
  /** A sentence for each address that had two owners. */
  readonly doubleOwners: string[] = [];
  #count = 0;

  constructor(objects: ApiObjects, whereabouts: Whereabouts) {
    this.#objects = objects;
    this.#whereabouts = whereabouts;
  }

  /** The pods that have an address of whereabouts. */
  get ofWhereabouts(): readonly string[] {
    return [...this.#ipam.keys()];
  }

  /** The addresses of a pod. */
  addressesOf(name: string): readonly string[] {
    return [...this.#pods].flatMap(([address, pod]) => (pod === name ? [address] : []));
  }

  /** The definition's IPAM configuration now. */
  async definition(): Promise<{ readonly type: string } & Readonly<Record<string, unknown>>> {
    const found = await this.#objects.get(definitionPath);
    if (found.kind !== "object") throw new Error(found.why);
    const { spec } = found.object as unknown as { readonly spec: { readonly config: string } };
    return JSON.parse(spec.config).plugins[0].ipam;
  }

  /** An ADD of whereabouts with this IPAM configuration. A failure is undone by DEL, as runtimes do. */
  async add(name: string, ipam: object): Promise<readonly string[]> {
    const pod = { namespace, name };
    const { addresses, status } = await this.#whereabouts.call("ADD", pod, ipam);
    if (status !== 0) await this.#whereabouts.call("DEL", pod, ipam);
    else this.#ipam.set(name, ipam);
    this.#note(name, addresses);
    return addresses;
  }

  /** A DEL of a pod with an address of whereabouts. The address may belong to another pod as soon as the DEL is sent. */
  async remove(name: string): Promise<void> {
    const ipam = this.#ipam.get(name) ?? {};
    this.#ipam.delete(name);
    for (const [address, pod] of this.#pods) if (pod === name) this.#pods.delete(address);
    await this.#whereabouts.call("DEL", { namespace, name }, ipam);
  }

  /** Adds and removes pods until the definition has no address of whereabouts for a new pod. */
  async churn(): Promise<void> {
    for (let round = 0; ; round++) {
      const ipam = await this.definition();
      if (ipam.type !== "whereabouts") return;
      const name = `churn-${this.#count++}`;
      await this.add(name, ipam);
      if (round % 3 !== 0) await this.remove(name);
    }
  }

  /** Adds pods of the pool on these nodes, until the pool is full on each. Answers the addresses. */
  async addUntilFull(nodes: readonly PoolNode[], pool: string): Promise<readonly string[]> {
    const perNode = nodes.map(async (node) => {
      const found: string[] = [];
      for (;;) {
        const name = `pod-${this.#count++}`;
        const added = await node.call("ADD", name, { pool });
        found.push(...addressesIn(added));
        this.#note(name, addressesIn(added));
        if (added.status === 0) continue;
        if (!JSON.stringify(added.json).includes("is full")) throw new Error(JSON.stringify(added));
        return found;
      }
    });
    return (await Promise.all(perNode)).flat();
  }

  /** whereabouts' records of addresses now, ascending. */
  async records(): Promise<readonly string[]> {
    const read = async (plural: string): Promise<readonly unknown[]> => {
      const listed = await this.#objects.list(`/apis/${whereaboutsGroup}/v1alpha1/${plural}`);
      if (listed.kind !== "list") throw new Error(listed.why);
      return listed.items;
    };
    const pools = (await read("ippools")) as readonly { readonly spec: { readonly allocations: object } }[];
    const reservations = (await read("overlappingrangeipreservations")) as readonly {
      readonly metadata: { readonly name: string };
    }[];
    const allocated = pools.flatMap(({ spec }) => Object.keys(spec.allocations).map((offset) => `10.50.0.${offset}`));
    return ascending([...allocated, ...reservations.map(({ metadata }) => metadata.name)]);
  }

  /** Compares whereabouts' records with the leases of the nodes, again and again. */
  async compare(nodes: readonly PoolNode[], pool: string, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // In this order: whereabouts takes no address that Plexus has given, so a record behind a lease is a second owner.
      const leases = nodes.flatMap((node) => node.leases(pool));
      const records = new Set(await this.records());
      for (const address of leases) if (records.has(address)) this.doubleOwners.push(`whereabouts and Plexus have ${address}`);
      await setTimeout(50);
    }
  }

  #note(name: string, addresses: readonly string[]): void {
    for (const address of addresses) {
      const other = this.#pods.get(address);
      if (other !== undefined) this.doubleOwners.push(`${other} and ${name} have ${address}`);
      this.#pods.set(address, name);
    }
  }
}

/** Different addresses of 10.50.0.0/24, ascending. */
export function ascending(addresses: readonly string[]): readonly string[] {
  return [...new Set(addresses)].toSorted((one, other) => lastByteOf(one) - lastByteOf(other));
}

function lastByteOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(".") + 1));
}
