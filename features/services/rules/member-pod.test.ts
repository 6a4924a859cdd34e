import { expect, test } from "vitest";
import { addressesOn, networksOf, readMemberPod } from "./member-pod.ts";

const podWith = (status: readonly object[]): unknown => ({
  metadata: {
    namespace: "shop",
    name: "web",
    uid: "u",
    annotations: { "k8s.v1.cni.cncf.io/network-status": JSON.stringify(status) },
  },
  spec: { nodeName: "n1" },
  status: { phase: "Running" },
});

test("SV-03: a pod has all addresses of its interfaces on each network, and none of a network whose name begins with another one's", () => {
  const pod = readMemberPod(
    podWith([
      { name: "cbr0", interface: "eth0", ips: ["10.1.0.1"], default: true },
      { name: "shop/red", interface: "net1", ips: ["10.20.0.1", "fd00::1"] },
      { name: "shop/red", interface: "net2", ips: ["10.20.0.2"] },
      { name: "shop/redder", interface: "net3", ips: ["10.30.0.1"] },
    ]),
  );
  if (pod === undefined) throw new Error("the pod is a member");
  expect(addressesOn(pod, "shop/red")).toEqual(["10.20.0.1", "fd00::1", "10.20.0.2"]);
  expect(addressesOn(pod, "shop/redder")).toEqual(["10.30.0.1"]);
  for (const none of ["shop/re", "shop/", "", "10.20.0.1"]) expect(addressesOn(pod, none)).toBeUndefined();
  expect(networksOf(pod)).toEqual(expect.arrayContaining(["shop/red", "shop/redder"]));
});

test("a status with a line break in a network's name puts the pod on no other network", () => {
  const forged = readMemberPod(podWith([{ name: "shop/red\nshop/blue 10.9.9.9", interface: "net1", ips: ["10.20.0.1"] }]));
  expect(forged === undefined ? [] : networksOf(forged)).toEqual([]);
});
