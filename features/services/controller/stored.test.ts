import { expect, test } from "vitest";
import { keptSlice } from "../node/service-source.ts";
import { keptSize } from "../rules/balance.ts";
import { servedPod } from "../rules/testing/service-objects.ts";
import { podReader, storedSlice } from "./stored.ts";

const ports = Array.from({ length: 100 }, (_, index) => ({ name: `port-${index}`, protocol: "TCP", port: index + 1 }));
const front = JSON.stringify({ clusterIPs: ["10.96.1.1"], ports });
const slice = {
  metadata: {
    namespace: "shop",
    name: "web-1",
    uid: "u",
    resourceVersion: "1",
    labels: {
      "kubernetes.io/service-name": "web",
      "endpointslice.kubernetes.io/managed-by": "plexus-controller",
      "plexus.dev/network": "x",
    },
    annotations: { "plexus.dev/service": front },
  },
  addressType: "IPv4",
  ports,
  endpoints: [{ addresses: ["10.1.1.1"], conditions: { ready: true } }],
};

test("SV-13: the stored sizes of pods and slices are those of their addresses, fronts and ports", () => {
  const kept = keptSlice(slice);
  expect(kept === undefined ? 0 : keptSize(kept)).toBeGreaterThan(20_000);
  expect(storedSlice(slice)?.size).toBeGreaterThan(2 * front.length);
  const addresses = Array.from({ length: 60 }, (_, index) => `10.1.0.${index}`);
  expect(podReader()(servedPod("one", { "shop/red": addresses }))?.size).toBeGreaterThan(addresses.join(" ").length);
});
