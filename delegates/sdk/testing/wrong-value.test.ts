import { describe, expect, test } from "vitest";
import { setupOf } from "../conformance/setup.ts";
import { vectorOf } from "./vector.ts";

describe("a vector", () => {
  const request = { about: "x", verb: "ADD", stdin: {} };
  test.each([
    [{ ...request, about: undefined }, "v.in.json: about is missing: it must be a string"],
    [{ ...request, verb: undefined }, "v.in.json: verb is missing: it must be one of ADD, DEL, CHECK, GC, STATUS"],
    [{ ...request, verb: "ADDD" }, 'v.in.json: verb: must be one of ADD, DEL, CHECK, GC, STATUS, but is "ADDD"'],
    [{ ...request, about: 5 }, "v.in.json: about: must be a string, but is a number"],
    [{ ...request, env: { CNI_IFNAME: 5 } }, "v.in.json: env.CNI_IFNAME: must be a string, but is a number"],
  ])("%j is refused with the member and what it must be", (vector, message) => {
    expect(() => vectorOf("v.in.json", JSON.stringify(vector), "v")).toThrow(message);
  });
});

test("a conformance.json without its configuration is refused with the member and what it must be", () => {
  expect(() => setupOf("conformance.json", {}, "x")).toThrow(
    /^conformance\.json: configuration is missing: it must be an object/,
  );
});
