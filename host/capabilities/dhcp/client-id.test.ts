import { expect, test } from "vitest";
import { defaultClientId } from "./scope.ts";

const idOf = (network: string, ifname: string): string => {
  const id = defaultClientId({ containerId: "c1", network, ifname });
  expect(id[0]).toBe(0);
  return Buffer.from(id.subarray(1)).toString();
};

test("a client's identifier is that of the reference plugin, and interfaces on a network with a long name are different clients", () => {
  expect(idOf("net", "net1")).toBe("c1/net/net1");
  const longest = "n".repeat(254 - "c1//net1".length);
  expect(idOf(longest, "net1")).toBe(`c1/${longest}/net1`);
  const [one, other] = [idOf("n".repeat(300), "net1"), idOf("n".repeat(300), "net2")];
  expect([one.length, other.length]).toEqual([254, 254]);
  expect(one).not.toBe(other);
});
