import { expect, test } from "vitest";
import { networkId } from "../network-id.ts";
import { networkIds } from "./pod-networks.ts";

const at = (ifname: string, source: string, podNetwork?: string) => ({ ifname, source, podNetwork });

test("SV-08 KE-58: a pod's networks are its definitions and its PodNetworks, each once; the cluster's own network is none", () => {
  const interfaces = [
    at("eth0", "cluster"),
    at("net1", "shop/red"),
    at("net2", "shop/red"),
    at("net3", "infra/wide", "blue"),
    at("net4", "cluster", "default"),
  ];
  expect(networkIds(interfaces)).toEqual(["infra/wide", "podnetwork/blue", "shop/red"].map(networkId).toSorted());
  expect(networkIds([])).toEqual([]);
});
