import { describe, expect, test } from "vitest";
import { jsonChanges, jsonEqual } from "./json-changes.ts";

describe("jsonChanges", () => {
  test.each<[string, unknown, unknown, readonly object[]]>([
    ["equal documents", { a: [1, { b: null }] }, { a: [1, { b: null }] }, []],
    ["another order of members", { a: 1, b: 2 }, { b: 2, a: 1 }, []],
    ["an absent document", undefined, { ips: [] }, [{ op: "add", path: "", value: { ips: [] } }]],
    ["a removed member", { a: 1, b: 2 }, { a: 1 }, [{ op: "remove", path: "/b", before: 2 }]],
    ["another type", { a: [1] }, { a: { 0: 1 } }, [{ op: "replace", path: "/a", before: [1], value: { 0: 1 } }]],
    ["an appended element", [1], [1, 2], [{ op: "add", path: "/1", value: 2 }]],
    ["an inserted element", [1, 3], [1, 2, 3], [{ op: "add", path: "/1", value: 2 }]],
    ["a removed element", [1, 2, 3], [1, 3], [{ op: "remove", path: "/1", before: 2 }]],
    ["a repeated element", [1, 1], [1, 1, 1], [{ op: "add", path: "/2", value: 1 }]],
    ["a changed element", [{ a: 1 }, 2], [{ a: 3 }, 2], [{ op: "replace", path: "/0/a", before: 1, value: 3 }]],
    [
      "keys with special characters",
      { "a/b": 1, "c~d": 1 },
      {},
      [
        { op: "remove", path: "/a~1b", before: 1 },
        { op: "remove", path: "/c~0d", before: 1 },
      ],
    ],
  ])("finds %s", (_, before, after, changes) => {
    expect(jsonChanges(before, after)).toEqual({ changes, isComplete: true });
  });

  test("takes a member called __proto__ as any other", () => {
    const hostile: unknown = JSON.parse('{"__proto__": {"a": 1}}');
    expect(jsonChanges({}, hostile).changes).toEqual([{ op: "add", path: "/__proto__", value: { a: 1 } }]);
  });

  test("lists a bounded number of changes and says that there are more", () => {
    const found = jsonChanges({}, Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`k${index}`, index])), 10);
    expect(found.changes).toHaveLength(10);
    expect(found.isComplete).toBe(false);
  });

  test("compares values that are nested deeper than any document as a whole", () => {
    let [one, other]: unknown[] = [1, 2];
    for (let level = 0; level < 300; level++) [one, other] = [[one], [other]];
    expect(jsonChanges(one, other).changes).toHaveLength(1);
    expect(jsonEqual(one, other)).toBe(false);
    expect(jsonEqual(one, structuredClone(one))).toBe(true);
  });

  test("answers in time proportional to the lists' lengths", () => {
    const list = Array.from({ length: 20_000 }, (_, index) => ({ dst: `10.0.${index}.0/24` }));
    expect(jsonChanges(list, [...list, { dst: "0.0.0.0/0" }]).changes).toHaveLength(1);
    expect(jsonChanges(list, list.slice(1)).changes).toHaveLength(1);
  });
});
