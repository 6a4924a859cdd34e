import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type CniCall,
  readEnvironment,
  stepEnvironment,
  VERBS,
  parseCniArgs,
  printCniArgs,
  readKnownArgs,
  splitCniArgs,
} from "./environment.ts";

const complete = {
  CNI_COMMAND: "ADD",
  CNI_CONTAINERID: "c1",
  CNI_NETNS: "/run/netns/c1",
  CNI_IFNAME: "eth0",
  CNI_ARGS: "A=1",
  CNI_PATH: "/opt/cni/bin:/usr/lib/cni",
};

function read(env: Readonly<Record<string, string>>): CniCall | readonly [number, string] {
  const result = readEnvironment(new Map(Object.entries(env)));
  return result.ok ? result.value : [result.fault.code, result.fault.msg];
}

function without(verb: string, name: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries({ ...complete, CNI_COMMAND: verb }).filter(([key]) => key !== name));
}

describe("reading the environment", () => {
  test("L-05: a complete call is read", () => {
    expect(read(complete)).toEqual({
      verb: "ADD",
      containerId: "c1",
      netns: "/run/netns/c1",
      ifname: "eth0",
      args: "A=1",
      path: "/opt/cni/bin:/usr/lib/cni",
      netnsOverride: false,
    });
  });

  const required: Readonly<Record<string, string>> = {
    CNI_CONTAINERID: "ADD CHECK DEL",
    CNI_NETNS: "ADD CHECK",
    CNI_IFNAME: "ADD CHECK DEL",
    CNI_ARGS: "",
    CNI_PATH: "ADD CHECK DEL GC STATUS",
  };
  const cases = Object.entries(required).flatMap(([name, verbs]) =>
    VERBS.map((verb) => [name, verb, verbs.split(" ").includes(verb) ? "required" : "optional"] as const),
  );
  test.each(cases)("L-05: %s for %s is %s", (name, verb, need) => {
    for (const env of [without(verb, name), { ...without(verb, name), [name]: "" }]) {
      const expected = need === "required" ? [4, `required env variables [${name}] missing`] : verb;
      const call = read(env);
      expect("verb" in call ? call.verb : call).toEqual(expected);
    }
  });

  test("L-05: one message names all missing variables, in skel's order", () => {
    expect(read({ CNI_COMMAND: "ADD" })).toEqual([
      4,
      "required env variables [CNI_CONTAINERID,CNI_NETNS,CNI_IFNAME,CNI_PATH] missing",
    ]);
    expect(read({})).toEqual([4, "required env variables [CNI_COMMAND] missing"]);
  });

  test("L-05: VERSION needs no other variable", () => {
    expect(read({ CNI_COMMAND: "VERSION" })).toMatchObject({ verb: "VERSION", containerId: "" });
  });

  test.each(["add", "ADD ", "REMOVE", "__proto__", "constructor"])("L-05: the verb %j is unknown", (verb) => {
    expect(read({ ...complete, CNI_COMMAND: verb })).toEqual([4, `unknown CNI_COMMAND: "${verb}"`]);
  });

  test.each([
    [{ CNI_CONTAINERID: "../x" }, 'CNI_CONTAINERID: invalid characters in containerID: "../x"'],
    [{ CNI_IFNAME: "a/b" }, 'CNI_IFNAME: interface name contains / or : or whitespace characters: "a/b"'],
    [{ CNI_IFNAME: "sixteen-bytes-ab" }, 'CNI_IFNAME: interface name is too long: "sixteen-bytes-ab" has more than 15 bytes'],
  ])("L-05: malformed %j is refused with 4", (wrong, message) => {
    expect(read({ ...complete, ...wrong })).toEqual([4, message]);
  });

  test.each(["CNI_COMMAND", "CNI_CONTAINERID", "CNI_NETNS", "CNI_IFNAME", "CNI_ARGS", "CNI_PATH"])(
    "CNI section 2: %s with a byte that is not UTF-8 is refused, and the message has its name",
    (name) => {
      expect(read({ ...complete, [name]: "A=\udcff" })).toEqual([4, `${name}: must be UTF-8 text`]);
    },
  );

  test("N1-30: a name that the kernel would change is refused, but an attachment with this name can be removed", () => {
    expect(read({ ...complete, CNI_IFNAME: "net%d" })).toMatchObject([4, expect.stringMatching(/^CNI_IFNAME: .*"net%d"/)]);
    expect(read({ ...complete, CNI_COMMAND: "DEL", CNI_IFNAME: "net%d" })).toMatchObject({ verb: "DEL", ifname: "net%d" });
  });

  test("L-05: GC does not check container ID and interface name", () => {
    expect(read({ ...complete, CNI_COMMAND: "GC", CNI_IFNAME: "a/b" })).toMatchObject({ verb: "GC" });
  });

  test.each([
    ["1", true],
    ["true", true],
    ["TRUE", true],
    ["0", false],
    ["yes", false],
    ["", false],
  ])("L-07: CNI_NETNS_OVERRIDE=%j is %j", (value, expected) => {
    expect(read({ ...complete, CNI_NETNS_OVERRIDE: value })).toMatchObject({ netnsOverride: expected });
  });
});

describe("a plugin's environment", () => {
  const call = { verb: "ADD", containerId: "c1", netns: "/n", ifname: "net1", args: "A=1", path: "/bin" } as const;

  test("L-09: the six variables override inherited ones, and each name occurs once", () => {
    const env = stepEnvironment(call, [
      ["CNI_IFNAME", "eth0"],
      ["PATH", "/a"],
      ["CNI_COMMAND", "DEL"],
      ["PATH", "/b"],
      ["__proto__", "x"],
    ]);
    expect(env).toEqual([
      ["PATH", "/b"],
      ["__proto__", "x"],
      ["CNI_COMMAND", "ADD"],
      ["CNI_CONTAINERID", "c1"],
      ["CNI_NETNS", "/n"],
      ["CNI_ARGS", "A=1"],
      ["CNI_IFNAME", "net1"],
      ["CNI_PATH", "/bin"],
    ]);
  });
});

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
    const accepted = readKnownArgs(
      [
        ["IP", "1"],
        ["X", "2"],
      ],
      known,
    );
    expect(!accepted.ok && [accepted.fault.code, accepted.fault.msg]).toEqual([4, 'CNI_ARGS: unknown args "X=2"']);
  });

  test.each(["1", "true", "True", "TRUE"])("L-61: IgnoreUnknown=%s at any position allows unknown keys", (value) => {
    const accepted = readKnownArgs(
      [
        ["X", "2"],
        ["IgnoreUnknown", value],
        ["IP", "1"],
      ],
      known,
    );
    expect(accepted).toEqual({ ok: true, value: new Map([["IP", "1"]]) });
  });

  test.each([
    ["0", "unknown args"],
    ["false", "unknown args"],
    ["yes", "IgnoreUnknown must be"],
    ["", "IgnoreUnknown must be"],
  ])("L-61: IgnoreUnknown=%s does not", (value, message) => {
    const accepted = readKnownArgs(
      [
        ["X", "2"],
        ["IgnoreUnknown", value],
      ],
      known,
    );
    expect(!accepted.ok && accepted.fault.msg).toContain(message);
  });
});
