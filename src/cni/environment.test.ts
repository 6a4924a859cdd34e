import { describe, expect, test } from "vitest";

import { type CniCall, readEnvironment, stepEnvironment, VERBS } from "./environment.ts";

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
