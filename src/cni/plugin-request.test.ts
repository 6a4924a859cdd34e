import { describe, expect, test } from "vitest";

import { readPluginRequest } from "./plugin-request.ts";

function outcome(verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS", stdin: string, supported?: readonly string[]): unknown {
  const read = readPluginRequest(verb, stdin, supported);
  if (read.ok) return read.value.cniVersion;
  return [read.fault.code, read.fault.msg];
}

describe("a request on stdin", () => {
  test.each([
    ["", 6, "network configuration on stdin is empty"],
    ["{", 6, "line 1, column 2"],
    ["[]", 6, "must be a JSON object, but is an array"],
    ["null", 6, "must be a JSON object, but is null"],
    ["{}", 7, "missing network name"],
    ['{"name":""}', 7, "missing network name"],
    ['{"name":null}', 7, "missing network name"],
    ['{"name":5}', 7, "name must be a string, but is a number"],
    ['{"name":["a"]}', 7, "name must be a string, but is an array"],
    ['{"name":"../x"}', 7, "invalid characters found in network name"],
    ['{"name":"n","cniVersion":1}', 7, "cniVersion must be a string, but is a number"],
    ['{"name":"n","name":"m"}', 6, '"name" twice'],
  ])("L-06: %j is refused with %d, and the message names the mistake", (stdin, code, message) => {
    expect(outcome("ADD", stdin)).toEqual([code, expect.stringContaining(message)]);
  });

  test("L-06: a missing or empty version means 0.1.0", () => {
    expect(outcome("ADD", '{"name":"n"}')).toBe("0.1.0");
    expect(outcome("DEL", '{"name":"n","cniVersion":""}')).toBe("0.1.0");
  });

  test.each([
    ["CHECK", "0.3.1", "0.4.0"],
    ["GC", "1.0.0", "1.1.0"],
    ["STATUS", "1.0.0", "1.1.0"],
  ] as const)("L-06: %s is refused with 1 at %s and served at %s", (verb, before, since) => {
    expect(outcome(verb, `{"name":"n","cniVersion":"${before}"}`)).toEqual([1, `config version does not allow ${verb}`]);
    expect(outcome(verb, `{"name":"n","cniVersion":"${since}"}`)).toBe(since);
  });

  test("L-06: the version must be exactly one of the plugin's, and the details list them", () => {
    const read = readPluginRequest("ADD", '{"name":"n","cniVersion":"1.0"}', ["0.4.0", "1.0.0"]);
    expect(!read.ok && [read.fault.code, read.fault.msg, read.fault.details?.split("\n")[0]]).toEqual([
      1,
      "incompatible CNI versions",
      'config is "1.0", plugin supports ["0.4.0" "1.0.0"]',
    ]);
  });
});
