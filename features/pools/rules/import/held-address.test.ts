import { describe, expect, test } from "vitest";
import { readAddress } from "../../../../src/net/ip.ts";
import { readHostLocalLease } from "./host-local.ts";
import { type AddressOwner, type HeldAddress, inTwoHands, isOneOwner, ownerText } from "./held-address.ts";

const owner = (more: Partial<AddressOwner> = {}): AddressOwner => ({
  containerId: "",
  ifname: "",
  podNamespace: "",
  podName: "",
  ...more,
});
const web = owner({ containerId: "c1", ifname: "net1", podNamespace: "shop", podName: "web" });

function record(address: string, of: AddressOwner, source: string): HeldAddress {
  const read = readAddress(address);
  if (read === undefined) throw new Error(address);
  return { address: read, owner: of, source };
}

describe("an address with two owners", () => {
  test("names both owners and both records, whatever spelling the address has", () => {
    const other = owner({ containerId: "c2", podNamespace: "shop", podName: "db" });
    const conflicts = inTwoHands([record("fd00::1", web, "first"), record("fd00:0::1", other, "second")]);
    expect(conflicts).toMatchObject([{ address: "fd00::1", first: { source: "first" }, second: { source: "second" } }]);
    expect(conflicts.map(({ second }) => ownerText(second.owner))).toEqual(["pod shop/db, container c2"]);
  });

  test("a second record of the same owner is no conflict", () => {
    expect(
      inTwoHands([record("10.0.0.1", web, "pool"), record("10.0.0.1", owner({ containerId: "c1" }), "reservation")]),
    ).toEqual([]);
  });

  test.each([
    ["another container of the same pod's name", { ...web, containerId: "c9" }, false],
    ["another interface of the same container", { ...web, ifname: "net2" }, false],
    ["the same container without a pod", owner({ containerId: "c1", ifname: "net1" }), true],
    ["the same pod without a container", owner({ podNamespace: "shop", podName: "web" }), true],
    ["a pod of the same name in another namespace", owner({ podNamespace: "play", podName: "web" }), false],
    ["a record that names nobody", owner({ ifname: "net1" }), false],
  ])("%s", (_, other, expected) => {
    expect(isOneOwner(web, other)).toBe(expected);
  });
});

describe("a lease of host-local", () => {
  test("has the container's id, and the interface since 0.7", () => {
    expect(readHostLocalLease("10.0.0.5", "c1\r\neth0", "/leases/10.0.0.5")).toMatchObject({
      kind: "held",
      held: { owner: { containerId: "c1", ifname: "eth0" }, source: "/leases/10.0.0.5" },
    });
    expect(readHostLocalLease("10.0.0.5", "c1", "p")).toMatchObject({ kind: "held", held: { owner: { ifname: "" } } });
  });

  test.each(["last_reserved_ip.0", "lock", ".plexus-abc", "10.0.0.256"])("%s is no lease", (name) => {
    expect(readHostLocalLease(name, "c1\r\neth0", "p")).toEqual({ kind: "no-lease" });
  });

  test.each(["", "a b\r\neth0", "c1\r\neth0\r\nmore", "c\u0000\r\neth0", "x".repeat(300)])(
    "the content %j is a problem",
    (content) => {
      expect(readHostLocalLease("10.0.0.5", content, "p")).toMatchObject({ kind: "problem" });
    },
  );
});
