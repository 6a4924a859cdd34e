import { expect, test } from "vitest";
import { storedPod, storedSlice } from "./stored.ts";

const ips = Array.from({ length: 64 }, (_, index) => `10.0.0.${index}`);
const forged = JSON.stringify(Array.from({ length: 64 }, (_, index) => ({ name: `t/n${index}`, interface: `x${index}`, ips })));

test("PO-23: a forged status costs a bounded number of addresses, and the stored sizes are those of the parts", () => {
  const annotations = { "k8s.v1.cni.cncf.io/network-status": forged };
  const pod = storedPod({ metadata: { namespace: "t", name: "p", uid: "u", annotations }, spec: {} });
  const count = [...(pod?.value.addresses.values() ?? [])].flat().length;
  expect([count, (pod?.size ?? 0) >= 80 * count]).toEqual([256, true]);
  const one = JSON.stringify([
    { name: "t/n", interface: "x", ips: [...ips, ...ips] },
    { name: "t/n", interface: "y", ips },
  ]);
  const of = storedPod({
    metadata: { namespace: "t", name: "p", annotations: { "k8s.v1.cni.cncf.io/network-status": one } },
    spec: {},
  });
  expect(of?.value.addresses.get("t/n")).toHaveLength(100);
  const slice = storedSlice({
    metadata: {
      namespace: "t",
      name: "peers-x-0",
      uid: "u",
      resourceVersion: "1",
      generation: 1,
      labels: { "plexus.dev/peers": "x" },
    },
    spec: { network: "t/n", query: "q".repeat(5000), endpoints: [{ addresses: ips }] },
  });
  expect(slice?.size).toBeGreaterThan(5000 + 64 * 50);
});
