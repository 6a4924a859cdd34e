// A small cluster in memory for the model-based test of pools: an API server whose requests and answers may be late or lost, nodes that run the real
// BlockKnowledge, and controllers that run the real nextFreeStep. Each machine has its own clocks. The world checks at each handing-out that
// no address has two owners.

import type { AddressBlock, BlockClaim } from "../address-block.ts";
import { blockName } from "../address-block.ts";
import type { AddressPool } from "../address-pool.ts";
import { BlockKnowledge, type Moment } from "../block-knowledge.ts";
import { nextFreeStep } from "../free-block.ts";
import { candidates } from "../next-block.ts";
import { hasAddress } from "../spans.ts";

/** Deliberate mistakes, each of which must give a duplicate. */
export type Mistake =
  | "restart-trusts-old-blocks"
  | "pause-is-not-noticed"
  | "knowledge-never-ends"
  | "no-tombstone"
  | "controller-does-not-wait"
  | "controller-ignores-pods";

/** A message on its way: first to the server, then back. */
interface Message {
  readonly from: Machine;
  readonly life: number;
  /** Takes effect at the server; undefined once it has. */
  send: (() => void) | undefined;
  /** The answer's effect at the sender. */
  receive: () => void;
}

/** The clocks of a machine. */
class Machine {
  monotonicMs = 1000;
  wallMs = 5_000_000;
  /** Milliseconds of this machine for each one of the world. */
  readonly rate: number;
  /** All clocks stand still, as of a virtual machine that its hypervisor has stopped. The clock of the day is set at the end. */
  frozenMs: number | undefined;
  /** Processes of the machine do not run, but its clocks do. */
  isStopped = false;
  /** Counts restarts: answers to an earlier process are lost. */
  life = 0;

  constructor(rate: number) {
    this.rate = rate;
  }

  get runs(): boolean {
    return this.frozenMs === undefined && !this.isStopped;
  }

  pass(ms: number): void {
    if (this.frozenMs !== undefined) {
      this.frozenMs += ms;
      return;
    }
    this.monotonicMs += ms * this.rate;
    this.wallMs += ms * this.rate;
  }

  get now(): Moment {
    return { monotonicMs: this.monotonicMs, wallMs: this.wallMs };
  }
}

class NodeMachine extends Machine {
  readonly name: string;
  readonly holder: string;
  knowledge: BlockKnowledge;
  /** Lease files by address, with the pod's number. They outlive the process. */
  readonly leases = new Map<bigint, number>();
  /** Tombstone files. */
  readonly tombstones = new Set<string>();

  constructor(name: string, rate: number) {
    super(rate);
    this.name = name;
    this.holder = `holder of ${name}`;
    this.knowledge = new BlockKnowledge(this.holder);
  }
}

class ControllerMachine extends Machine {
  readonly seen = new Map<string, { readonly resourceVersion: string; readonly since: number }>();
}

/** The world. Each method is one event; an event that is not possible now does nothing. */
export class PoolWorld {
  readonly #pool: AddressPool;
  readonly #mistake: Mistake | undefined;
  readonly #nodes: readonly NodeMachine[];
  readonly #controllers: readonly ControllerMachine[];
  readonly #blocks = new Map<string, AddressBlock>();
  readonly #nodeObjects: Set<string>;
  /** Pods of the API by number, with their node. */
  readonly #pods = new Map<number, string>();
  readonly #messages: Message[] = [];
  #version = 0;
  #podCount = 0;
  /** Number of addresses that were handed out. */
  handedOut = 0;

  constructor(pool: AddressPool, names: readonly string[], mistake?: Mistake) {
    this.#pool = pool;
    this.#mistake = mistake;
    // Clocks of machines may run 10 % apart here, which is far more than real ones do.
    this.#nodes = names.map((name, index) => new NodeMachine(name, index % 2 === 0 ? 0.95 : 1.05));
    this.#controllers = [new ControllerMachine(1.05), new ControllerMachine(0.95)];
    this.#nodeObjects = new Set(names);
  }

  /** Time passes everywhere. Running daemons note a moment each 10 s. */
  advance(seconds: number): void {
    for (let left = seconds; left > 0; left -= 10) {
      for (const machine of [...this.#nodes, ...this.#controllers]) machine.pass(Math.min(left, 10) * 1000);
      for (const node of this.#nodes) if (node.runs) node.knowledge.observe(node.now);
    }
  }

  list(index: number): void {
    const node = this.#running(index);
    if (node === undefined) return;
    const { knowledge } = node;
    const start = knowledge.begin(node.now);
    let answer: readonly AddressBlock[] = [];
    this.#post(
      node,
      () => (answer = [...this.#blocks.values()].filter((block) => block.node === node.name)),
      () => knowledge.noteList(start, answer, node.now),
    );
  }

  claim(index: number): void {
    const node = this.#running(index);
    if (node === undefined) return;
    const { knowledge } = node;
    const taken = new Set([...this.#blocks.values()].map((block) => block.index));
    const [place] = candidates(this.#pool, 4, node.name, taken);
    if (place === undefined) return;
    const { freeAfterSeconds, name } = this.#pool;
    const claim = { pool: name, index: place.index, span: place.span, node: node.name, holder: node.holder, freeAfterSeconds };
    const start = knowledge.begin(node.now);
    let made: AddressBlock | undefined;
    this.#post(
      node,
      () => (made = this.#create(claim)),
      () => made && knowledge.noteBlock(start, made, node.now),
    );
  }

  /** An ADD: reserves the first free address, and looks at the block again afterwards. Throws if the address has two owners. */
  handOut(index: number): void {
    const node = this.#running(index);
    if (node === undefined) return;
    for (const { block, spans } of this.#usable(node)) {
      for (const span of spans) {
        for (let value = span.first; value <= span.last; value++) {
          if (node.leases.has(value)) continue;
          this.#take(node, block, value);
          return;
        }
      }
    }
  }

  release(index: number): void {
    const node = this.#running(index);
    const [first] = node?.leases ?? [];
    if (node === undefined || first === undefined) return;
    node.leases.delete(first[0]);
    this.#pods.delete(first[1]);
  }

  /** Gives an empty block back: no more use, then the tombstone, then the deletion. */
  giveBack(index: number): void {
    const node = this.#running(index);
    if (node === undefined) return;
    const { knowledge } = node;
    const leased = [...node.leases.keys()];
    const block = knowledge.blocks.find(({ span }) => leased.every((value) => !hasAddress([span], { family: 4, value })));
    if (block === undefined) return;
    knowledge.leave(block.uid);
    node.tombstones.add(block.uid);
    this.#post(
      node,
      () => this.#delete(block.name, block.uid),
      () => {
        if (this.#blocks.get(block.name)?.uid === block.uid) return;
        knowledge.gone(block.uid);
        node.tombstones.delete(block.uid);
      },
    );
  }

  /** The daemon is killed and starts again. Its files stay, its requests may still arrive. */
  restart(index: number): void {
    const node = this.#nodes[index % this.#nodes.length];
    if (node === undefined || node.frozenMs !== undefined) return;
    const before = node.knowledge.blocks;
    node.life++;
    node.isStopped = false;
    node.knowledge = new BlockKnowledge(node.holder, this.#mistake === "no-tombstone" ? [] : node.tombstones);
    if (this.#mistake === "restart-trusts-old-blocks") node.knowledge.noteList(node.knowledge.begin(node.now), before, node.now);
  }

  stop(index: number): void {
    const node = this.#running(index);
    if (node !== undefined) node.isStopped = true;
  }

  freeze(index: number): void {
    const node = this.#running(index);
    if (node !== undefined) node.frozenMs = 0;
  }

  /** Ends a stop or a freeze. */
  goOn(index: number): void {
    const node = this.#nodes[index % this.#nodes.length];
    if (node === undefined) return;
    if (this.#mistake !== "pause-is-not-noticed") node.wallMs += node.frozenMs ?? 0;
    node.frozenMs = undefined;
    node.isStopped = false;
  }

  jumpClock(index: number, seconds: number): void {
    const node = this.#nodes[index % this.#nodes.length];
    if (node !== undefined && node.frozenMs === undefined) node.wallMs += seconds * 1000;
  }

  /** The Node object disappears. Its pods stay until `removePods`. */
  removeNode(index: number): void {
    this.#nodeObjects.delete(this.#nodes[index % this.#nodes.length]?.name ?? "");
  }

  /** Kubernetes' pod garbage collection: pods of a node that is gone. */
  removePods(): void {
    for (const [pod, node] of this.#pods) if (!this.#nodeObjects.has(node)) this.#pods.delete(pod);
  }

  returnNode(index: number): void {
    const node = this.#nodes[index % this.#nodes.length];
    if (node !== undefined) this.#nodeObjects.add(node.name);
  }

  /** The next message takes effect at the server, or its answer arrives. */
  deliver(index: number): void {
    const message = this.#messages[index % Math.max(1, this.#messages.length)];
    if (message === undefined) return;
    if (message.send !== undefined) {
      message.send();
      message.send = undefined;
      return;
    }
    this.#messages.splice(this.#messages.indexOf(message), 1);
    if (message.life === message.from.life && message.from.runs) message.receive();
  }

  /** A request or an answer is lost. */
  lose(index: number): void {
    this.#messages.splice(index % Math.max(1, this.#messages.length), 1);
  }

  /** The newest message overtakes the others, and is answered. */
  deliverNewest(): void {
    const newest = this.#messages.at(-1);
    if (newest === undefined) return;
    this.deliver(this.#messages.length - 1);
    if (this.#messages.at(-1) === newest) this.deliver(this.#messages.length - 1);
  }

  /** All messages arrive in their order. */
  deliverAll(): void {
    while (this.#messages.length > 0) this.deliver(0);
  }

  /** A controller looks at a block and sends what follows from that. */
  control(controllerIndex: number, blockIndex: number): void {
    const controller = this.#controllers[controllerIndex % this.#controllers.length];
    const block = [...this.#blocks.values()][blockIndex % Math.max(1, this.#blocks.size)];
    if (controller === undefined || block === undefined) return;
    const known = controller.seen.get(block.name);
    const isSame = known?.resourceVersion === block.resourceVersion && block.isOrphaned;
    const markedForMs = isSame ? controller.monotonicMs - known.since : undefined;
    if (block.isOrphaned && !isSame) {
      controller.seen.set(block.name, { resourceVersion: block.resourceVersion, since: controller.monotonicMs });
    }
    const podsBound = [...this.#pods.values()].filter((node) => node === block.node).length;
    const step = nextFreeStep({
      block,
      nodeExists: this.#nodeObjects.has(block.node),
      podsBound: this.#mistake === "controller-ignores-pods" ? 0 : podsBound,
      markedForMs: this.#mistake === "controller-does-not-wait" && block.isOrphaned ? Infinity : markedForMs,
    });
    const { name, uid, resourceVersion } = block;
    if (step === "mark" || step === "unmark")
      this.#post(
        controller,
        () => this.#mark(name, step === "mark"),
        () => undefined,
      );
    if (step === "delete")
      this.#post(
        controller,
        () => this.#delete(name, uid, resourceVersion),
        () => undefined,
      );
  }

  /** Another process leads: it has seen no mark yet. */
  restartController(index: number): void {
    const controller = this.#controllers[index % this.#controllers.length];
    controller?.seen.clear();
  }

  #running(index: number): NodeMachine | undefined {
    const node = this.#nodes[index % this.#nodes.length];
    return node?.runs === true ? node : undefined;
  }

  #usable(node: NodeMachine): ReturnType<BlockKnowledge["usable"]> {
    const now = this.#mistake === "knowledge-never-ends" ? { ...node.now, monotonicMs: 0 } : node.now;
    if (this.#mistake !== "knowledge-never-ends") return node.knowledge.usable(this.#pool, now);
    return node.knowledge.blocks.flatMap((block) => (block.isOrphaned ? [] : [{ block, spans: [block.span] }]));
  }

  #take(node: NodeMachine, block: AddressBlock, value: bigint): void {
    const stored = this.#blocks.get(block.name);
    if (stored?.uid !== block.uid) throw new Error(`${node.name} hands out of ${block.name}, which is not its block any more`);
    for (const other of this.#nodes) {
      const pod = other.leases.get(value);
      if (other !== node && pod !== undefined && this.#pods.has(pod))
        throw new Error(`${other.name} and ${node.name} have ${value}`);
    }
    this.#podCount++;
    this.handedOut++;
    node.leases.set(value, this.#podCount);
    // A pod of a node without Node object is none of the API.
    if (this.#nodeObjects.has(node.name)) this.#pods.set(this.#podCount, node.name);
  }

  #post(from: Machine, send: () => void, receive: () => void): void {
    this.#messages.push({ from, life: from.life, send, receive });
  }

  #create(claim: BlockClaim): AddressBlock | undefined {
    const name = blockName(claim.pool, claim.index);
    if (this.#blocks.has(name)) return undefined;
    this.#version++;
    const metadata = { name, uid: `uid ${this.#version}`, generation: 1, isDeleted: false, finalizers: [] };
    const block = { ...claim, ...metadata, resourceVersion: String(this.#version), isOrphaned: false };
    this.#blocks.set(name, block);
    return block;
  }

  #mark(name: string, isOrphaned: boolean): void {
    const block = this.#blocks.get(name);
    if (block === undefined || block.isOrphaned === isOrphaned) return;
    this.#version++;
    this.#blocks.set(name, { ...block, isOrphaned, resourceVersion: String(this.#version) });
  }

  #delete(name: string, uid: string, resourceVersion?: string): void {
    const block = this.#blocks.get(name);
    if (block?.uid === uid && (resourceVersion ?? block.resourceVersion) === block.resourceVersion) this.#blocks.delete(name);
  }
}
