import * as fc from "fast-check";
import { expect, test } from "vitest";
import { RecentTexts } from "./recent-texts.ts";

test("a text is cached until maxTexts other texts were used after it", () => {
  const known = new RecentTexts<number>({ maxTexts: 2, maxLength: 5 });
  known.put("one", 1);
  known.put("two", 2);
  expect(known.get("one")).toBe(1);
  known.put("three", 3);
  expect([known.get("one"), known.get("two"), known.get("three")]).toEqual([1, undefined, 3]);
});

test("a text that is too long is not cached", () => {
  const known = new RecentTexts<number>({ maxTexts: 2, maxLength: 5 });
  known.put("12345", 1);
  known.put("123456", 2);
  expect([known.get("12345"), known.get("123456")]).toEqual([1, undefined]);
});

test("the cache has a text's latest value, and at most maxTexts texts", () => {
  const step = fc.record({ text: fc.constantFrom("a", "b", "c", "d", "e"), put: fc.boolean() });
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 4 }), fc.array(step, { maxLength: 60 }), (maxTexts, steps) => {
      const known = new RecentTexts<number>({ maxTexts, maxLength: 5 });
      /** The most recently used text is last. */
      let expected: [string, number][] = [];
      for (const [number, { text, put }] of steps.entries()) {
        const before = expected.find(([each]) => each === text);
        const now: [string, number] | undefined = put ? [text, number] : before;
        if (put) known.put(text, number);
        expect(put ? before?.[1] : known.get(text)).toBe(before?.[1]);
        if (now !== undefined) expected = [...expected.filter(([each]) => each !== text), now].slice(-maxTexts);
      }
    }),
  );
});
