import { describe, expect, it } from "vitest";
import { allowedByList } from "./allowlist.ts";

const allowed = (text: string, key: string, ifname = "eth0"): boolean => allowedByList("/list", text, key, ifname).ok;

describe("the allow-list", () => {
  it("allows a key in each way in which the reference plugin takes it", () => {
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

  it("is a line each, without the blanks around it; none allows nothing", () => {
    expect(allowed("\r\n\t ^net/core/ \r\n", "net/core/somaxconn")).toBe(true);
    expect(allowed("\n \n", "net/core/somaxconn")).toBe(false);
    expect(allowedByList("/list", "q\nz", "net/core/somaxconn", "eth0")).toMatchObject({
      fault: { kind: "SYSCTL_NOT_ALLOWED", code: 7, msg: 'sysctl: "net/core/somaxconn" matches no line of /list' },
    });
  });

  it("fails at a line that is no expression, unless one before it allows the key", () => {
    expect(allowed("^net\n[", "net/core/somaxconn")).toBe(true);
    expect(allowedByList("/list", "^x\n\n[\n^net", "net/core/somaxconn", "eth0")).toMatchObject({
      fault: { msg: 'sysctl: /list, line 3: "[" ends too early' },
    });
  });
});
