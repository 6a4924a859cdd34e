import { describe, expect, test } from "vitest";

import {
  isSupportedVersion,
  negotiateVersion,
  parseVersion,
  SUPPORTED_VERSIONS,
  toVersion,
  versionAtLeast,
  versionGroup,
} from "./versions.ts";

function negotiated(cniVersion: string, cniVersions: readonly string[]): string {
  const result = negotiateVersion(cniVersion, cniVersions);
  return result.ok ? result.value : result.fault.msg;
}

describe("version texts", () => {
  test.each([
    ["", [0, 1, 0]],
    ["1", [1, 0, 0]],
    ["1.2", [1, 2, 0]],
    ["0.3.1", [0, 3, 1]],
    ["01.002.3", [1, 2, 3]],
  ] as const)("L-16: %j is read as %j", (text, numbers) => {
    expect(parseVersion(text)).toEqual({ ok: true, value: numbers });
  });

  test.each(["1.0.0.0", "1..0", ".", "1.", "a", "1.0.0-rc1", " 1", "-1", "1e3", "1.0.0\n", "9".repeat(40)])(
    "L-16: %j is not a version",
    (text) => {
      const parsed = parseVersion(text);
      expect(!parsed.ok && parsed.fault.code).toBe(7);
    },
  );

  test("L-51: there are seven versions in three groups, and names of Object.prototype are not among them", () => {
    expect(SUPPORTED_VERSIONS.map(versionGroup)).toEqual(["020", "020", "040", "040", "040", "100", "100"]);
    expect(["constructor", "__proto__", "toString", "1.0", "1.2.0", ""].some(isSupportedVersion)).toBe(false);
  });

  test("L-51: an empty version is 0.1.0, an unknown one is code 1", () => {
    expect(toVersion("")).toEqual({ ok: true, value: "0.1.0" });
    const unknown = toVersion("9.9.9");
    expect(!unknown.ok && [unknown.fault.code, unknown.fault.msg]).toEqual([
      1,
      'cniVersion "9.9.9" is not one of 0.1.0, 0.2.0, 0.3.0, 0.3.1, 0.4.0, 1.0.0, 1.1.0',
    ]);
  });

  test("versions compare by number, not by text", () => {
    expect(["0.4.0", "0.10.0", "1", ""].map((text) => versionAtLeast(text, "0.4.0"))).toEqual(
      [true, true, true, false].map((value) => ({ ok: true, value })),
    );
    expect(versionAtLeast("x", "0.4.0").ok).toBe(false);
  });
});

describe("negotiation", () => {
  test.each([
    ["0.4.0", [], "0.4.0"],
    ["", ["0.3.0", "1.0.0", "0.4.0"], "1.0.0"],
    ["1.1.0", ["0.4.0"], "1.1.0"],
    ["0.4.0", ["1.2.0", "2.0.0"], "0.4.0"],
    ["2.0.0", ["1.0.0", "1.1.0"], "1.1.0"],
    ["2.0.0", ["3.0.0"], "2.0.0"],
    ["", ["9.0.0"], ""],
    ["0.4.0", ["1.0", "1.0.0"], "1.0.0"],
    ["0.4.0", ["1.0.0", "1.0"], "1.0.0"],
  ])("L-16: cniVersion %j with cniVersions %j gives %j", (cniVersion, cniVersions, expected) => {
    expect(negotiated(cniVersion, cniVersions)).toBe(expected);
  });

  test("L-16: an entry that is not a version is a fault", () => {
    expect(negotiated("1.0.0", ["1.0.0.0"])).toBe('invalid version "1.0.0.0": too many parts');
    expect(negotiated("x", ["1.0.0"])).toBe('invalid version "x": "x" is not a number');
  });
});
