import { describe, expect, test } from "vitest";
import { readResult } from "../cni/read-result.ts";
import type { CniResult } from "../cni/result.ts";
import type { NetworkSelection } from "./network-selection.ts";
import { type Verification, verificationOf, verifyResult } from "./verification.ts";

function result(printed: object): CniResult {
  const read = readResult(JSON.stringify({ cniVersion: "1.1.0", ...printed }), "1.1.0");
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value.result;
}

const select = (asked: Partial<NetworkSelection>): NetworkSelection => ({
  name: "net-b",
  namespace: "ns",
  extensions: new Map(),
  ...asked,
});

/** What verification says against it, undefined if nothing. */
function complaint(
  asked: Partial<NetworkSelection>,
  printed: object,
  ifname = "net1",
  verification?: Verification,
): string | undefined {
  const verified = verifyResult(select(asked), ifname, result(printed), verification);
  return verified.ok ? undefined : `${verified.fault.kind}: ${verified.fault.msg}`;
}

const annotated = (text: string) => verificationOf(new Map([["plexus-cni.dev/verify", text]]));

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
  test.each(["10.0.0.5", "10.0.0.5/24", "2001:db8::5", "2001:0DB8:0::5/64"])("N1-25: %s that the result has passes", (ip) => {
    expect(complaint({ ips: [ip] }, bridge)).toBeUndefined();
  });

  test.each([
    ["another address", ["10.0.0.6"]],
    ["another prefix length than was asked", ["10.0.0.5/16"]],
    ["an address of the host's side", ["10.0.0.1"]],
    ["one of two that is lacking", ["10.0.0.5", "10.0.0.7"]],
  ])("N1-25: %s fails the attachment", (_, ips) => {
    expect(complaint({ ips }, bridge)).toBe(
      `REQUEST_UNMET: network ns/net-b was asked for the address ${ips.at(-1)}, but gave 10.0.0.5/24, 2001:db8::5/64`,
    );
  });

  test("N1-25: a result without addresses fails it", () => {
    expect(complaint({ ips: ["10.0.0.5"] }, {})).toContain("but gave none");
  });

  test("N1-25: an address that names no interface counts, in results of 0.2.0 too", () => {
    expect(complaint({ ips: ["10.0.0.5"] }, { ips: [{ address: "10.0.0.5/24" }] })).toBeUndefined();
    expect(complaint({ ips: ["10.0.0.5"] }, { ips: [{ address: "10.0.0.5/24", interface: -1 }] })).toBeUndefined();
    expect(complaint({ ips: ["10.0.0.5"] }, { cniVersion: "0.2.0", ip4: { ip: "10.0.0.5/24" } })).toBeUndefined();
  });

  test("N1-25: an index that leads nowhere does not count", () => {
    expect(complaint({ ips: ["10.0.0.5"] }, { ips: [{ address: "10.0.0.5/24", interface: 7 }] })).toContain("but gave none");
  });
});

describe("requested hardware addresses", () => {
  test.each(["02:00:00:00:00:03", "02-00-00-00-00-03", "0200.0000.0003"])("N1-28: %s in any notation and case passes", (mac) => {
    expect(complaint({ mac }, bridge)).toBeUndefined();
    expect(
      complaint({ mac: "AA:bb:CC:00:00:00" }, { interfaces: [{ name: "net1", mac: "aa:BB:cc:00:00:00", sandbox: "/n" }] }),
    ).toBeUndefined();
  });

  test("N1-28: another one fails the attachment, one of the host's side too", () => {
    expect(complaint({ mac: "02:00:00:00:00:09" }, bridge)).toBe(
      'REQUEST_UNMET: network ns/net-b was asked for the mac 02:00:00:00:00:09, but "net1" has "02:00:00:00:00:03"',
    );
    expect(complaint({ mac: "02:00:00:00:00:02" }, bridge)).toContain("was asked for the mac");
  });

  test("N1-28: the interface of the attachment's name is looked at, else the first in the sandbox", () => {
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

  test("N1-28: no interface in the pod, or one without a mac, fails it", () => {
    expect(complaint({ mac: "02:00:00:00:00:01" }, {})).toContain("its result has no interface in the pod");
    expect(complaint({ mac: "02:00:00:00:00:01" }, { interfaces: [{ name: "net1", sandbox: "/n" }] })).toContain(
      '"net1" has none',
    );
  });

  test("N1-28: results before 0.3.0 have no interfaces to tell it from", () => {
    expect(complaint({ mac: "02:00:00:00:00:01" }, { cniVersion: "0.2.0" })).toBeUndefined();
  });
});

describe("requested interface names", () => {
  test("N1-29: a result without the requested name fails the attachment", () => {
    expect(complaint({ interface: "net1" }, bridge)).toBeUndefined();
    expect(complaint({ interface: "data" }, bridge, "data")).toBe(
      'REQUEST_UNMET: network ns/net-b was asked for the interface data, but made "net1"',
    );
  });

  test("N1-44: without a request a plugin may rename", () => {
    expect(complaint({}, bridge, "net7")).toBeUndefined();
  });
});

describe("what is verified", () => {
  test("D-2: everything is verified, unless the definition's annotation says otherwise", () => {
    expect(verificationOf(new Map())).toEqual({ ok: true, value: new Set(["ips", "mac", "interface"]) });
    expect(annotated("none")).toEqual({ ok: true, value: new Set() });
    expect(annotated(" mac , ips")).toEqual({ ok: true, value: new Set(["ips", "mac"]) });
    expect(annotated("macs")).toMatchObject({
      ok: false,
      fault: { kind: "NETWORK_INVALID", msg: expect.stringContaining('"macs"') },
    });
    expect(annotated("")).toMatchObject({ ok: false });
  });

  test("D-2: what is switched off is not compared", () => {
    const asked = { ips: ["10.9.9.9"], mac: "02:00:00:00:00:09", interface: "data" };
    expect(complaint(asked, bridge, "data", new Set())).toBeUndefined();
    expect(complaint(asked, bridge, "data", new Set(["mac"]))).toContain("asked for the mac");
    expect(complaint(asked, bridge, "data", new Set(["interface"]))).toContain("asked for the interface");
  });
});
