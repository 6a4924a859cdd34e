import { expect, test } from "vitest";
import { canonicalRequest, requestedProblem } from "./requested-values.ts";

test.each([
  [{}, {}],
  [{ mac: "02-00-00-00-00-AB" }, { mac: "02:00:00:00:00:ab" }],
  [{ mac: "0200.0000.00ab" }, { mac: "02:00:00:00:00:ab" }],
  [{ mac: "none" }, { mac: "none" }],
  [{ ips: ["10.9.0.7/24", "10.9.0.8"] }, { ips: ["10.9.0.7", "10.9.0.8"] }],
  [{ ips: ["FD00:0::7/64", "::ffff:10.9.0.9"] }, { ips: ["fd00::7", "10.9.0.9"] }],
  [{ ips: ["10.9.0.300/24"] }, { ips: ["10.9.0.300/24"] }],
])("a provider gets the request %j as %j", (request, canonical) => expect(canonicalRequest(request)).toEqual(canonical));

test.each([
  [{}, undefined],
  [{ mac: "02:00:00:00:00:ab", ips: ["10.9.0.7", "fd00::7"] }, undefined],
  [{ ips: ["10.9.0.8"] }, 'the port lacks the address "10.9.0.8" that the pod requests'],
  [{ mac: "02:00:00:00:00:ac" }, 'the port has the MAC address 0200.0000.00ab, and the pod requests "02:00:00:00:00:ac"'],
])("a port that a provider gives for the request %j is judged: %s", (request, problem) => {
  const port = { mac: "0200.0000.00ab", addresses: [{ address: "10.9.0.7/24" }, { address: "fd00:0::7/64" }] };
  expect(requestedProblem(request, port)).toBe(problem);
});
