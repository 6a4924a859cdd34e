// The author of an annotation, a definition, a result or a file must not stop the daemon, whose calls share one thread: no parser takes more
// than 10 ms of CPU time for each 100 KB, and none takes more than in proportion to its input.

import { describe, expect, test } from "vitest";
import { randomFrom, testSeed } from "../../lab/random-from.ts";
import { rounds } from "../../lab/rounds.ts";
import { type Case, casesOf, costMs, yardstick } from "./cost.ts";
import { parsers } from "./parsers.ts";

const length = 100_000;
/** Twice the 10 ms of an idle machine. A cost beyond it is compared with the yardstick, which busy neighbours slow down alike. */
const maxMs = 20;
/** The yardstick takes 1.6 ms on the machine of the 20 ms. */
const maxYardsticks = 12;
/** Four times the input may take this many times as long. A parser that is quadratic takes sixteen times as long. */
const maxGrowth = 9;
/** Below this, in ms, a cost says nothing about growth. */
const measurableMs = 2;

const seed = testSeed("parsers' costs");

/** The cases of this run: all that add keys near the root, which are the usual attack, and others by chance. */
function chosen(all: readonly Case[], random: () => number): readonly Case[] {
  const first = all.filter(({ name }) => /: \/\d*(?:\/[\w-]+)? (?:has|is) many.* keys/.test(name));
  const others = all.filter((each) => !first.includes(each)).map((each) => [random(), each] as const);
  const some = others.toSorted(([one], [other]) => one - other).slice(0, rounds(300));
  return [...first, ...some.map(([, each]) => each)];
}

/** Whether a parser takes too long: the processor's caches and its second thread may serve other programs meanwhile. */
const isSlow = (ms: number): boolean => ms > maxMs && ms > maxYardsticks * costMs(yardstick, 0);

describe("a parser", () => {
  test.each(parsers)("FI-04: $name takes at most 10 ms for each 100 KB, and time in proportion", (parser) => {
    const [large, small] = [casesOf(parser, length), casesOf(parser, length / 4)];
    const smallOf = new Map(small.map((each) => [each.name, each]));
    const slow: string[] = [];
    for (const each of chosen(large, randomFrom(seed))) {
      const quarter = smallOf.get(each.name);
      // Hours of a defect are not waited for: a quarter of the input says enough.
      const before = quarter === undefined ? 0 : costMs(quarter, maxMs / 4);
      const isSlowAlready = isSlow(before);
      if (isSlowAlready) slow.push(`${each.name}: ${before} ms for a quarter of 100 KB`);
      if (isSlowAlready) continue;
      const cost = costMs(each, maxMs);
      const seemsToGrow = before > measurableMs && cost / before > maxGrowth;
      // The first try that is short enough ended the search, and its code may not have been compiled yet. A neighbour may slow down one of two tries.
      const growsAgain = (): boolean => quarter !== undefined && costMs(each, 0) / costMs(quarter, 0) > maxGrowth;
      const grows = seemsToGrow && growsAgain() && growsAgain() && growsAgain();
      if (grows || isSlow(cost)) slow.push(`${each.name}: ${before} ms for 25 KB, ${cost} ms for 100 KB`);
    }
    expect(slow).toEqual([]);
  });
});
