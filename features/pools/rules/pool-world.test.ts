// Model-based test of pools: nodes, controllers and an API server in every order of events. See testing/pool-world.ts.

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Mistake, PoolWorld } from "./testing/pool-world.ts";
import { poolOf } from "./testing/read-pool.ts";

const nodes = ["node-a", "node-b"];

/** A pool of two blocks with two addresses each, so that nodes meet often. */
const smallPool = poolOf({
  ranges: [{ subnet: "10.0.0.0/24", first: "10.0.0.2", last: "10.0.0.5" }],
  blockSize: 2,
  freeAfterSeconds: 60,
});

/** An event as data, so that a counterexample can be read. */
type Event = readonly [name: keyof typeof events, first: number, second: number];

/** The events. `first` chooses a node, a message or a controller. */
const events = {
  claim: (world: PoolWorld, at: number) => world.claim(at),
  claimAtOnce: (world: PoolWorld, at: number) => {
    world.claim(at);
    world.deliverNewest();
  },
  list: (world: PoolWorld, at: number) => world.list(at),
  listAtOnce: (world: PoolWorld, at: number) => {
    world.list(at);
    world.deliverNewest();
  },
  handOut: (world: PoolWorld, at: number) => world.handOut(at),
  release: (world: PoolWorld, at: number) => world.release(at),
  giveBack: (world: PoolWorld, at: number) => world.giveBack(at),
  restart: (world: PoolWorld, at: number) => world.restart(at),
  stop: (world: PoolWorld, at: number) => world.stop(at),
  freeze: (world: PoolWorld, at: number) => world.freeze(at),
  goOn: (world: PoolWorld, at: number) => world.goOn(at),
  jumpClock: (world: PoolWorld, at: number, by: number) => world.jumpClock(at, (by - 3) * 30),
  removeNode: (world: PoolWorld, at: number) => world.removeNode(at),
  removePods: (world: PoolWorld) => world.removePods(),
  returnNode: (world: PoolWorld, at: number) => world.returnNode(at),
  deliver: (world: PoolWorld, at: number) => world.deliver(at),
  lose: (world: PoolWorld, at: number) => world.lose(at),
  deliverAll: (world: PoolWorld) => world.deliverAll(),
  control: (world: PoolWorld, who: number, block: number) => world.control(who, block),
  controlAtOnce: (world: PoolWorld, who: number, block: number) => {
    world.control(who, block);
    world.deliverNewest();
  },
  restartController: (world: PoolWorld, at: number) => world.restartController(at),
  advance: (world: PoolWorld, at: number) => world.advance([1, 20, 45, 65][at % 4] ?? 1),
} as const;

/** Requests of which every message arrives at once are the usual case. */
const weights: Readonly<Record<keyof typeof events, number>> = {
  claim: 2,
  claimAtOnce: 6,
  list: 2,
  listAtOnce: 4,
  handOut: 10,
  release: 3,
  giveBack: 3,
  restart: 4,
  stop: 1,
  freeze: 2,
  goOn: 3,
  jumpClock: 1,
  removeNode: 4,
  removePods: 3,
  returnNode: 3,
  deliver: 4,
  lose: 1,
  deliverAll: 2,
  control: 4,
  controlAtOnce: 10,
  restartController: 1,
  advance: 8,
};

const weightedNames = (Object.keys(weights) as (keyof typeof events)[]).flatMap((name) =>
  Array.from({ length: weights[name] }, () => name),
);
const event: fc.Arbitrary<Event> = fc.tuple(fc.constantFrom(...weightedNames), fc.nat({ max: 5 }), fc.nat({ max: 6 }));

/** Runs random worlds. `failure`: the message of the first duplicate, and the events that lead there. */
function explore(mistake: Mistake | undefined, numRuns: number): { readonly handedOut: number; readonly failure: string } {
  let handedOut = 0;
  const property = fc.property(fc.array(event, { minLength: 10, maxLength: 120, size: "max" }), (sequence) => {
    const world = new PoolWorld(smallPool, nodes, mistake);
    for (const [name, first, second] of sequence) events[name](world, first, second);
    handedOut += world.handedOut;
  });
  const { errorInstance, counterexample } = fc.check(property, { numRuns, seed: 22, endOnFailure: mistake !== undefined });
  const failure = errorInstance instanceof Error ? `${errorInstance.message}: ${JSON.stringify(counterexample)}` : "";
  return { handedOut, failure };
}

describe("addresses of a pool", () => {
  test("no address has two owners, in any order of claims, pauses, restarts, losses and frees", () => {
    const { handedOut, failure } = explore(undefined, 20_000);
    expect(failure).toBe("");
    expect(handedOut).toBeGreaterThan(20_000);
  });

  test.each<[Mistake, string]>([
    ["restart-trusts-old-blocks", "a restarted daemon that does not read its blocks again"],
    ["pause-is-not-noticed", "a paused machine that does not read its blocks again"],
    ["knowledge-never-ends", "a daemon without the API that trusts its knowledge forever"],
    ["no-tombstone", "a restarted daemon that forgets which blocks it gives back"],
    ["controller-does-not-wait", "a controller that deletes a marked block at once"],
    ["controller-ignores-pods", "a controller that frees a block with a bound pod"],
  ])("the model finds the duplicate of the mistake %s: %s", (mistake) => {
    expect(explore(mistake, 20_000).failure).toMatch(/not its block any more|and node-. have/);
  });
});
