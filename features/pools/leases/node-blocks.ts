// The blocks of one node, in a daemon: reads them from the API at first and after a pause, and again from time to time, so that the knowledge of
// features/pools/rules/block-knowledge.ts stays fresh.

import { BlockKnowledge, type Moment, type RequestStart } from "../rules/block-knowledge.ts";
import { type AddressBlock, type BlockClaim, blockName } from "../rules/address-block.ts";
import { type AddressPool, readAddressPool } from "../rules/address-pool.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { parseDocument } from "../../../src/json/document.ts";
import type { EventContent, InvolvedObject } from "../../../src/kube/event.ts";
import type { BlockApi, ClaimOutcome, ListedBlocks } from "../api/block-api.ts";
import { ClaimedNames } from "./claimed-names.ts";
import { StrangeBlocks } from "./strange-blocks.ts";
import type { PoolDirectory } from "./pool-directory.ts";

/** Settings of the daemon's pools. */
export interface NodeBlocksInit {
  readonly directory: PoolDirectory;
  /** The node's name in the API; undefined if unknown: nothing is claimed. */
  readonly nodeName: string | undefined;
  /** The API as the call's configuration names it; undefined: none. */
  readonly api: () => Promise<BlockApi | undefined>;
  /** Queues an Event of now. */
  readonly event: (target: InvolvedObject, content: EventContent) => void;
  readonly now: () => Moment;
  readonly warn: (text: string) => void;
}

/** Milliseconds after which blocks are read again. Knowledge of a block holds for 48 s at least. */
const refreshMs = 20_000;
/** Milliseconds after which blocks with a long `freeAfterSeconds` are read again. */
const maxRefreshMs = 300_000;
/** Milliseconds between two searches for blocks of this node that the daemon does not know. */
const searchMs = 3_600_000;
/** Milliseconds after which a pool is read again. */
const poolMs = 30_000;

/** Milliseconds from a failed read of a pool to the next one, so that calls do not wait for a missing API one after the other. */
const retryMs = 5_000;

interface KnownPool {
  readonly pool: AddressPool;
  readonly readAt: number;
}

/** The node's blocks and pools. */
export class NodeBlocks {
  readonly init: NodeBlocksInit;
  readonly holder: string;
  readonly knowledge: BlockKnowledge;
  /** Pools as this daemon has read them from the API. */
  readonly #pools = new Map<string, KnownPool>();
  readonly #failedAt = new Map<string, number>();
  readonly #reading = new Map<string, Promise<Result<AddressPool>>>();
  readonly #strange: StrangeBlocks;
  readonly #names: ClaimedNames;
  #looking: Promise<Result<void>> | undefined;
  #lookedAt = -Infinity;
  #nextSearchAt: number;

  private constructor(init: NodeBlocksInit, holder: string) {
    this.init = init;
    this.holder = holder;
    this.knowledge = new BlockKnowledge(holder, init.directory.leaving().keys());
    this.#strange = new StrangeBlocks({ node: init.nodeName, holder }, init.warn);
    this.#names = new ClaimedNames(init.directory);
    // Blocks of a lost directory are searched for at once. Otherwise the nodes of a cluster spread their searches by their holders, which are random.
    const share = Number.parseInt(holder.slice(0, 8), 16) / 2 ** 32;
    this.#nextSearchAt = init.now().monotonicMs + (this.#names.isNone ? 0 : searchMs * share);
  }

  /** Opens the directory. Fault STORE_FAILED. */
  static open(init: NodeBlocksInit): Result<NodeBlocks> {
    const holder = init.directory.holder();
    return holder.ok ? ok(new NodeBlocks(init, holder.value)) : holder;
  }

  /** The API and the node's name. Fault POOL_UNAVAILABLE. */
  async claimant(): Promise<Result<{ readonly api: BlockApi; readonly node: string }>> {
    const { api: open, nodeName } = this.init;
    const api = await open();
    if (api === undefined) return failed(fault("POOL_UNAVAILABLE", "the configuration names no Kubernetes API: set kubeconfig"));
    if (nodeName === undefined) {
      return failed(
        fault("POOL_UNAVAILABLE", "the node's name in the Kubernetes API is unknown: start plexusd with --node-name"),
      );
    }
    return ok({ api, node: nodeName });
  }

  /** The known blocks of this holder. */
  get blocks(): readonly AddressBlock[] {
    return this.knowledge.blocks;
  }

  /** Succeeds if the node knows its blocks, and reads them first if it does not. */
  async ready(): Promise<Result<void>> {
    this.knowledge.observe(this.init.now());
    return this.knowledge.isComplete ? ok(undefined) : this.look();
  }

  /** Reads the node's blocks. Concurrent callers share the requests, except for those that began before the last pause. */
  async look(): Promise<Result<void>> {
    this.#looking ??= this.#look().finally(() => (this.#looking = undefined));
    const looked = await this.#looking;
    if (!looked.ok || this.knowledge.isComplete) return looked;
    return failed(
      fault("POOL_UNAVAILABLE", "the node was paused while its AddressBlocks were read; the next call reads them again"),
    );
  }

  /** The pool as this daemon last read it: at most some 30 s ago, unless the API is away. The first call reads it. */
  async pool(name: string): Promise<Result<AddressPool>> {
    const known = this.#pools.get(name)?.pool;
    return known === undefined ? this.readPool(name) : ok(known);
  }

  /** Like `pool`, or the node's copy if the API is away and the daemon has not read the pool. For ranges only, never for a claim. */
  async poolOrCopy(name: string): Promise<Result<AddressPool>> {
    const known = this.#pools.get(name)?.pool;
    if (known !== undefined) return ok(known);
    const failedAt = this.#failedAt.get(name) ?? -Infinity;
    const early = this.init.now().monotonicMs - failedAt < retryMs ? copyOf(this.init.directory, name) : undefined;
    if (early !== undefined) return ok(early);
    const read = await this.readPool(name);
    // A pool that does not exist is no failure to read it.
    if (read.ok || !this.#failedAt.has(name)) return read;
    const copy = copyOf(this.init.directory, name);
    return copy === undefined ? read : ok(copy);
  }

  /** The pool as this daemon read it last; undefined if it has read none, or the pool does not exist. */
  knownPool(name: string): AddressPool | undefined {
    return this.#pools.get(name)?.pool;
  }

  /** Reads a pool from the API. */
  async readPool(name: string): Promise<Result<AddressPool>> {
    const reading = this.#reading.get(name) ?? this.#readPool(name).finally(() => this.#reading.delete(name));
    this.#reading.set(name, reading);
    return reading;
  }

  /** Reads a pool by a request that begins now; `readPool` may answer from a request that is under way. */
  readPoolAnew(name: string): Promise<Result<AddressPool>> {
    return this.#readPool(name);
  }

  /** Called each second. A longer gap between two calls means that the process was paused. */
  noteTime(): void {
    if (this.knowledge.observe(this.init.now())) return;
    this.init.warn(
      "pools: the node was paused, or a clock jumped; its AddressBlocks are read again before an address is handed out",
    );
  }

  /** Reads blocks and pools again that were read too long ago. */
  async refresh(): Promise<void> {
    const now = this.init.now();
    const blocks = this.knowledge.blocks;
    const shortest = Math.min(...blocks.map(({ freeAfterSeconds }) => freeAfterSeconds * 1000));
    const afterMs = Math.max(refreshMs, Math.min(maxRefreshMs, shortest / 4));
    if (now.monotonicMs - this.#lookedAt >= (this.knowledge.isComplete ? afterMs : refreshMs)) {
      this.#lookedAt = now.monotonicMs;
      await this.look();
    }
    if (this.knowledge.isComplete && now.monotonicMs >= this.#nextSearchAt) await this.#search();
    for (const [name, { readAt }] of this.#pools) {
      const triedAt = Math.max(readAt, this.#failedAt.get(name) ?? -Infinity);
      if (now.monotonicMs - triedAt > poolMs) await this.readPool(name);
    }
  }

  /** Notes a block that a request has shown. `start`: of that request. */
  note(start: RequestStart, block: AddressBlock): void {
    if (!this.#isOwn(block)) return;
    this.#names.add(block.name);
    this.knowledge.noteBlock(start, block, this.init.now());
  }

  /** Claims a block. The name is kept before, because the answer may be lost. */
  async claim(api: BlockApi, claim: BlockClaim): Promise<ClaimOutcome> {
    const name = blockName(claim.pool, claim.index);
    this.#names.begin(name);
    const outcome = await api.claim(claim);
    this.#names.end(name, outcome.kind === "taken" && !this.blocks.some((block) => block.name === name));
    return outcome;
  }

  async #look(): Promise<Result<void>> {
    const claimant = await this.claimant();
    if (!claimant.ok) return claimant;
    const { api, node } = claimant.value;
    const start = this.knowledge.begin(this.init.now());
    // The note of a block that is given back may have lost the name.
    const isNameless = [...this.init.directory.leaving().values()].includes("");
    const names = isNameless ? undefined : this.#names.toRead;
    const read = names === undefined ? await api.blocksOfNode(node) : await this.#readByName(api, names);
    if (!read.ok) return read;
    const own = read.value.blocks.filter((block) => this.#isOwn(block));
    await this.#readPoolsOf(own);
    this.knowledge.noteList(start, own, this.init.now(), names && new Set(names));
    this.#names.replace(own.map(({ name }) => name));
    this.#lookedAt = start.at;
    this.#strange.note(read.value.blocks);
    for (const problem of read.value.problems) this.init.warn(`pools: an AddressBlock of this node is not used: ${problem}`);
    return ok(undefined);
  }

  async #readByName(api: BlockApi, names: readonly string[]): Promise<Result<ListedBlocks>> {
    const read = await Promise.all(names.map((name) => api.block(name)));
    const blocks: AddressBlock[] = [];
    for (const each of read) {
      if (!each.ok) return each;
      if (each.value !== undefined) blocks.push(each.value);
    }
    return ok({ blocks, problems: [] });
  }

  /**
   * Searches for blocks of this node whose names the daemon does not know: those of a lost directory, and those of a file that lost its latest names. The list
   * comes from the API server's cache and may be old, so that only a read of a found block becomes knowledge.
   */
  async #search(): Promise<void> {
    this.#nextSearchAt = this.init.now().monotonicMs + searchMs;
    const claimant = await this.claimant();
    if (!claimant.ok) return;
    const { api, node } = claimant.value;
    const listed = await api.blocksOfNode(node, "from the cache");
    if (!listed.ok) return;
    this.#strange.note(listed.value.blocks);
    const known = new Set(this.blocks.map(({ name }) => name));
    for (const block of listed.value.blocks) {
      const { name } = block;
      if (!this.#isOwn(block) || known.has(name)) continue;
      const start = this.knowledge.begin(this.init.now());
      const read = await api.block(name);
      if (!read.ok || read.value === undefined || !this.#isOwn(read.value)) continue;
      await this.#readPoolsOf([read.value]);
      this.note(start, read.value);
    }
    for (const problem of listed.value.problems) this.init.warn(`pools: an AddressBlock of this node is not used: ${problem}`);
  }

  /** Whether this directory has claimed the block for this node. A copied directory has the holder of the original, whose node hands out the block's addresses. */
  #isOwn({ holder, node }: AddressBlock): boolean {
    return holder === this.holder && node === this.init.nodeName;
  }

  /**
   * Reads the pools of this node's blocks that are new to this daemon: an earlier daemon may have claimed a block while the pool was deleted, so only a
   * pool that is there after the block counts.
   */
  async #readPoolsOf(blocks: readonly AddressBlock[]): Promise<void> {
    const known = new Set(this.blocks.map(({ uid }) => uid));
    const pools = new Set(blocks.flatMap(({ uid, pool }) => (known.has(uid) ? [] : [pool])));
    for (const name of pools) {
      if (!this.#pools.has(name)) continue;
      const read = await this.#readPool(name);
      if (!read.ok) this.#pools.delete(name);
    }
  }

  async #readPool(name: string): Promise<Result<AddressPool>> {
    const { directory, now } = this.init;
    const readAt = now().monotonicMs;
    const claimant = await this.claimant();
    const read = claimant.ok ? await claimant.value.api.pool(name) : claimant;
    if (!read.ok) {
      this.#failedAt.set(name, readAt);
      return read;
    }
    this.#failedAt.delete(name);
    if (read.value === undefined) {
      // A deleted pool gives no address any more: a new pool may soon have its name and its addresses.
      this.#pools.delete(name);
      return failed(fault("POOL_UNAVAILABLE", `AddressPool ${name} does not exist`));
    }
    const { pool, object } = read.value;
    this.#pools.set(name, { pool, readAt });
    directory.keepPool(name, JSON.stringify(object));
    return ok(pool);
  }
}

/** The node's copy of a pool; undefined if it has none that can be read. */
export function copyOf(directory: PoolDirectory, name: string): AddressPool | undefined {
  const text = directory.poolText(name);
  const document = text === undefined ? undefined : parseDocument(text, { what: `the copy of AddressPool ${name}` });
  const pool = document?.ok === true ? readAddressPool(document.value.parsed) : undefined;
  return pool?.ok === true && pool.value.name === name ? pool.value : undefined;
}
