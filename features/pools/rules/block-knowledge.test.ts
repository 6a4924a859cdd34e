// For how long a daemon may hand out addresses of its blocks. pool-world.test.ts tries the same in every order of events.

import { beforeEach, describe, expect, test } from "vitest";
import type { AddressBlock } from "./address-block.ts";
import { BlockKnowledge, type Moment } from "./block-knowledge.ts";
import { blockAt } from "./pool-blocks.ts";
import { formatSpan } from "./spans.ts";
import { poolOf } from "./testing/read-pool.ts";

const pool = poolOf({ ranges: [{ subnet: "10.50.0.0/24" }], freeAfterSeconds: 100 });

function blockOf(index: number, more: Partial<AddressBlock> = {}): AddressBlock {
  const span = blockAt(pool, index)?.span;
  if (span === undefined) throw new Error(`no block ${index}`);
  const claim = { pool: "storage", index, span, node: "n1", holder: "me", freeAfterSeconds: 100 };
  const metadata = {
    name: `storage-${index}`,
    uid: `u${index}`,
    resourceVersion: "1",
    generation: 1,
    isDeleted: false,
    finalizers: [],
  };
  return { ...metadata, ...claim, isOrphaned: false, ...more };
}

let now: Moment;
let knowledge: BlockKnowledge;
const pass = (seconds: number): void => {
  for (let left = seconds; left > 0; left -= 10) {
    const ms = Math.min(left, 10) * 1000;
    now = { monotonicMs: now.monotonicMs + ms, wallMs: now.wallMs + ms };
    knowledge.observe(now);
  }
};
const list = (...blocks: readonly AddressBlock[]): void => knowledge.noteList(knowledge.begin(now), blocks, now);
const usable = (): readonly string[] => knowledge.usable(pool, now).flatMap(({ spans }) => spans.map(formatSpan));

beforeEach(() => {
  now = { monotonicMs: 1000, wallMs: 1_700_000_000_000 };
  knowledge = new BlockKnowledge("me");
});

describe("a daemon hands out addresses", () => {
  test("of no block before the first list, and of its own blocks afterwards", () => {
    expect([usable(), knowledge.isComplete]).toEqual([[], false]);
    list(blockOf(0), blockOf(1, { holder: "another state directory" }));
    expect([usable(), knowledge.isComplete]).toEqual([["10.50.0.2-10.50.0.63"], true]);
  });

  test("for 80 % of freeAfterSeconds from the start of the list on", () => {
    const start = knowledge.begin(now);
    pass(30);
    knowledge.noteList(start, [blockOf(0)], now);
    pass(49);
    expect(usable()).toHaveLength(1);
    pass(1);
    expect(usable()).toEqual([]);
    list(blockOf(0));
    expect(usable()).toHaveLength(1);
  });

  test("not of a marked block, of one that is given back, and of one with other addresses than the pool has for it", () => {
    list(
      blockOf(0, { isOrphaned: true }),
      blockOf(1),
      blockOf(2, { span: { family: 4, first: 1n, last: 2n } }),
      blockOf(3, { isDeleted: true }),
    );
    expect(usable()).toEqual(["10.50.0.64-10.50.0.127"]);
    knowledge.leave("u1");
    expect(usable()).toEqual([]);
    knowledge.stay("u1");
    expect(usable()).toHaveLength(1);
  });

  test("not of a block whose deletion an earlier daemon may have sent", () => {
    knowledge = new BlockKnowledge("me", ["u0"]);
    list(blockOf(0));
    expect(usable()).toEqual([]);
  });

  test("not of a block that was given back, even if an older list still shows it", () => {
    const older = knowledge.begin(now);
    list(blockOf(0));
    knowledge.leave("u0");
    knowledge.gone("u0");
    knowledge.noteList(older, [blockOf(0)], now);
    expect(usable()).toEqual([]);
  });

  test("of a block that was claimed after the start of a list that lacks the block", () => {
    const older = knowledge.begin(now);
    pass(1);
    knowledge.noteBlock(knowledge.begin(now), blockOf(0), now);
    knowledge.noteList(older, [], now);
    expect(usable()).toHaveLength(1);
    pass(1);
    list();
    expect(usable()).toEqual([]);
  });
});

describe.each<[string, (moment: Moment) => Moment]>([
  [
    "the process was stopped for a minute",
    ({ monotonicMs, wallMs }) => ({ monotonicMs: monotonicMs + 60_000, wallMs: wallMs + 60_000 }),
  ],
  [
    "the machine was suspended, so that only the clock of the day went on",
    ({ monotonicMs, wallMs }) => ({ monotonicMs, wallMs: wallMs + 60_000 }),
  ],
  ["the clock of the day jumped back", ({ monotonicMs, wallMs }) => ({ monotonicMs, wallMs: wallMs - 60_000 })],
])("after %s", (_, jump) => {
  test("the daemon reads its blocks again before it hands out an address", () => {
    list(blockOf(0));
    now = jump(now);
    expect([usable(), knowledge.isComplete]).toEqual([[], false]);
    list(blockOf(0));
    expect(usable()).toHaveLength(1);
  });

  test("the answer of a request from before counts for nothing", () => {
    const start = knowledge.begin(now);
    now = jump(now);
    knowledge.noteList(start, [blockOf(0)], now);
    knowledge.noteBlock(start, blockOf(1), now);
    expect([usable(), knowledge.isComplete]).toEqual([[], false]);
  });
});
