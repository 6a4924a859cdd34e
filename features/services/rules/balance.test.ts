import { expect, test } from "vitest";
import { formatAddress } from "../../../src/net/ip.ts";
import { backendAddress, backendText, balance, balanceBounds, balanceText, type KeptSlice } from "./balance.ts";
import { frontText, readFront } from "./front.ts";
import { readService } from "./service.ts";
import { serviceObject } from "./testing/service-objects.ts";

const slice = (addresses: readonly string[], more: Partial<KeptSlice> = {}): KeptSlice => ({
  namespace: "shop",
  service: "web",
  network: "n",
  front: { clusterIps: ["10.96.0.7"], ports: [{ name: "http", protocol: "TCP", port: 80 }], hasAffinity: false },
  family: 4,
  ports: [{ name: "http", protocol: "TCP", port: 8080 }],
  endpoints: addresses.map((address) => ({ address, isReady: true })),
  ...more,
});
const endpoint = (address: string, conditions: object): string => JSON.stringify({ addresses: [address], conditions });
const text = (...addresses: string[]): string => balanceText(balance([slice(addresses)], "pod", new Map()).ports);
const sticky = { ...slice([]).front, hasAffinity: true };
const shown = (slices: readonly KeptSlice[], client = "pod", earlier: ReadonlyMap<string, string> = new Map()) =>
  balance(slices, client, earlier).ports.map(({ name, address, port, backends }) => [
    name,
    `${formatAddress(address)} ${port}`,
    backends.map(backendText),
  ]);

test("SV-06: a port has the endpoints of all slices of its Service, sorted and once each", () => {
  expect(shown([slice(["10.1.0.2", "10.1.0.1"]), slice(["10.1.0.1", "10.1.0.3"])])).toEqual([
    ["shop/web:80/tcp/4", "10.96.0.7 80", ["10.1.0.1 8080", "10.1.0.2 8080", "10.1.0.3 8080"]],
  ]);
  // Other Services, ports and families are none of it.
  const others = [
    slice(["10.1.0.9"], { service: "other" }),
    slice(["10.1.0.8"], { ports: [{ name: "sql", protocol: "TCP", port: 1 }] }),
  ];
  expect(shown([slice([]), ...others])[1]).toEqual(["shop/web:80/tcp/4", "10.96.0.7 80", []]);
  expect(shown([slice([]), slice(["fd00::1"], { family: 6 })])).toEqual([["shop/web:80/tcp/4", "10.96.0.7 80", []]]);
});

test("SV-06: endpoints that terminate and serve count where none is ready; others never do", () => {
  const terminating = backendAddress(endpoint("10.1.0.1", { ready: false, serving: true, terminating: true }));
  expect(terminating).toEqual({ address: "10.1.0.1", isReady: false });
  expect(backendAddress(endpoint("10.1.0.2", { ready: false, serving: false, terminating: true }))).toBeUndefined();
  expect(backendAddress(endpoint("10.1.0.2", { ready: false, serving: true }))).toBeUndefined();
  expect(backendAddress(endpoint("10.1.0.2", {}))).toEqual({ address: "10.1.0.2", isReady: true });
  expect(backendAddress(endpoint("x", {}))).toBeUndefined();
  const old = { address: "10.1.0.1", isReady: false };
  expect(shown([slice([], { endpoints: [old] })])[0]?.[2]).toEqual(["10.1.0.1 8080"]);
  expect(shown([slice(["10.1.0.2"]), slice([], { endpoints: [old] })])[0]?.[2]).toEqual(["10.1.0.2 8080"]);
});

test("SV-06: with session affinity a pod keeps its endpoint while it is there, and few pods change theirs when one comes", () => {
  const some = [slice(["10.1.0.1", "10.1.0.2", "10.1.0.3"], { front: sticky })];
  const more = [slice(["10.1.0.1", "10.1.0.2", "10.1.0.3", "10.1.0.4"], { front: sticky })];
  const pods = Array.from({ length: 400 }, (_, index) => `pod-${index}`);
  const choice = (slices: readonly KeptSlice[], pod: string): string => String(shown(slices, pod)[0]?.[2]);
  const byEndpoint = Map.groupBy(pods, (pod) => choice(some, pod));
  expect(byEndpoint.size).toBe(3);
  for (const [, chosen] of byEndpoint) expect(chosen.length).toBeGreaterThan(80);
  const moved = pods.filter((pod) => choice(some, pod) !== choice(more, pod));
  expect(new Set(moved.map((pod) => choice(more, pod)))).toEqual(new Set(["10.1.0.4 8080"]));
  expect(moved.length).toBeLessThan(150);
  const earlier = new Map([["shop/web:80/tcp/4", "10.1.0.2 8080"]]);
  for (const pod of pods.slice(0, 20)) expect(shown(more, pod, earlier)[0]?.[2]).toEqual(["10.1.0.2 8080"]);
  const gone = new Map([["shop/web:80/tcp/4", "10.1.0.9 8080"]]);
  expect(shown(some, "pod", gone)).toEqual(shown(some, "pod"));
});

test("a pod's ports and endpoints are bounded, and those left are counted", () => {
  const front = {
    ...slice([]).front,
    ports: Array.from({ length: 100 }, (_, index) => ({ name: "http", protocol: "TCP" as const, port: index + 1 })),
  };
  const many = Array.from({ length: 41 }, (_, index) => slice([], { service: `s${index}`, front }));
  const { ports, left } = balance(many, "pod", new Map());
  expect([ports.length, left]).toEqual([balanceBounds.ports, 4]);
  const big = slice(
    Array.from({ length: 1000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`),
    { front },
  );
  expect(balance([big], "pod", new Map())).toMatchObject({ left: 35 });
});

test("equal balances have equal texts; a change of an endpoint changes the text", () => {
  expect(text("10.1.0.1", "10.1.0.2")).toBe(text("10.1.0.2", "10.1.0.1"));
  expect(text("10.1.0.1")).not.toBe(text("10.1.0.2"));
});

test("the front of a Service is read as it is written; a headless Service has none, and a spoilt text is none", () => {
  const service = readService(serviceObject("web", { sessionAffinity: "ClientIP" }));
  if (service === undefined || "problem" in service) throw new Error("no Service");
  expect(readFront(frontText(service))).toEqual({
    clusterIps: ["10.96.0.7"],
    ports: [{ name: "", protocol: "TCP", port: 80 }],
    hasAffinity: true,
  });
  expect(frontText({ ...service, clusterIps: [] })).toBeUndefined();
  expect([undefined, "", "[]", "{", '{"clusterIPs":1}'].map(readFront)).toEqual(Array.from({ length: 5 }, () => undefined));
  const spoilt = { clusterIPs: ["x", "10.96.0.1", "10.96.0.2", "10.96.0.3"], ports: [{ name: "a", protocol: "TCP", port: 0 }] };
  expect(readFront(JSON.stringify(spoilt))).toEqual({ clusterIps: ["10.96.0.1", "10.96.0.2"], ports: [], hasAffinity: false });
});
