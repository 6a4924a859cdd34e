// The simulated links refuse what every node refuses, whatever an administrator grants (issue 33).

import { describe, expect, test } from "vitest";
import type { LinksOperation } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { memoryCall, MemoryLinks } from "./memory-links.ts";
import type { DelegateCall } from "./records.ts";

const network = { cniVersion: "1.1.0", name: "net", config: '{"type":"mine"}' };
const call = { remainingMs: 15_000, granted: [] };
const attachment = { containerId: "pod-1", ifname: "eth0", netns: "/run/netns/pod-1", args: [] };
const add: DelegateCall = { verb: "add", request: { call, network, attachment } };
const check: DelegateCall = { verb: "check", request: { call, network, attachment } };
const status: DelegateCall = { verb: "status", request: { call, network } };

function linksOf(delegateCall: DelegateCall): MemoryLinks["functions"] {
  const host = [
    { name: "br0", kind: "bridge" },
    { name: "eth1" },
    { name: "veth1", kind: "veth", peer: "eth0", master: "br0" },
    { name: "veth2", kind: "veth", peer: "eth0 of another pod" },
  ];
  return new MemoryLinks({ host, pod: [{ name: "eth0", kind: "veth" }] }, undefined, undefined, memoryCall(delegateCall))
    .functions;
}

const host = (name: string) => ({ place: "host", name }) as const;
const address = (name: string): LinksOperation => ({
  tag: "add-address",
  val: { link: host(name), address: "10.1.0.1/32", noDad: true },
});
const route = (name: string): LinksOperation => ({
  tag: "add-route",
  val: { link: host(name), place: "host", route: { dst: "10.1.0.5/32" }, onLink: false },
});
const up = (name: string): LinksOperation => ({ tag: "change-link", val: { link: host(name), up: true, alternativeNames: [] } });
const port = (name: string): LinksOperation => ({ tag: "change-port", val: { link: name, port: { hairpin: true } } });
const remove = (name: string): LinksOperation => ({ tag: "delete-link", val: host(name) });
const veth = (master: string): LinksOperation => ({
  tag: "add-veth",
  val: { name: "eth9", hostName: "veth9", vlans: [], keepDefaultVlan: false, up: true, master },
});

const refused: readonly (readonly [about: string, operation: LinksOperation, text: RegExp])[] = [
  ["an address of a device", address("eth1"), /link "eth1" of the node, which is a device and not the node's end/],
  ["an address of another pod's veth", address("veth2"), /link "veth2" of the node, which is a veth and not/],
  ["a route over a device", route("eth1"), /links\.bridges has \*/],
  ["a change of a device", up("eth1"), /which is a device and not/],
  ["the removal of a bridge", remove("br0"), /which is a bridge and not the node's end of the attachment's veth/],
  ["a port's flags of another veth", port("veth2"), /which is a veth and not the node's end/],
  ["a device as a bridge", veth("eth1"), /which is a device and not a granted bridge/],
];

describe("the simulated links", () => {
  test.each(refused)("refuse %s with the code 7 of a node", (_about, operation, text) => {
    const details = "The kit grants every name, so no grant of an administrator allows this request.";
    expect(linksOf(add).apply([operation])).toMatchObject({ err: { code: 7, msg: expect.stringMatching(text), details } });
  });

  test.each([
    ["addresses and routes of the node's end", [address("veth1"), route("veth1"), up("veth1"), port("veth1")]],
    ["addresses of a bridge", [address("br0"), up("br0")]],
    ["a new veth with addresses and routes at its node's end", [veth("br0"), address("veth9"), route("veth9"), remove("veth9")]],
  ])("allow %s", (_about, operations) => {
    expect(linksOf(add).apply(operations)).toMatchObject({ ok: expect.anything() });
  });

  test("change nothing in CHECK, and know no pod in STATUS", () => {
    const pod = { place: "pod", name: "eth0" } as const;
    expect(linksOf(check).apply([up("br0")])).toMatchObject({
      err: { msg: "links: apply is allowed in ADD and DEL only, and this call is CHECK" },
    });
    for (const answer of [linksOf(status).read([pod]), linksOf(status).routes(undefined), linksOf(status).neighbours(pod)])
      expect(answer).toMatchObject({ err: { msg: expect.stringContaining("a STATUS call has no pod") } });
    expect(linksOf(status).read([host("eth1")])).toMatchObject({ ok: [{ name: "eth1" }] });
  });
});
