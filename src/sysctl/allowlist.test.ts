import { describe, expect, it } from "vitest";
import { allowedByList } from "./allowlist.ts";
import { readExpression } from "./expression.ts";

const allowed = (text: string, key: string, ifname = "eth0"): boolean =>
  allowedByList({ file: "/list", text }, key, ifname, readExpression).ok;

describe("the allow-list", () => {
  it("allows a key in each spelling that the reference plugin accepts", () => {
    const key = "net/ipv4/conf/eth0/rp_filter";
    for (const line of [
      "^net.ipv4.conf.IFNAME.[a-z_]*$",
      "^net\\.ipv4\\.conf\\.eth0\\.rp_filter$",
      "^net/ipv4/conf/eth0/",
      "^net/ipv4/conf/IFNAME/",
    ])
      expect([line, allowed(line, key)]).toEqual([line, true]);
    expect(allowed("^net.ipv4.conf.IFNAME.[a-z_]*$", "net/ipv4/conf/eth1/rp_filter")).toBe(false);
    expect(allowed("^net.ipv4.conf.IFNAME.[a-z_]*$", "net/ipv4/conf/eth0.100/rp_filter", "eth0.100")).toBe(true);
  });

  it("has one expression in each line, without surrounding blanks; an empty list allows nothing", () => {
    expect(allowed("\r\n\t ^net/core/ \r\n", "net/core/somaxconn")).toBe(true);
    expect(allowed("\n \n", "net/core/somaxconn")).toBe(false);
    expect(allowedByList({ file: "/list", text: "q\nz" }, "net/core/somaxconn", "eth0", readExpression)).toMatchObject({
      fault: { kind: "SYSCTL_NOT_ALLOWED", code: 7, msg: 'sysctl: "net/core/somaxconn" matches no line of /list' },
    });
  });

  it("fails at an invalid line, unless an earlier line allows the key", () => {
    expect(allowed("^net\n[", "net/core/somaxconn")).toBe(true);
    expect(allowedByList({ file: "/list", text: "^x\n\n[\n^net" }, "net/core/somaxconn", "eth0", readExpression)).toMatchObject({
      fault: { msg: 'sysctl: /list, line 3: "[" is not a Go regular expression: missing closing ]' },
    });
  });
});
