import { expect, test } from "vitest";
import { type Cidr, formatAddress, type IpAddress, readAddress, readCidr } from "../../../src/net/ip.ts";
import { targetQuestions } from "./judged-targets.ts";
import { maxTargets, probeTargets, wayTo } from "./probe-targets.ts";

function ip(text: string): IpAddress {
  const address = readAddress(text);
  if (address === undefined) throw new Error(text);
  return address;
}
function cidr(text: string): Cidr {
  const read = readCidr(text);
  if (read === undefined) throw new Error(text);
  return read;
}
const asker = {
  addresses: ["10.1.0.5/24", "10.2.0.5/24", "fd01::5/64", "fd02::5/64"].map(cidr),
  gateways: ["10.2.0.1", "fd02::1"].map(ip),
};
const way = (target: string): readonly string[] => {
  const found = wayTo(asker, ip(target));
  return found === undefined ? [] : [formatAddress(found.source), formatAddress(found.hop)];
};

test("PR-05: a target is asked from the pod's address on its network, and beyond them from that on the gateway's", () => {
  expect(way("10.1.0.9")).toEqual(["10.1.0.5", "10.1.0.9"]);
  expect(way("10.2.0.9")).toEqual(["10.2.0.5", "10.2.0.9"]);
  expect(way("fd02::9")).toEqual(["fd02::5", "fd02::9"]);
  expect(way("192.0.2.1")).toEqual(["10.2.0.5", "10.2.0.1"]);
  expect(way("2001:db8::1")).toEqual(["fd02::5", "fd02::1"]);
  expect(wayTo({ addresses: asker.addresses, gateways: [] }, ip("192.0.2.1"))).toBeUndefined();
});

test("PR-05: policies judge the request from the address that the probe uses", () => {
  const pod = { pod: "shop/web", ifname: "net1", netns: "/n", ...asker, labels: new Map() };
  const [question] = targetQuestions(pod as unknown as Parameters<typeof targetQuestions>[0], [], [ip("10.2.0.9")]);
  expect(question?.echo.source).toEqual(ip("10.2.0.5"));
});

test("PR-05: an address that is named is asked, however many pods the network has", () => {
  const pods = Array.from({ length: 100 }, (_, index) => ({
    pod: `shop/p${index}`,
    addresses: [cidr(`10.1.0.${100 + index}/24`)],
  }));
  const named = ["10.9.0.1", "10.1.0.199", "10.1.0.5"].map((text) => ({ what: "address", address: ip(text) }));
  const targets = probeTargets({ ...asker, pods }, named);
  expect(targets).toHaveLength(maxTargets);
  expect(targets.slice(-2)).toEqual([
    { what: "pod shop/p99", address: ip("10.1.0.199") },
    { what: "address", address: ip("10.9.0.1") },
  ]);
  expect(targets.slice(0, 3).map(({ what }) => what)).toEqual(["gateway", "gateway", "pod shop/p0"]);
});

test("PR-05: an endpoint of a Service is a target of its own, also as an address of a pod, and a pod's own address never is", () => {
  const pods = [{ pod: "shop/db", addresses: [cidr("10.1.0.9/24")] }];
  const endpoint = (text: string) => ({ what: "Service shop/db at 10.96.0.1", address: ip(text), isEndpoint: true });
  const targets = probeTargets({ ...asker, gateways: [], pods }, [
    endpoint("10.1.0.9"),
    endpoint("10.1.0.9"),
    endpoint("10.1.0.5"),
  ]);
  expect(targets).toEqual([{ what: "pod shop/db", address: ip("10.1.0.9") }, endpoint("10.1.0.9")]);
});
