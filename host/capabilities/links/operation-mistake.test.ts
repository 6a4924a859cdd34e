import { describe, expect, test } from "vitest";
import type { LinksOperation } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { operationMistake } from "./operation-mistake.ts";

function route(tag: "add-route" | "delete-route", dst: string): LinksOperation {
  return { tag, val: { place: "pod", link: { place: "pod", name: "eth0" }, route: { dst } } } as LinksOperation;
}

describe("the operation add-route", () => {
  test.each([
    ["10.0.0.5/24", "the route's destination 10.0.0.5/24 has host bits set: the network is 10.0.0.0/24"],
    ["1.0.0.0/0", "the route's destination 1.0.0.0/0 has host bits set: the network is 0.0.0.0/0"],
    ["10.0.0.0/24", undefined],
    ["10.0.0.5/32", undefined],
    // The kernel clears them.
    ["fd00::5/64", undefined],
  ])("FI-26: to %s has the mistake %s, as the kernel answers a native plugin", (dst, mistake) => {
    expect(operationMistake(route("add-route", dst))).toBe(mistake);
    expect(operationMistake(route("delete-route", dst))).toBeUndefined();
  });
});
