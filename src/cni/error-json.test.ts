import { describe, expect, test } from "vitest";

import { fault } from "../fault/fault.ts";
import { printError, readPluginFailure } from "./error-json.ts";

function failure(stdout: string, stderr = "", ended = "exit status 1"): readonly [number, string] {
  const read = readPluginFailure({ ended, stdout, stderr });
  return [read.code, read.msg];
}

describe("a plugin that failed", () => {
  test("L-11: with nothing printed", () => {
    expect(failure("")).toEqual([999, "netplugin failed with no error message: exit status 1"]);
    expect(failure("", "", "signal: killed")).toEqual([999, "netplugin failed with no error message: signal: killed"]);
  });

  test("L-11: with stderr only, quoted", () => {
    expect(failure("", 'panic: "x"\n')).toEqual([999, 'netplugin failed: "panic: \\"x\\"\\n": exit status 1']);
  });

  test("L-11: with its own error: code and message stay, and its details come first", () => {
    const read = readPluginFailure({
      ended: "exit status 1",
      stdout: '{"code":107,"msg":"no veth","details":"EEXIST"}',
      stderr: "log\n",
    });
    expect([read.code, read.msg, read.kind]).toEqual([107, "no veth", "PLUGIN_FAILED"]);
    expect(read.details?.split("\n").slice(0, 2)).toEqual(["EEXIST", 'stderr: "log\\n"']);
  });

  test.each([
    ["not JSON", "is not JSON: line 1, column 1"],
    ['{"code":1}{"code":2}', "line 1, column 11: expected nothing after the value"],
    ["[]", "must be a JSON object"],
    ['{"code":"7","msg":"m"}', "code must be an integer of 0 or more"],
    ['{"code":-1,"msg":"m"}', "code must be an integer of 0 or more"],
    ['{"code":1.5,"msg":"m"}', "code must be an integer of 0 or more"],
    ['{"code":1e400,"msg":"m"}', "code must be an integer of 0 or more"],
    ['{"code":7,"msg":{}}', "msg and details must be strings"],
    ['{"code":7,"code":8}', '"code" twice'],
  ])("L-11, A-07: with %j on stdout, which is not a CNI error", (stdout, why) => {
    const [code, msg] = failure(stdout);
    expect(code).toBe(999);
    expect(msg).toContain(`netplugin failed but error parsing its diagnostic message ${JSON.stringify(stdout)}: `);
    expect(msg).toContain(why);
  });

  test("L-11: code 0 and a missing message are replaced", () => {
    expect(failure('{"code":0,"msg":"m"}')).toEqual([999, "m"]);
    expect(failure('{"__proto__":{"code":5}}')).toEqual([999, "netplugin failed without a message: exit status 1"]);
  });

  test("A-07: a plugin's mebibyte does not become a mebibyte of message", () => {
    expect(failure("x".repeat(1_048_576))[1].length).toBeLessThan(3000);
    expect(failure("", "y".repeat(1_048_576))[1].length).toBeLessThan(3000);
  });
});

test("L-59: an error is printed with cniVersion, code, msg and details", () => {
  const error = fault("CONFIG_INVALID", "no name", { details: "line 1" });
  expect(JSON.parse(printError(error, "0.4.0"))).toEqual({
    cniVersion: "0.4.0",
    code: 7,
    msg: "no name",
    details: error.details,
  });
  expect(printError({ kind: "INTERNAL", code: 999, msg: "\ud800" })).toBe('{"cniVersion":"1.1.0","code":999,"msg":"\\ud800"}');
});
