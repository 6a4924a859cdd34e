import { expect, test } from "vitest";
import { readAddress } from "../../../src/net/ip.ts";
import { addressRules } from "./chains.ts";
import { expressionsOf, sourceOf } from "./iptables-rule.ts";

test.each(["10.1.0.5", "fd00::5"])("the source of an accepted address is read from its rule: %s", (text) => {
  const address = readAddress(text);
  if (address === undefined) throw new Error(`${text} is no address`);
  const sources = addressRules(address, "plexus/filter/firewall/pods/one/eth0").map(({ rule }) =>
    sourceOf({ expressions: expressionsOf(rule) }),
  );
  // The rule of the way back has the address as its destination.
  expect(sources).toEqual([undefined, address]);
});

test("a rule without conditions, and one of a link, have no source", () => {
  expect(sourceOf({ expressions: [] })).toBeUndefined();
  expect(sourceOf({ expressions: expressionsOf({ incoming: "br0", verdict: { kind: "drop" } }) })).toBeUndefined();
});
