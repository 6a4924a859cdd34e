// Random orders of what happens to the nodes of a pool, on a real API server with real daemons: partitions, clocks that jump or stand still, blocks that the
// controller gives away, nodes that return, pods, and kills. After each ADD the address must be of a block of its node, and of no other pod.

import { randomUUID } from "node:crypto";
import { vi } from "vitest";
import { poolsPart } from "../../features/pools/controller/part.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { type AddressBlock, addressBlocksPath, readAddressBlock } from "../../features/pools/rules/address-block.ts";
import { hasAddress } from "../../features/pools/rules/spans.ts";
import { readAddress } from "../../src/net/ip.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { randomFrom } from "../lab/random-from.ts";
import { type PoolMachine, partitions } from "./pool-machine.ts";
import { addressesIn } from "./pool-node.ts";

/** A container with addresses. `isPod`: the API has its pod; Kubernetes removes pods of a node that is gone. */
interface Holder {
  readonly machine: PoolMachine;
  readonly container: string;
  readonly address: string;
  isPod: boolean;
}

const events = [
  "add",
  "addEverywhere",
  "remove",
  "partition",
  "heal",
  "jump",
  "stop",
  "goOn",
  "kill",
  "giveAway",
  "comeBack",
] as const;
type Event = (typeof events)[number];
const weights: Readonly<Record<Event, number>> = {
  add: 5,
  addEverywhere: 3,
  remove: 4,
  partition: 2,
  heal: 2,
  jump: 2,
  stop: 1,
  goOn: 3,
  kill: 2,
  giveAway: 3,
  comeBack: 4,
};
const weighted = events.flatMap((event) => Array.from({ length: weights[event] }, () => event));

const namespace = "default";
const pods = `/api/v1/namespaces/${namespace}/pods`;
/** Seconds of one step of time. A daemon counts a silence of 15 s as a pause. */
const stepSeconds = 10;

/** The nodes of the pool, the events so far, and the containers with addresses. */
export class PoolOrders {
  readonly #objects: ApiObjects;
  readonly #pool: string;
  readonly #machines: readonly PoolMachine[];
  readonly #random: () => number;
  #holders: Holder[] = [];
  readonly #gone = new Set<PoolMachine>();
  #passedMs = 0;
  /** The events so far, as texts. */
  readonly order: string[] = [];
  /** Numbers for the summary. */
  readonly counts = { addresses: 0, givenAway: 0 };

  constructor(objects: ApiObjects, pool: string, machines: readonly PoolMachine[], seed: number) {
    this.#objects = objects;
    this.#pool = pool;
    this.#machines = machines;
    this.#random = randomFrom(seed);
  }

  /** Runs the controller's part for pools with a clock that has the time that passed for the nodes, until the signal. */
  async control(signal: AbortSignal): Promise<void> {
    await poolsPart({ now: () => performance.now() + this.#passedMs, maxPauseMs: 50 })(partContext(this.#objects)).run(signal);
  }

  /** Draws one event, and checks what follows from it. */
  async next(): Promise<void> {
    const event = this.#draw(weighted);
    const machine = this.#draw(this.#machines);
    this.order.push(`${event} ${machine.node.name}`);
    await this[event](machine);
  }

  async add(machine: PoolMachine): Promise<void> {
    if (!machine.isStopped) await this.#add(machine);
  }

  async addEverywhere(): Promise<void> {
    await Promise.all(this.#machines.map((machine) => this.add(machine)));
  }

  /** Removes the oldest pod of the machine. */
  async remove(machine: PoolMachine): Promise<void> {
    const holder = this.#holders.find((each) => each.machine === machine);
    if (holder !== undefined && !machine.isStopped) await this.#remove(holder);
  }

  async partition(machine: PoolMachine): Promise<void> {
    const kind = this.#draw(partitions);
    this.order.push(kind);
    machine.partition(kind);
    await Promise.resolve();
  }

  async heal(machine: PoolMachine): Promise<void> {
    machine.partition(undefined);
    await Promise.resolve();
  }

  async jump(machine: PoolMachine): Promise<void> {
    const [clock, seconds] = [this.#draw(["wall", "monotonic"] as const), this.#draw([-90, -5, 5, 30, 120])];
    this.order.push(`${clock} ${seconds}`);
    machine.jump(clock, seconds * 1000);
    await this.add(machine);
  }

  async stop(machine: PoolMachine): Promise<void> {
    const isFrozen = this.#random() < 0.5;
    if (isFrozen) this.order.push("frozen");
    machine.stop(isFrozen);
    await Promise.resolve();
  }

  /** The machine goes on while a call waits for its daemon. */
  async goOn(machine: PoolMachine): Promise<void> {
    const adding = this.#add(machine);
    machine.goOn();
    await adding;
  }

  /** The daemon is killed while a call is under way. */
  async kill(machine: PoolMachine): Promise<void> {
    const adding = this.#add(machine);
    await machine.restart();
    await adding;
  }

  /**
   * The Node object and its pods go, the controller marks the node's blocks, and gives them away after the wait. Half of the machines do not reach
   * the API server then, and are asked for an address afterwards: their knowledge of the blocks must have ended.
   */
  async giveAway(machine: PoolMachine): Promise<void> {
    const isCutOff = this.#random() < 0.5;
    if (isCutOff) {
      this.order.push("cut off");
      machine.partition("requests");
    }
    if (!this.#gone.has(machine)) {
      this.#gone.add(machine);
      await this.#objects.remove(`/api/v1/nodes/${machine.node.name}`);
      for (const holder of this.#holders.filter((each) => each.machine === machine && each.isPod)) {
        await this.#removePod(holder);
      }
    }
    const own = async (): Promise<readonly AddressBlock[]> =>
      (await this.#blocks()).filter(({ node }) => node === machine.node.name);
    await soon(async () => (await own()).every(({ isOrphaned }) => isOrphaned), `the blocks of ${machine.node.name} are marked`);
    const marked = await own();
    for (let seconds = 0; seconds < 70; seconds += stepSeconds) {
      await this.#pass(stepSeconds);
      if (this.#random() < 0.3) await this.add(this.#draw(this.#machines));
    }
    const isFree = async (): Promise<boolean> => !(await own()).some(({ uid }) => marked.some((each) => each.uid === uid));
    await soon(isFree, `the blocks of ${machine.node.name} are free`);
    this.counts.givenAway += marked.length;
    if (isCutOff) {
      // The node removes a container without the API, so that an address of its blocks is free.
      await this.remove(machine);
      await this.add(machine);
    }
  }

  /** The Node object returns. Its kubelet removes the containers whose pods are gone. */
  async comeBack(machine: PoolMachine): Promise<void> {
    if (!this.#gone.delete(machine)) return;
    await this.#objects.create("/api/v1/nodes", { apiVersion: "v1", kind: "Node", metadata: { name: machine.node.name } });
    if (machine.isStopped) return;
    for (const holder of this.#holders.filter((each) => each.machine === machine && !each.isPod)) await this.#remove(holder);
  }

  #draw<T>(from: readonly T[]): T {
    return from[Math.floor(this.#random() * from.length)] as T;
  }

  /** Time passes for all: first for the nodes. Each running daemon looks at its clocks, as it does each second. */
  async #pass(seconds: number): Promise<void> {
    for (const machine of this.#machines) machine.pass(seconds * 1000);
    const running = this.#machines.filter(({ isStopped }) => !isStopped);
    await Promise.all(running.map(({ node }) => node.call("STATUS", "", { pool: this.#pool })));
    this.#passedMs += seconds * 1000;
  }

  /** An ADD as of a runtime: of a pod, if the node has its Node object. */
  async #add(machine: PoolMachine): Promise<void> {
    const container = randomUUID();
    const isPod = !this.#gone.has(machine);
    if (isPod) {
      // No kubelet ends a grace period.
      const grace = { terminationGracePeriodSeconds: 0 };
      const spec = { ...grace, nodeName: machine.node.name, containers: [{ name: "main", image: "none" }] };
      const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: container, namespace }, spec };
      const made = await this.#objects.create(pods, pod);
      if (made.kind !== "object") throw new Error(made.why);
    }
    const added = await machine.node.call("ADD", container, { pool: this.#pool });
    const [address] = addressesIn(added);
    if (added.status === 0 && address !== undefined) {
      this.counts.addresses++;
      await this.#check({ machine, container, address, isPod });
      return;
    }
    if (added.json?.["code"] !== 11) throw new Error(JSON.stringify(added));
    await this.#remove({ machine, container, address: "", isPod });
  }

  async #check(holder: Holder): Promise<void> {
    const { machine, address } = holder;
    const [other] = this.#holders.filter((each) => each.address === address && (each.isPod || each.machine === machine));
    if (other !== undefined) throw new Error(`${machine.node.name} and ${other.machine.node.name} have given ${address}`);
    this.#holders.push(holder);
    const parsed = readAddress(address);
    const block = (await this.#blocks()).find(({ span }) => parsed !== undefined && hasAddress([span], parsed));
    if (block?.node === machine.node.name) return;
    throw new Error(`${machine.node.name} has given ${address}, whose block is of ${block?.node ?? "no node"}`);
  }

  async #remove(holder: Holder): Promise<void> {
    const { machine, container } = holder;
    const removed = await machine.node.call("DEL", container, { pool: this.#pool });
    if (removed.status !== 0) throw new Error(JSON.stringify(removed));
    this.#holders = this.#holders.filter((each) => each.container !== container);
    if (holder.isPod) await this.#removePod(holder);
  }

  async #removePod(holder: Holder): Promise<void> {
    await this.#objects.remove(`${pods}/${holder.container}`);
    holder.isPod = false;
  }

  async #blocks(): Promise<readonly AddressBlock[]> {
    const listed = await this.#objects.list(addressBlocksPath, { fieldSelector: `spec.pool=${this.#pool}` });
    if (listed.kind !== "list") throw new Error(listed.why);
    return listed.items.map(readAddressBlock).flatMap((read) => (read.ok ? [read.value] : []));
  }
}

/** Waits for what the controller does. */
function soon(isDone: () => Promise<boolean>, what: string): Promise<void> {
  const look = async (): Promise<void> => {
    if (!(await isDone())) throw new Error(`not yet: ${what}`);
  };
  return vi.waitFor(look, { timeout: 60_000, interval: 50 });
}
