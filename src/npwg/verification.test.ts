import { describe, expect, test } from "vitest";
import { readResult } from "../cni/read-result.ts";
import type { CniResult } from "../cni/result.ts";
import type { NetworkSelection } from "./network-selection.ts";
import { type Verification, verificationOf, verifyPool, verifyResult } from "./verification.ts";

function result(printed: object): CniResult {
  const read = readResult(JSON.stringify({ cniVersion: "1.1.0", ...printed }), "1.1.0");
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value.result;
}

const select = (requested: Partial<NetworkSelection>): NetworkSelection => ({
  name: "net-b",
  namespace: "ns",
  extensions: new Map(),
  ...requested,
});

/** The message of a failed verification; undefined if it succeeds. `ifname` is the attachment's CNI_IFNAME. */
function complaint(
  requested: Partial<NetworkSelection>,
  printed: object,
  ifname = "net1",
  verification?: Verification,
): string | undefined {
  const verified = verifyResult(select(requested), ifname, result(printed), verification);
  return verified.ok ? undefined : `${verified.fault.kind}: ${verified.fault.msg}`;
}

const annotated = (text: string) => verificationOf(new Map([["plexus.dev/verify", text]]));

const bridge = {
  interfaces: [
    { name: "br0", mac: "02:00:00:00:00:01" },
    { name: "veth1", mac: "02:00:00:00:00:02" },
    { name: "net1", mac: "02:00:00:00:00:03", sandbox: "/n" },
  ],
  ips: [
    { interface: 2, address: "10.0.0.5/24" },
    { interface: 2, address: "2001:db8::5/64" },
    { interface: 0, address: "10.0.0.1/24" },
  ],
};

describe("requested addresses", () => {
  test.each(["10.0.0.5", "10.0.0.5/24", "2001:db8::5", "2001:0DB8:0::5/64"])(
    "N1-25: a request for %s passes, because the result has the address",
    (ip) => {
      expect(complaint({ ips: [ip] }, bridge)).toBeUndefined();
    },
  );

  test.each([
    ["an address that the result lacks", ["10.0.0.6"]],
    ["another prefix length than the result's", ["10.0.0.5/16"]],
    ["an address of a host interface", ["10.0.0.1"]],
    ["two addresses, one of which the result lacks", ["10.0.0.5", "10.0.0.7"]],
  ])("N1-25: a request for %s fails the attachment", (_, ips) => {
    expect(complaint({ ips }, bridge)).toBe(
      `REQUEST_UNMET: network ns/net-b should have the address ${ips.at(-1)}, but has 10.0.0.5/24, 2001:db8::5/64`,
    );
  });

  test("N1-25: a result without addresses fails the attachment", () => {
    expect(complaint({ ips: ["10.0.0.5"] }, {})).toContain("but has none");
  });

  test("N1-25: an address without an interface index counts, also in results of 0.2.0", () => {
    expect(complaint({ ips: ["10.0.0.5"] }, { ips: [{ address: "10.0.0.5/24" }] })).toBeUndefined();
    expect(complaint({ ips: ["10.0.0.5"] }, { ips: [{ address: "10.0.0.5/24", interface: -1 }] })).toBeUndefined();
    expect(complaint({ ips: ["10.0.0.5"] }, { cniVersion: "0.2.0", ip4: { ip: "10.0.0.5/24" } })).toBeUndefined();
  });

  test("N1-25: an address with an invalid interface index does not count", () => {
    expect(complaint({ ips: ["10.0.0.5"] }, { ips: [{ address: "10.0.0.5/24", interface: 7 }] })).toContain("but has none");
  });
});

describe("requested hardware addresses", () => {
  test.each(["02:00:00:00:00:03", "02-00-00-00-00-03", "0200.0000.0003"])(
    "N1-28: a request for %s passes, because notation and case do not count",
    (mac) => {
      expect(complaint({ mac }, bridge)).toBeUndefined();
      expect(
        complaint({ mac: "AA:bb:CC:00:00:00" }, { interfaces: [{ name: "net1", mac: "aa:BB:cc:00:00:00", sandbox: "/n" }] }),
      ).toBeUndefined();
    },
  );

  test("N1-28: a mac that the pod's interface lacks fails the attachment, even if a host interface has it", () => {
    expect(complaint({ mac: "02:00:00:00:00:09" }, bridge)).toBe(
      'REQUEST_UNMET: network ns/net-b should have the mac 02:00:00:00:00:09, but "net1" has "02:00:00:00:00:03"',
    );
    expect(complaint({ mac: "02:00:00:00:00:02" }, bridge)).toContain("should have the mac");
  });

  test("N1-28: the mac is compared with the interface of the attachment's name, else with the first sandbox interface", () => {
    const two = {
      interfaces: [
        { name: "a", mac: "02:00:00:00:00:01", sandbox: "/n" },
        { name: "b", mac: "02:00:00:00:00:02", sandbox: "/n" },
      ],
    };
    expect(complaint({ mac: "02:00:00:00:00:02" }, two, "b")).toBeUndefined();
    expect(complaint({ mac: "02:00:00:00:00:02" }, two, "a")).toContain('"a" has');
    expect(complaint({ mac: "02:00:00:00:00:01" }, two, "renamed")).toBeUndefined();
  });

  test("N1-28: no sandbox interface, or one without a mac, fails the attachment", () => {
    expect(complaint({ mac: "02:00:00:00:00:01" }, {})).toContain("its result has no interface in the pod");
    expect(complaint({ mac: "02:00:00:00:00:01" }, { interfaces: [{ name: "net1", sandbox: "/n" }] })).toContain(
      '"net1" has none',
    );
  });

  test("N1-28: results before 0.3.0 have no interfaces, so the mac is not compared", () => {
    expect(complaint({ mac: "02:00:00:00:00:01" }, { cniVersion: "0.2.0" })).toBeUndefined();
  });
});

describe("requested interface names", () => {
  test("N1-29: a result with the requested interface name passes, a result without that name fails the attachment", () => {
    expect(complaint({ interface: "net1" }, bridge)).toBeUndefined();
    expect(complaint({ interface: "data" }, bridge, "data")).toBe(
      'REQUEST_UNMET: network ns/net-b should have the interface data, but has "net1"',
    );
  });

  test("N1-44: without a request a plugin may rename", () => {
    expect(complaint({}, bridge, "net7")).toBeUndefined();
  });
});

describe("the definition's annotation", () => {
  test("D-02: selects the comparisons, or none; without the annotation all are made; an unknown name is a fault", () => {
    expect(verificationOf(new Map())).toEqual({ ok: true, value: new Set(["ips", "mac", "interface"]) });
    expect(annotated("none")).toEqual({ ok: true, value: new Set() });
    expect(annotated(" mac , ips")).toEqual({ ok: true, value: new Set(["ips", "mac"]) });
    expect(annotated("macs")).toMatchObject({
      ok: false,
      fault: { kind: "NETWORK_INVALID", msg: expect.stringContaining('"macs"') },
    });
    expect(annotated("")).toMatchObject({ ok: false });
  });

  test("D-02: a comparison that is not selected is skipped", () => {
    const requested = { ips: ["10.9.9.9"], mac: "02:00:00:00:00:09", interface: "data" };
    expect(complaint(requested, bridge, "data", new Set())).toBeUndefined();
    expect(complaint(requested, bridge, "data", new Set(["mac"]))).toContain("should have the mac");
    expect(complaint(requested, bridge, "data", new Set(["interface"]))).toContain("should have the interface");
  });
});

/** The message of a failed verification of a pool; undefined if it succeeds. */
function poolComplaint(leased: readonly string[], printed: object): string | undefined {
  const verified = verifyPool("shop/blue", "storage", leased, result(printed));
  return verified.ok ? undefined : `${verified.fault.kind}: ${verified.fault.msg}`;
}

describe("the AddressPool of a claim", () => {
  test("DR-13: an address that a component leased from the pool meets the claim, in whatever form the plugin prints it", () => {
    expect(poolComplaint(["10.0.0.5"], bridge)).toBeUndefined();
    expect(poolComplaint(["10.9.9.9", "2001:db8:0::5"], bridge)).toBeUndefined();
  });

  test.each<[string, readonly string[], object, string]>([
    ["a plugin that ignores the pool", [], bridge, "10.0.0.5/24, 2001:db8::5/64"],
    ["a lease that the result lacks", ["10.0.0.9"], bridge, "10.0.0.5/24, 2001:db8::5/64"],
    ["an address of a host interface", ["10.0.0.1"], bridge, "10.0.0.5/24, 2001:db8::5/64"],
    ["a result without addresses", ["10.0.0.5"], {}, "none"],
  ])("DR-13: %s fails the attachment", (_, leased, printed, has) => {
    expect(poolComplaint(leased, printed)).toContain(
      `REQUEST_UNMET: network shop/blue should have an address of AddressPool storage, but has ${has}: `,
    );
  });
});
