import { isDeepStrictEqual } from "node:util";

import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import {
  editMembers,
  elementTexts,
  type JsonObjectDocument,
  memberText,
  memberTexts,
  memberValue,
  parseConfiguration,
  parseDocument,
} from "./document.ts";
import { cpuMs } from "../../test/lab/cpu-ms.ts";

function read(text: string): JsonObjectDocument {
  const document = parseDocument(text, { what: "configuration" });
  if (!document.ok) throw new Error(document.fault.msg);
  return document.value;
}

function refusal(text: string, bounds: { maxLength?: number; maxDepth?: number } = {}): string {
  const document = parseDocument(text, { what: "configuration", ...bounds });
  return document.ok ? "accepted" : document.fault.msg;
}

/** JSON text of any value, written with random white space and escapes. */
const space = fc.stringMatching(/^[ \t\r\n]{0,3}$/);
const literal = fc.oneof(
  fc.constantFrom("0", "-0", "1.0", "1e400", "-1E-7", "9007199254740993", "12345678901234567890123", "true", "false", "null"),
  fc.constantFrom('"\\ud800"', '"\\u0000"', '"__proto__"', '"}{][,:\\"\\\\"', '""', '"\u00e9\ud83d\ude00"'),
  fc.string({ unit: "binary" }).map((text) => JSON.stringify(text)),
);
const keyText = fc.oneof(
  fc.constantFrom("__proto__", "constructor", "a", "name", "", "\u2028"),
  fc.string({ unit: "binary", maxLength: 6 }),
);
const { value: valueText } = fc.letrec<{ value: string; array: string; object: string }>((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, literal, tie("array"), tie("object")),
  array: fc
    .array(fc.tuple(space, tie("value"), space), { maxLength: 4 })
    .map((elements) => `[${elements.map((parts) => parts.join("")).join(",")}]`),
  object: objectText(tie("value")),
}));

function nested(depth: number): string {
  return `{"a":${"[".repeat(depth)}${"]".repeat(depth)}}`;
}

function objectText(value: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const member = fc.record({ key: keyText, value, spaces: fc.array(space, { minLength: 4, maxLength: 4 }) });
  return fc.uniqueArray(member, { maxLength: 5, selector: ({ key }) => key }).map((members) => {
    const texts = members.map(
      ({ key, value: text, spaces: [a = "", b = "", c = "", d = ""] }) => `${a}${JSON.stringify(key)}${b}:${c}${text}${d}`,
    );
    return `{${texts.length === 0 ? " " : texts.join(",")}}`;
  });
}

const documentText = fc.tuple(space, objectText(valueText), space).map((parts) => parts.join(""));

const NOT_JSON = Symbol("not JSON");

function parsedBy(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return NOT_JSON;
  }
}

describe("reading", () => {
  test("L-19: a member's text is unchanged, also if JavaScript cannot represent the number", () => {
    const big = read('{"a": 9007199254740993, "b":1e400,"c":-0,"d":1.0, "e":"\\ud800\\u0000"}');
    expect(["a", "b", "c", "d", "e"].map((key) => memberText(big, key))).toEqual([
      "9007199254740993",
      "1e400",
      "-0",
      "1.0",
      '"\\ud800\\u0000"',
    ]);
    expect(memberValue(big, "e")).toBe("\ud800\0");
  });

  test("A-04: __proto__ and constructor are ordinary keys, and inherited properties are not members", () => {
    const odd = read('{"__proto__":{"polluted":1},"constructor":2}');
    expect(memberValue(odd, "__proto__")).toEqual({ polluted: 1 });
    expect(memberValue(odd, "constructor")).toBe(2);
    expect(memberValue(read("{}"), "constructor")).toBeUndefined();
    expect(memberValue(read("{}"), "__proto__")).toBeUndefined();
    expect(Reflect.get({}, "polluted")).toBeUndefined();
  });

  test.each([
    ['{"a":1,"a":2}', '"a" twice in one object: line 1, column 8'],
    ['{"a":1,\n "\\u0061":2}', '"a" twice in one object: line 2, column 2'],
    ['{"x":[{"b":{"__proto__":1,"__proto__":2}}]}', '"__proto__" twice in one object: line 1, column 27'],
  ])("A-04: a duplicate key in one object is refused, in any spelling: %j", (text, message) => {
    expect(refusal(text)).toContain(message);
  });

  test("A-04: the same key in two objects is not a duplicate", () => {
    expect(refusal('{"a":{"a":1},"b":[{"a":1},{"a":2}],"c":"a"}')).toBe("accepted");
  });

  test.each([
    ["", "is empty"],
    [" \n", "is empty"],
    ["[1]", "must be a JSON object, but is an array"],
    ["null", "must be a JSON object, but is null"],
    ["5", "must be a JSON object, but is a number"],
    ['{"a":1,}', 'line 1, column 7: expected no comma before "}", found ",}"'],
    ['{"a":[1,\n]}', 'line 1, column 8: expected no comma before "]", found ",\\n]}"'],
    ['{"a":1,,"b":2}', "line 1, column 8: expected a key in quotes"],
    ['{"a":[{},{"b":}]}', "line 1, column 15: expected a value"],
    ['{"a":1\n"b":2}', 'line 2, column 1: expected "," or "}"'],
    ['{"a" 1}', 'line 1, column 6: expected ":" after the key'],
    ['{"a":01}', 'line 1, column 7: expected "," or "}"'],
    ['{"a":+1}', "line 1, column 6: expected a value"],
    ['{"a":NaN}', "line 1, column 6: expected a value"],
    ["{'a':1}", "line 1, column 2: expected a key in quotes"],
    ['{"a":"\t"}', "line 1, column 7: expected a control character in a string to be escaped"],
    ['{"a":"\\x"}', "line 1, column 7: expected one of the escapes"],
    ['{"a":"b', "line 1, column 8: expected the string's closing quote, the text ends"],
    ['{"a":1}garbage', "line 1, column 8: expected nothing after the value"],
    ['\ufeff{"a":1}', "line 1, column 1: expected a value"],
    ['{"a":1 /* no */}', 'line 1, column 8: expected "," or "}"'],
  ])("A-07: %j is refused with its position and the expected token", (text, message) => {
    expect(refusal(text)).toContain(message);
  });

  test("A-06: depth and length are limited, and a million brackets are refused at once", () => {
    expect(refusal(nested(99))).toBe("accepted");
    expect(refusal(nested(100))).toBe("configuration is nested deeper than 100 levels at line 1, column 105");
    expect(refusal("[".repeat(1_000_000))).toContain("is nested deeper than 100 levels");
    expect(refusal(`{"a":"${"x".repeat(100)}"}`, { maxLength: 50 })).toBe(
      "configuration is 108 characters long; at most 50 are read",
    );
  });

  test("A-06: an object of 200 000 keys is read in linear time, and a duplicate of an early key is found", () => {
    const keys = Array.from({ length: 200_000 }, (_, index) => `"k${index}":0`).join(",");
    // Comparing each key with each other would take minutes.
    const started = cpuMs();
    expect(refusal(`{${keys}}`)).toBe("accepted");
    expect(cpuMs() - started).toBeLessThan(5000);
    expect(refusal(`{${keys},"k7":0}`)).toContain('"k7" twice in one object');
  });

  test("A-06: a mebibyte of configuration is read", () => {
    const value = `"${"x\\n".repeat(350_000)}"`;
    expect(memberText(read(`{"a":${value},"b":1}`), "a")).toBe(value);
    const backslashes = `"${"\\\\".repeat(500_000)}"`;
    expect(memberText(read(`{"a":${backslashes},"b":1}`), "a")).toBe(backslashes);
  });

  test("accepts exactly the texts that JSON.parse accepts, valid or truncated", () => {
    const torn = fc
      .tuple(documentText, fc.nat(), fc.nat({ max: 3 }), fc.constantFrom("", "{", "}", "[", "]", ",", ":", '"', "\\", "0", "e"))
      .map(([text, at, cut, put]) => {
        const index = at % (text.length + 1);
        return text.slice(0, index) + put + text.slice(index + cut);
      });
    fc.assert(
      fc.property(fc.oneof(documentText, torn), (text) => {
        const document = parseDocument(text, { what: "configuration" });
        const parsed = parsedBy(text);
        const refused =
          parsed === NOT_JSON ? / is not JSON: line \d+, column \d+: expected| is empty/ : /must be a JSON object|twice in/;
        const agrees = document.ok ? isDeepStrictEqual(document.value.parsed, parsed) : refused.test(document.fault.msg);
        expect(agrees).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});

describe("editing", () => {
  test.each([
    ['{"a":1}', [["a", "2"]], '{"a":2}'],
    ['{ "a" : 1 , "b":2 }', [["b", undefined]], '{ "a" : 1 }'],
    ['{ "a" : 1 , "b":2 }', [["a", undefined]], '{ "b":2 }'],
    ['{"a":1,\n "b":2,\n "c":3}', [["b", undefined]], '{"a":1,\n "c":3}'],
    ['{ "a":1 }', [["a", undefined]], "{ }"],
    ["{}", [["a", "1"]], '{"a":1}'],
    [' { "a":1 } ', [["b", "[]"]], ' { "a":1,"b":[] } '],
    [
      '{"a":1,"b":2}',
      [
        ["a", undefined],
        ["b", undefined],
        ["c", "3"],
      ],
      '{"c":3}',
    ],
    ['{"__proto__":1}', [["__proto__", "2"]], '{"__proto__":2}'],
    ['{"\\u0061":1}', [["a", "2"]], '{"\\u0061":2}'],
  ] as [string, [string, string | undefined][], string][])("L-30: %j with %j becomes %j", (text, edits, expected) => {
    expect(editMembers(read(text), new Map(edits))).toBe(expected);
  });

  test("L-30: an edit changes only the named members", () => {
    const edits = fc.array(fc.tuple(keyText, fc.option(valueText, { nil: undefined })), { maxLength: 4 });
    fc.assert(
      fc.property(documentText, edits, (text, list) => {
        const before = read(text);
        const changes = new Map(list);
        const after = read(editMembers(before, changes));
        const kept = [...before.members.keys()].filter((key) => !(changes.has(key) && changes.get(key) === undefined));
        const added = [...changes].filter(([key, value]) => value !== undefined && !before.members.has(key)).map(([key]) => key);
        expect([...after.members.keys()]).toEqual([...kept, ...added]);
        for (const key of after.members.keys()) {
          const expected = changes.has(key) ? changes.get(key) : memberText(before, key);
          expect(memberText(after, key)).toBe(expected);
        }
        expect(editMembers(before, new Map())).toBe(text);
      }),
      { numRuns: 500 },
    );
  });

  test("L-30: removing an added member restores the text", () => {
    fc.assert(
      fc.property(documentText, valueText, (text, value) => {
        const before = read(text);
        const key = "a key that no document has";
        fc.pre(before.members.size > 0);
        const after = read(editMembers(before, new Map([[key, value]])));
        expect(editMembers(after, new Map([[key, undefined]]))).toBe(text);
      }),
    );
  });

  test("elements and members of a nested value have their exact text", () => {
    expect(elementTexts('[ 1.0 ,{"a":[1,2]}, "x]" ,[]]')).toEqual(["1.0", '{"a":[1,2]}', '"x]"', "[]"]);
    expect(elementTexts("[]")).toEqual([]);
    expect([...memberTexts('{"b": 1e400 ,"a":{"c":[]}}')]).toEqual([
      ["b", "1e400"],
      ["a", '{"c":[]}'],
    ]);
  });
});

test("a repeated configuration is parsed once; an invalid one is refused each time, with its own name", () => {
  const text = '{"type":"comes-again","a":[1,2]}';
  const [first, second] = [parseConfiguration(text, { what: "one" }), parseConfiguration(text, { what: "another" })];
  expect(first).toEqual(parseDocument(text, { what: "one" }));
  expect(first.ok && second.ok && first.value === second.value).toBe(true);
  // Long texts are not cached: a parsed value takes many times the text's memory.
  const long = `{"type":"${"x".repeat(8 * 1024)}"}`;
  const [longFirst, longSecond] = [parseConfiguration(long, { what: "one" }), parseConfiguration(long, { what: "one" })];
  expect(longFirst.ok && longSecond.ok && longFirst.value !== longSecond.value).toBe(true);
  for (const what of ["one", "another"]) {
    const wrong = parseConfiguration('{"type":', { what });
    expect(!wrong.ok && wrong.fault.msg).toMatch(what);
  }
});

test("a mistake within a secret is reported without the text that was found", () => {
  const document = parseDocument('{"mtu": 1400, "password": "hun"ter2-secret"}', { what: "configuration" });
  expect(document).toMatchObject({
    fault: { msg: expect.stringMatching(/line 1, column 32: expected .*, found \[redacted\]$/) },
  });
});
