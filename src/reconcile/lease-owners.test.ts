import * as fc from "fast-check";
import { expect, test } from "vitest";
import { parseNetworkList } from "../cni/network-list.ts";
import { defaultWasm } from "../configuration/wasm-configuration.ts";
import { type Lease, ownershipOf } from "./lease-owners.ts";
import { type Grants, leasePlaces, leaseRoots } from "./lease-places.ts";

const lease = (containerId: string, ifname = "eth0", writtenAt = 0): Lease => ({ path: "/l", containerId, ifname, writtenAt });
const departed = { containerId: "gone", ifname: "eth0", departedAt: 100 };

test("FI-22 a lease belongs to the attachment with its container and interface, or its container if it has no interface", () => {
  const ownerOf = ownershipOf([{ containerId: "a", ifname: "eth0" }], []);
  expect([ownerOf(lease("a")), ownerOf(lease("a", "")), ownerOf(lease("a", "net1")), ownerOf(lease("b"))]).toEqual([
    { owner: "attached" },
    { owner: "attached" },
    { owner: "unknown" },
    { owner: "unknown" },
  ]);
});

test("FI-22 a lease of an undone attachment is known, unless it was written later or the container is attached again", () => {
  const ownerOf = ownershipOf([], [departed]);
  expect(ownerOf(lease("gone", "eth0", 100))).toEqual({ owner: "departed", attachment: departed });
  expect(ownerOf(lease("gone", "eth0", 101))).toEqual({ owner: "unknown" });
  expect(ownerOf(lease("gone", "net1"))).toEqual({ owner: "unknown" });
  const attached = ownershipOf([{ containerId: "gone", ifname: "net1" }], [departed]);
  expect(attached(lease("gone"))).toEqual({ owner: "unknown" });
});

test("FI-22 only a lease whose owner was in the journal counts as Plexus'", () => {
  const id = fc.constantFrom("a", "b", "c", "d");
  const attachment = fc.record({ containerId: id, ifname: fc.constantFrom("eth0", "net1") });
  const past = fc.record({ containerId: id, ifname: fc.constantFrom("eth0", "net1"), departedAt: fc.nat(10) });
  const found = fc.record({
    path: fc.constant("/l"),
    containerId: id,
    ifname: fc.constantFrom("", "eth0", "net1"),
    writtenAt: fc.nat(10),
  });
  fc.assert(
    fc.property(fc.array(attachment), fc.array(past), found, (attached, gone, each) => {
      const ownership = ownershipOf(attached, gone)(each);
      if (ownership.owner !== "departed") return;
      expect(gone).toContain(ownership.attachment);
      expect([ownership.attachment.containerId, ownership.attachment.ifname]).toEqual([each.containerId, each.ifname]);
      expect(attached.map(({ containerId }) => containerId)).not.toContain(each.containerId);
    }),
  );
});

test("FI-22 lease directories are those of native and WASM host-local", () => {
  expect(places([{ type: "bridge", ipam: { type: "host-local" } }])).toEqual(["/var/lib/cni/networks/pods"]);
  expect(places([{ type: "bridge", ipam: { type: "ipam-host-local", dataDir: "/leases/" } }])).toEqual(["/leases/pods"]);
  expect(places([{ type: "ipam-host-local", ipam: { subnet: "10.0.0.0/24" } }])).toEqual(["/var/lib/cni/networks/pods"]);
  expect(places([{ type: "ipam-host-local", ipam: { pool: "storage" } }])).toEqual(["/var/lib/cni/plexus/pools/storage"]);
  expect(places([{ type: "bridge", ipam: { type: "host-local", pool: "storage" } }])).toEqual(["/var/lib/cni/networks/pods"]);
  expect(places([{ type: "bridge", ipam: { type: "static" } }, { type: "tuning" }])).toEqual([]);
  expect(places([{ type: "bridge", ipam: { type: "host-local", dataDir: "relative" } }])).toEqual([]);
});

test("FI-16 FI-22 lease directories of a component are those of its grant, too", () => {
  const grants = {
    wasm: { ...defaultWasm, grants: { "ipam-host-local": { leases: { directories: ["/data/leases", "/more"] } } } },
  };
  expect(places([{ type: "bridge", ipam: { type: "ipam-host-local" } }], grants)).toEqual([
    "/data/leases/pods",
    "/var/lib/cni/networks/pods",
  ]);
  expect(places([{ type: "bridge", ipam: { type: "host-local" } }], grants)).toEqual(["/var/lib/cni/networks/pods"]);
  expect(places([{ type: "bridge", ipam: { type: "ipam-host-local", dataDir: "/more" } }], grants)).toEqual(["/more/pods"]);
});

function places(plugins: readonly object[], grants?: Grants): readonly string[] {
  const list = parseNetworkList(JSON.stringify({ cniVersion: "1.0.0", name: "pods", plugins }), "test");
  if (!list.ok) throw new Error(list.fault.msg);
  return leasePlaces(list.value, (type) => leaseRoots(grants, undefined, type, "/var/lib/cni/plexus/pools"));
}
