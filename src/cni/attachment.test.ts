import { describe, expect, test } from "vitest";
import type { Result } from "../fault/result.ts";
import { checkAttachedInterfaceName, checkContainerId, checkInterfaceName, checkNetworkName, utf8Length } from "./attachment.ts";

function codeOf(result: Result<string>): number | "accepted" {
  return result.ok ? "accepted" : result.fault.code;
}

describe("container IDs and network names", () => {
  test.each(["a", "A0", "0", "a.b-c_d", `a${"b".repeat(300)}`])("L-01: %s is accepted", (text) => {
    expect([checkContainerId(text), checkNetworkName(text)].map(codeOf)).toEqual(["accepted", "accepted"]);
  });

  test.each(["-a", ".a", "_a", "a/b", "../a", "a b", "a\n", "a\n\n", "é", "a\0", "a;b", "a=b", "__proto__", "１"])(
    "L-01, L-02: %j is refused, with 4 as a container ID and 7 as a network name",
    (text) => {
      expect([checkContainerId(text), checkNetworkName(text)].map(codeOf)).toEqual([4, 7]);
    },
  );

  test("L-02: an empty container ID is 3, an empty network name is 7", () => {
    expect([checkContainerId(""), checkNetworkName("")].map(codeOf)).toEqual([3, 7]);
    const missing = checkContainerId("");
    expect(!missing.ok && missing.fault.msg).toBe("missing containerID");
  });

  test("L-02: the message has the text, cut and without control characters", () => {
    const refused = checkContainerId(`\u001b[31m${"x".repeat(5000)}`);
    expect(!refused.ok && refused.fault.msg).toMatch(/^invalid characters in containerID: "\\x1b\[31mx+"… \(4805 more\)$/);
  });
});

describe("interface names", () => {
  test.each(["eth0", "a", "...", "-", "All", "defaults", "15-bytes-exactl", "ééééééé", "net1@x", "\ufeffa"])(
    "L-03: %j is accepted",
    (text) => {
      expect(codeOf(checkInterfaceName(text))).toBe("accepted");
    },
  );

  test.each([
    ["is empty", ""],
    ["has 16 bytes", "16-bytes-exactly"],
    ["has 8 characters but 16 bytes", "éééééééé"],
    ["has 4 emojis, 16 bytes", "😀😀😀😀"],
    ["is .", "."],
    ["is ..", ".."],
    ["has a slash", "a/b"],
    ["has a colon", "a:b"],
    ["has a space", "a b"],
    ["has a tab", "a\tb"],
    ["ends in a line end", "a\n"],
    ["has U+000B", "a\vb"],
    ["has U+0085, which \\s misses", "a\u0085"],
    ["has U+00A0", "a\u00a0"],
    ["has U+1680", "a\u1680"],
    ["has U+2028", "a\u2028"],
    ["has U+3000", "a\u3000"],
    ["has a NUL", "a\0"],
  ])("L-03: an interface name that %s is refused with 4", (_, text) => {
    expect([checkInterfaceName(text), checkAttachedInterfaceName(text)].map(codeOf)).toEqual([4, 4]);
  });

  test.each(["all", "default", "%d", "net%d", "%", "a%b", "net%%d"])(
    "N1-30: %j, which the kernel refuses or expands, is refused, and stays removable",
    (text) => {
      expect([checkInterfaceName(text), checkAttachedInterfaceName(text)].map(codeOf)).toEqual([4, "accepted"]);
    },
  );
});

test("lengths are in bytes of UTF-8", () => {
  for (const text of ["", "a", "é", "漢", "😀", "\ud800", "a\u07ff\u0800\uffff"]) {
    expect(utf8Length(text)).toBe(Buffer.byteLength(text));
  }
});
