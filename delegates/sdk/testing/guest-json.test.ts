import * as fc from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { loadGuest, type Guest } from "./load-guest.ts";

let guest: Guest;
beforeAll(async () => {
  guest = await loadGuest("probe.ts");
});

describe("parsing and printing", () => {
  test("every JSON text is printed like by JSON.parse and JSON.stringify, except white space", () => {
    const spaced = fc
      .tuple(fc.jsonValue({ maxDepth: 6 }), fc.constantFrom(undefined, 1, "\t"))
      .map(([v, s]) => JSON.stringify(v, null, s));
    fc.assert(
      fc.property(spaced, (text) => {
        expect(JSON.parse(guest.text("json", text))).toStrictEqual(JSON.parse(text));
      }),
      { numRuns: 500 },
    );
  });

  test("a text is accepted if and only if JSON.parse accepts it", () => {
    const pieces = fc.array(
      fc.constantFrom(
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        '"a"',
        '"',
        "\\",
        "\\u00e9",
        "1",
        "-",
        "0",
        "01",
        "1.",
        ".5",
        "1e5",
        "1e",
        "true",
        "nul",
        "null",
        " ",
        "\n",
        "\u0001",
        "x",
        "\ufeff",
      ),
      { maxLength: 8 },
    );
    fc.assert(
      fc.property(
        pieces.map((p) => p.join("")),
        (text) => {
          let accepted = true;
          try {
            JSON.parse(text);
          } catch {
            accepted = false;
          }
          expect(guest.text("json", text).startsWith("!")).toBe(!accepted);
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("L-19: numbers keep their text, keys their order and duplicates", () => {
    const text = '{"b":9007199254740993,"a":1.50,"b":-0,"c":1E400}';
    expect(guest.text("json", text)).toBe(text);
  });

  test("strings of any UTF-16 survive, including lone surrogates", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(0xffff), { maxLength: 20 }), (units) => {
        const text = String.fromCharCode(...units);
        expect(JSON.parse(guest.text("quoted", text))).toBe(text);
        expect(JSON.parse(guest.text("json", JSON.stringify(text)))).toBe(text);
      }),
    );
  });

  const errors: [text: string, message: string][] = [
    ["", "!the text ends before a value at line 1 column 1"],
    ['{"a":1,}', "!a key in double quotes is missing at line 1 column 8"],
    ['{\n "a" 1}', "!a colon is missing after a key at line 2 column 6"],
    ["[1 2]", "!a comma or closing bracket is missing after an element at line 1 column 4"],
    ['{"a":1 "b":2}', "!a comma or closing brace is missing after a member at line 1 column 8"],
    ['"\\x"', "!an unknown escape in a string at line 1 column 3"],
    ['"\\u12g4"', "!four hexadecimal digits are missing after \\u at line 1 column 6"],
    ['"a\nb"', "!a control character in a string at line 1 column 3"],
    ['"a', "!a string has no end at line 1 column 3"],
    ["1.x", "!a digit is missing after a decimal point at line 1 column 3"],
    ["{} {}", "!text after the value at line 1 column 4"],
  ];
  test.each(errors)("the error for %j names the mistake and its place", (text, message) => {
    expect(guest.text("json", text)).toBe(message);
  });

  test("nesting beyond 128 levels is an error, not a trap", () => {
    expect(guest.text("json", `${"[".repeat(128)}${"]".repeat(128)}`)).toHaveLength(256);
    expect(guest.text("json", "[".repeat(100_000))).toMatch(/^!nesting of more than 128 levels/);
  });
});

describe("values", () => {
  const wholes: [text: string, u32AndI64: string][] = [
    ["0", "0 0"],
    ["4294967295", "4294967295 4294967295"],
    ["4294967296", "none 4294967296"],
    ["-1", "none -1"],
    ["9223372036854775807", "none 9223372036854775807"],
    ["9223372036854775808", "none none"],
    ["-9223372036854775808", "none -9223372036854775808"],
    ["99999999999999999999", "none none"],
    ["1.0", "none none"],
    ["1e3", "none none"],
    ['"1"', "none none"],
  ];
  test.each(wholes)("%s as u32 and as i64 is %s", (text, expected) => {
    expect(guest.text("whole", text)).toBe(expected);
  });

  test("get answers the last of equal keys; getAnyCase ignores the case of letters", () => {
    expect(guest.text("member", '{"Subnet":1,"subnet":2,"x":3}', "subnet")).toBe("2 2");
    expect(guest.text("member", '{"subnet":1,"SUBNET":2}', "subnet")).toBe("1 2");
    expect(guest.text("member", '{"sub-net":1}', "subnet")).toBe("none none");
    expect(guest.text("member", '{"a@":1}', "A`")).toBe("none none");
  });
});

describe("a configuration", () => {
  const table: [text: string, expected: string][] = [
    ['{"type":"x"}', "fine"],
    ['{"type":5}', "7 type: must be a string, is a number"],
    ['{"type":null,"flag":true}', "fine"],
    ['{"flag":"yes"}', "7 flag: must be a boolean, is a string"],
    ['{"ips":[]}', "7 ips: must be an object, is an array"],
    ['{"ips":{"families":["4",6]}}', "7 ips.families[1]: must be a string, is a number"],
    ['{"ips":{"familys":[]}}', "7 ips.familys: is unknown; known are families"],
    ['{"routes":{}}', "7 routes: must be an array, is an object"],
    ['{"routes":[{},{"dst":false}]}', "7 routes[1].dst: must be a string, is a boolean"],
    ['{"routes":[1]}', "7 routes[0]: must be an object, is a number"],
    ['{"type":5,"flag":"yes"}', "7 type: must be a string, is a number"],
    ["[]", "6 the configuration is not a JSON object"],
    ["{", "6 the configuration is not JSON: a key in double quotes is missing at line 1 column 2"],
  ];
  test.each(table)("%s: %s", (text, expected) => {
    expect(guest.text("config", text)).toBe(expected);
  });

  test("requested addresses are found in runtimeConfig, args.cni and CNI_ARGS", () => {
    const config = '{"runtimeConfig":{"ips":["10.0.0.1/24"]},"args":{"cni":{"ips":["10.0.0.2"]}}}';
    expect(guest.text("requested", config, "IgnoreUnknown=1;IP=10.0.0.3, fd00::1/64;K8S_POD_NAME=a")).toBe(
      "[10.0.0.1/24] [10.0.0.2] [10.0.0.3|fd00::1/64] a",
    );
    expect(guest.text("requested", "{}", "")).toBe("none none none none");
  });
});
