import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { linkPattern, matchesPattern, pluginPattern, portRange, sysctlPattern } from "./grant-patterns.ts";

describe("a pattern", () => {
  it.each([
    ["plexus0", "plexus0", true],
    ["plexus0", "plexus01", false],
    ["plexus*", "plexus", true],
    ["*", "", true],
    ["eth*.*", "eth1.100", true],
    ["eth*.*", "eth1", false],
    ["e[t]h.", "eth1", false],
    ["net/ipv4/conf/*/rp_filter", "net/ipv4/conf/eth0/rp_filter", true],
    ["net/ipv4/conf/*/rp_filter", "net/ipv4/conf/eth0/x/rp_filter", false],
    ["net/*", "net/ipv4/ip_forward", false],
  ])("%s takes %s: %s", (pattern, name, taken) => {
    expect(matchesPattern(pattern, name)).toBe(taken);
  });

  it("matches like the equivalent regular expression", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "b", "*", "/", "."), maxLength: 12 });
    fc.assert(
      fc.property(text, text, (pattern, name) => {
        const parts = pattern.split("*").map((part) => part.replaceAll(".", "\\."));
        expect(matchesPattern(pattern, name)).toBe(new RegExp(`^${parts.join("[^/]*")}$`).test(name));
      }),
      { numRuns: 2000 },
    );
  });
});

describe("an element of a grant", () => {
  it.each(["", "..", ".", "a/b", "a b", "a:b", "sixteen-letters-", "é", "a\n"])("is not a link: %j", (text) => {
    expect(linkPattern.pattern.test(text)).toBe(false);
  });

  it.each([
    "net",
    "net/",
    "kernel/panic",
    "/net/ipv4/ip_forward",
    "net.ipv4.ip_forward",
    "net/../kernel/panic",
    "net/a//b",
    "net/a/.",
  ])("is not a sysctl below net: %j", (text) => {
    expect(sysctlPattern.pattern.test(text)).toBe(false);
  });

  it.each(["", "..", "../sh", "a/b", "a b"])("is not a plugin: %j", (text) => {
    expect(pluginPattern.pattern.test(text)).toBe(false);
  });

  it("is a range of ports exactly if both ends are ports", () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 70_000 }), fc.option(fc.integer({ min: 0, max: 70_000 })), (first, last) => {
        const text = last === null ? String(first) : `${first}-${last}`;
        const expected = isPort(first) && isPort(last ?? first) ? [first, last ?? first] : undefined;
        expect(portRange(text)).toEqual(expected);
      }),
      { numRuns: 2000 },
    );
  });
});

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}
