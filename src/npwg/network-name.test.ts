import { expect, test } from "vitest";
import { readNetworkName } from "./network-name.ts";

test.each([
  ["red", "shop/red"],
  ["a/red", "a/red"],
  ["podnetwork/red", "podnetwork/red"],
  ["a/red.blue-2", "a/red.blue-2"],
])("the name %j in the namespace shop is of the network %s", (text, network) => {
  expect(readNetworkName(text, "shop")).toEqual({ ok: true, value: network });
});

test.each([
  ["", "a name is empty"],
  ["a/", "a name is empty"],
  ["/red", "a name is empty"],
  ["a/b/c", "a name is not a DNS-1123 subdomain"],
  ["A/red", "a name is not a DNS-1123 label"],
  ["a.b/red", "a name is not a DNS-1123 label"],
  ["Red", "a name is not a DNS-1123 subdomain"],
])("the name %j is refused, with the reason", (text, why) => {
  const read = readNetworkName(text, "shop");
  expect(read).toMatchObject({ ok: false });
  const expected = `${JSON.stringify(text)} names no network: ${why}`;
  expect(JSON.stringify(read)).toContain(JSON.stringify(expected).slice(1, -1));
});
