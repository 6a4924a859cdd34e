import { describe, expect, test } from "vitest";

import { fault } from "../fault/fault.ts";
import { readPluginFailure } from "./error-json.ts";
import { printVersionAnswer, readVersionAnswer, VERSION_PROBE_STDIN } from "./version-answer.ts";

function answer(stdout: string): readonly string[] | string {
  const read = readVersionAnswer({ ok: true, stdout });
  return read.ok ? read.value : read.fault.msg;
}

describe("another plugin's answer to VERSION", () => {
  test("L-13: the probe's stdin names the current version", () => {
    expect(VERSION_PROBE_STDIN).toBe('{"cniVersion":"1.1.0"}');
  });

  test("L-13: has the listed versions", () => {
    expect(answer('{"cniVersion":"1.0.0","supportedVersions":["0.4.0","1.0.0"]}')).toEqual(["0.4.0", "1.0.0"]);
  });

  test("L-13: 0.2.0 without a list means 0.1.0 and 0.2.0", () => {
    expect(answer('{"cniVersion":"0.2.0"}')).toEqual(["0.1.0", "0.2.0"]);
  });

  test.each([
    ["", "is empty"],
    ["{}", "cniVersion must be a version, but is missing"],
    ['{"cniVersion":1}', "cniVersion must be a version, but is a number"],
    ['{"cniVersion":"0.4.0"}', "supportedVersions is missing"],
    ['{"cniVersion":"0.4.0","supportedVersions":[]}', "supportedVersions is missing"],
    ['{"cniVersion":"0.4.0","supportedVersions":"0.4.0"}', "supportedVersions must be a list of strings"],
    ['{"cniVersion":"0.4.0","supportedVersions":[1]}', "supportedVersions must be a list of strings"],
  ])("L-13: %j is refused", (stdout, message) => {
    expect(answer(stdout)).toContain(message);
  });

  test("L-13: a plugin without the verb supports 0.1.0; any other failure is a failure", () => {
    const old = readPluginFailure({
      ended: "exit status 1",
      stdout: '{"code":4,"msg":"unknown CNI_COMMAND: VERSION"}',
      stderr: "",
    });
    expect(readVersionAnswer({ ok: false, fault: old })).toEqual({ ok: true, value: ["0.1.0"] });
    const other = fault("PLUGIN_FAILED", "unknown CNI_COMMAND: VERSION!");
    expect(readVersionAnswer({ ok: false, fault: other })).toEqual({ ok: false, fault: other });
  });
});

test("L-58: VERSION answers the current version, and all supported versions or those of a delegate", () => {
  expect(printVersionAnswer()).toBe(
    '{"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}',
  );
  expect(printVersionAnswer(["1.0.0"])).toBe('{"cniVersion":"1.1.0","supportedVersions":["1.0.0"]}');
});
