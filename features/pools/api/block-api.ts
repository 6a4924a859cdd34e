// AddressPools and AddressBlocks of the Kubernetes API, for a node's daemon: one attempt for each request, with its outcome as data.

import {
  type AddressBlock,
  addressBlockObject,
  addressBlocksPath,
  type BlockClaim,
  blockName,
  readAddressBlock,
} from "../rules/address-block.ts";
import { type AddressPool, addressPoolsPath, readAddressPool } from "../rules/address-pool.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { ApiObject, ApiObjects, ObjectAnswer } from "../../../host/cluster/kube/api-objects.ts";
import { ReservationApi } from "./reservation-api.ts";

/** A pool, and its object for the node's copy. */
export interface ReadPool {
  readonly pool: AddressPool;
  readonly object: ApiObject;
}

/** The outcome of a claim. */
export type ClaimOutcome =
  | { readonly kind: "claimed"; readonly block: AddressBlock }
  /** The block is claimed already, perhaps by this node: the answer of an earlier request may have been lost. */
  | { readonly kind: "taken" }
  | { readonly kind: "failed"; readonly why: string };

/** Blocks of a list, and what is wrong with objects that are no blocks. */
export interface ListedBlocks {
  readonly blocks: readonly AddressBlock[];
  readonly problems: readonly string[];
}

/** The requests. Fault of reads: POOL_UNAVAILABLE. */
export class BlockApi {
  readonly #objects: ApiObjects;

  constructor(objects: ApiObjects) {
    this.#objects = objects;
  }

  /** The reservations of the same cluster. */
  get reservations(): ReservationApi {
    return new ReservationApi(this.#objects);
  }

  /**
   * Reads a pool; undefined if it does not exist. Ranges that the controller has not accepted yet are left out: another pool may have their
   * addresses.
   */
  async pool(name: string): Promise<Result<ReadPool | undefined>> {
    const answer = await this.#objects.get(`${addressPoolsPath}/${name}`);
    if (answer.kind === "absent") return ok(undefined);
    if (answer.kind !== "object") return failed(fault("POOL_UNAVAILABLE", `AddressPool ${name} cannot be read: ${answer.why}`));
    const read = readAddressPool(answer.object);
    if (!read.ok) return failed(fault("POOL_UNAVAILABLE", `AddressPool ${name}: ${read.problem}`));
    if (read.value.name !== name)
      return failed(fault("POOL_UNAVAILABLE", `the API's answer for AddressPool ${name} is ${read.value.name}`));
    const { ranges, acceptedRanges } = read.value;
    const accepted = acceptedRanges === 0 ? ranges : ranges.slice(0, acceptedRanges);
    return ok({ pool: { ...read.value, ranges: accepted }, object: answer.object });
  }

  /** The block with this name, as the API's store has it now; undefined if there is none, or it cannot be read. */
  async block(name: string): Promise<Result<AddressBlock | undefined>> {
    const answer = await this.#objects.get(`${addressBlocksPath}/${name}`);
    if (answer.kind === "absent") return ok(undefined);
    if (answer.kind !== "object") return failed(fault("POOL_UNAVAILABLE", `AddressBlock ${name} cannot be read: ${answer.why}`));
    const read = readAddressBlock(answer.object);
    return ok(read.ok ? read.value : undefined);
  }

  /** All blocks of a node, as the API's store has them now, or as the server's cache has them, which may be old and costs the server far less. */
  blocksOfNode(node: string, source: "from the store" | "from the cache" = "from the store"): Promise<Result<ListedBlocks>> {
    return this.#list(`spec.node=${node}`, source === "from the cache");
  }

  /** All blocks of a pool, as the API's store has them now. */
  blocksOfPool(pool: string): Promise<Result<ListedBlocks>> {
    return this.#list(`spec.pool=${pool}`);
  }

  /** Claims a block by creating its object. */
  async claim(claim: BlockClaim): Promise<ClaimOutcome> {
    const answer = await this.#objects.create(addressBlocksPath, addressBlockObject(claim));
    if (answer.kind === "conflict") return { kind: "taken" };
    if (answer.kind !== "object")
      return { kind: "failed", why: `AddressBlock ${blockName(claim.pool, claim.index)}: ${answer.why}` };
    const read = readAddressBlock(answer.object);
    return read.ok
      ? { kind: "claimed", block: read.value }
      : { kind: "failed", why: `the created AddressBlock: ${read.problem}` };
  }

  /** Deletes a block with this UID. `gone`: no block has the UID now. Otherwise the reason why that is unknown. */
  async remove(name: string, uid: string): Promise<"gone" | { readonly why: string }> {
    const answer: ObjectAnswer = await this.#objects.remove(`${addressBlocksPath}/${name}`, { uid });
    // A conflict: another node's block has the name now.
    if (answer.kind === "object" || answer.kind === "absent" || answer.kind === "conflict") return "gone";
    return { why: answer.why };
  }

  async #list(fieldSelector: string, cached = false): Promise<Result<ListedBlocks>> {
    const answer = await this.#objects.list(addressBlocksPath, { fieldSelector }, { cached });
    if (answer.kind !== "list") return failed(fault("POOL_UNAVAILABLE", `AddressBlocks cannot be listed: ${answer.why}`));
    const read = answer.items.map(readAddressBlock);
    return ok({
      blocks: read.flatMap((each) => (each.ok ? [each.value] : [])),
      problems: read.flatMap((each) => (each.ok ? [] : [each.problem])),
    });
  }
}
