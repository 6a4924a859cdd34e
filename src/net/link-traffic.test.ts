import { expect, test } from "vitest";
import { readTraffic } from "./link-traffic.ts";

test("a document of another form is none", () => {
  const counters = { packets: 1, bytes: 2, errors: 0, drops: 0 };
  const both = { receive: counters, transmit: counters };
  const link = { pod: "a/b", ifname: "net1", network: "a/n", ...both, rates: both };
  const document = { apiVersion: "plexus/v1", kind: "LinkTraffic", ageMs: null, links: [link] };
  expect(readTraffic(JSON.stringify(document))).toEqual(document);
  for (const other of ["{", "[]", JSON.stringify({ ...document, links: [{ ...link, rates: {} }] })])
    expect(readTraffic(other)).toBeUndefined();
});
