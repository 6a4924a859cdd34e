import * as fc from "fast-check";
import { describe, expect, test } from "vitest";

import { parseCniArgs, printCniArgs, readKnownArgs, splitCniArgs } from "./args.ts";

describe("CNI_ARGS", () => {
  test.each([
    ["", []],
    ["A=1", [["A", "1"]]],
    [
      "A=1;B=;A=2",
      [
        ["A", "1"],
        ["B", ""],
        ["A", "2"],
      ],
    ],
    ["=x", [["", "x"]]],
    ["__proto__=1", [["__proto__", "1"]]],
  ])("L-61: %j has the pairs %j", (text, pairs) => {
    expect(parseCniArgs(text)).toEqual({ ok: true, value: pairs });
  });

  test.each(["A", ";", "A=1;", ";A=1", "A=1;;B=2", "A=1=2", "A==", "A=1;B"])(
    "A-11: %j is refused with 4, and the message has the pair",
    (text) => {
      const parsed = parseCniArgs(text);
      expect(!parsed.ok && [parsed.fault.code, parsed.fault.msg.startsWith('CNI_ARGS: invalid pair "')]).toEqual([4, true]);
    },
  );

  test.each([
    ["", []],
    [
      "A=1;;B=2=3;",
      [
        ["A", "1"],
        ["B", "2=3"],
      ],
    ],
    ["FOO;A=1", [["A", "1"]]],
    ["none", []],
    ["A=;=x", [["A", ""]]],
  ])("MC-24: %j has the pairs %j", (text, pairs) => {
    expect(splitCniArgs(text)).toEqual(pairs);
  });

  test("A-11: 64 KiB are read, and an invalid pair of 64 KiB is cut in the message", () => {
    const value = "x".repeat(65_536);
    expect(parseCniArgs(`A=${value}`)).toEqual({ ok: true, value: [["A", value]] });
    const parsed = parseCniArgs(value);
    expect(!parsed.ok && parsed.fault.msg.length).toBeLessThan(400);
  });

  test("L-09: parsed pairs print unchanged", () => {
    const part = fc.string().filter((text) => !/[;=]/.test(text));
    fc.assert(
      fc.property(fc.array(fc.tuple(part, part), { minLength: 1 }), (pairs) => {
        expect(parseCniArgs(printCniArgs(pairs))).toEqual({ ok: true, value: pairs });
      }),
    );
  });
});

describe("known arguments", () => {
  const known = new Set(["IP", "K8S_POD_NAME"]);

  test("L-61: the last of equal keys wins", () => {
    expect(
      readKnownArgs(
        [
          ["IP", "1"],
          ["IP", "2"],
        ],
        known,
      ),
    ).toEqual({ ok: true, value: new Map([["IP", "2"]]) });
  });

  test("L-61: an unknown key is refused by name", () => {
    const read = readKnownArgs(
      [
        ["IP", "1"],
        ["X", "2"],
      ],
      known,
    );
    expect(!read.ok && [read.fault.code, read.fault.msg]).toEqual([4, 'CNI_ARGS: unknown args "X=2"']);
  });

  test.each(["1", "true", "True", "TRUE"])("L-61: IgnoreUnknown=%s at any position allows unknown keys", (value) => {
    const read = readKnownArgs(
      [
        ["X", "2"],
        ["IgnoreUnknown", value],
        ["IP", "1"],
      ],
      known,
    );
    expect(read).toEqual({ ok: true, value: new Map([["IP", "1"]]) });
  });

  test.each([
    ["0", "unknown args"],
    ["false", "unknown args"],
    ["yes", "IgnoreUnknown must be"],
    ["", "IgnoreUnknown must be"],
  ])("L-61: IgnoreUnknown=%s does not", (value, message) => {
    const read = readKnownArgs(
      [
        ["X", "2"],
        ["IgnoreUnknown", value],
      ],
      known,
    );
    expect(!read.ok && read.fault.msg).toContain(message);
  });
});
