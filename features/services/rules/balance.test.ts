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
  front: { uid: "u1", clusterIps: ["10.96.0.7"], ports: [{ name: "http", protocol: "TCP", port: 80 }] },
  family: 4,
  ports: [{ name: "http", protocol: "TCP", port: 8080 }],
  endpoints: addresses.map((address) => ({ address, isReady: true })),
  ...more,
});
const endpoint = (address: string, conditions: object): string => JSON.stringify({ addresses: [address], conditions });
const text = (...addresses: string[]): string => balanceText(balance([slice(addresses)], "shop").ports);
const shown = (slices: readonly KeptSlice[]) =>
  balance(slices, "shop").ports.map(({ name, address, port, backends }) => [
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
    slice(["10.1.0.9"], { service: "other", front: { ...slice([]).front, clusterIps: ["10.96.0.8"] } }),
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

const fronted = (protocol: "TCP" | "UDP") => ({
  front: { ...slice([]).front, ports: [{ name: "http", protocol, port: 80 }] },
  ports: [{ name: "http", protocol, port: 8080 }],
});

const portsOf = (protocol: "TCP" | "UDP", ...endpoints: readonly KeptSlice["endpoints"][number][]) =>
  balance([slice([], { ...fronted(protocol), endpoints })], "shop").ports;

test("SV-07: a UDP port knows the endpoints that terminate beside ready ones, so that their flows stay; the table changes when they go", () => {
  const old = { address: "10.1.0.1", isReady: false };
  const ready = { address: "10.1.0.2", isReady: true };
  const [port] = portsOf("UDP", old, ready);
  expect([port?.backends, port?.draining].map((each) => each?.map(backendText))).toEqual([["10.1.0.2 8080"], ["10.1.0.1 8080"]]);
  expect(balanceText(portsOf("UDP", old, ready))).not.toBe(balanceText(portsOf("UDP", ready)));
  expect(portsOf("UDP", old)[0]).not.toHaveProperty("draining");
  expect(balanceText(portsOf("TCP", old, ready))).toBe(balanceText(portsOf("TCP", ready)));
});

test("SV-06: an address that a terminating pod has left to a ready one is ready, in any order", () => {
  const both = [true, false].map((isReady) => ({ address: "10.1.0.1", isReady }));
  for (const endpoints of [both, both.toReversed()])
    expect(shown([slice(["10.1.0.2"]), slice([], { endpoints })])[0]?.[2]).toEqual(["10.1.0.1 8080", "10.1.0.2 8080"]);
});

const sticky = (affinitySeconds: number) =>
  balance([slice(["10.1.0.1"], { front: { ...slice([]).front, affinitySeconds } })], "shop").ports;

const seconds = (spec: object): number | undefined => {
  const service = readService(serviceObject("web", spec));
  if (service === undefined || "problem" in service) throw new Error("no Service");
  return readFront(frontText(service))?.affinitySeconds;
};

test("SV-10: the time of session affinity is the Service's, and changes the text of a table", () => {
  const affinity = { sessionAffinity: "ClientIP" };
  const lasting = (timeoutSeconds: unknown): object => ({ ...affinity, sessionAffinityConfig: { clientIP: { timeoutSeconds } } });
  expect([{}, affinity, lasting(20), lasting(86_400), lasting(0), lasting("20"), lasting(86_401)].map(seconds)).toEqual([
    undefined,
    10_800,
    20,
    86_400,
    10_800,
    10_800,
    10_800,
  ]);
  expect(seconds({ ...lasting(20), sessionAffinity: "None" })).toBeUndefined();
  expect(sticky(20)).toMatchObject([{ affinitySeconds: 20, backends: [{ port: 8080 }] }]);
  expect(balanceText(sticky(20))).not.toBe(balanceText(sticky(30)));
});

test("a pod's ports and endpoints are bounded, and those left are counted", () => {
  const front = {
    ...slice([]).front,
    ports: Array.from({ length: 100 }, (_, index) => ({ name: "http", protocol: "TCP" as const, port: index + 1 })),
  };
  const many = Array.from({ length: 41 }, (_, index) =>
    slice([], { service: `s${index}`, front: { ...front, clusterIps: [`10.96.1.${index}`] } }),
  );
  const { ports, left } = balance(many, "shop");
  expect([ports.length, left]).toEqual([balanceBounds.ports, 4]);
  const big = slice(
    Array.from({ length: 1000 }, (_, index) => `10.1.${index >> 8}.${index & 255}`),
    { front },
  );
  expect(balance([big], "shop")).toMatchObject({ left: 35 });
});

const manyAddresses = (count: number) => Array.from({ length: count }, (_, index) => `10.9.${index >> 8}.${index & 255}`);
const portsFrom = (count: number, clusterIp = "10.96.1.100") => ({
  uid: "u1",
  clusterIps: [clusterIp],
  ports: Array.from({ length: count }, (_, index) => ({ name: "http", protocol: "TCP" as const, port: index + 1 })),
});

test("SV-12: Services of one namespace do not displace those of others: the pod's own namespace is first, then the namespaces take turns", () => {
  const tenants: readonly (readonly KeptSlice[])[] = [
    Array.from({ length: 41 }, (_, index) =>
      slice([], { namespace: "aaa", service: `s${index}`, front: portsFrom(100, `10.96.1.${index}`) }),
    ),
    [
      slice(manyAddresses(655), { namespace: "aaa", front: portsFrom(100) }),
      slice(manyAddresses(36), { namespace: "aaa", service: "t", front: { ...slice([]).front, clusterIps: ["10.96.0.8"] } }),
    ],
    [slice(manyAddresses(1000), { namespace: "zzz", front: portsFrom(100) })],
  ];
  const db = slice(["10.1.0.1", "10.1.0.2"], { service: "db" });
  expect(new Set([...tenants.flat(), db].flatMap(({ front }) => front.clusterIps)).size).toBe(44);
  for (const tenant of tenants) {
    for (const podNamespace of ["shop", "other", "aaa"]) {
      const { ports, left, leftNames } = balance([...tenant, db], podNamespace);
      const isThere = ports.some(({ name }) => name.startsWith("shop/db"));
      const { namespace } = tenant[0] ?? db;
      // A namespace may displace others' Services from its own pods only.
      expect(podNamespace === namespace || isThere, `${namespace}, pod of ${podNamespace}`).toBe(true);
      expect([
        leftNames.length,
        leftNames.every((name) => name.startsWith(`${namespace}/`) || podNamespace === namespace),
      ]).toEqual([Math.min(left, 5), true]);
    }
  }
});

test("equal balances have equal texts; a change of an endpoint changes the text", () => {
  expect(text("10.1.0.1", "10.1.0.2")).toBe(text("10.1.0.2", "10.1.0.1"));
  expect(text("10.1.0.1")).not.toBe(text("10.1.0.2"));
});

test("the front of a Service is read as it is written; a headless Service has none, and a spoilt text is none", () => {
  const service = readService(serviceObject("web", { sessionAffinity: "ClientIP" }));
  if (service === undefined || "problem" in service) throw new Error("no Service");
  expect(readFront(frontText(service))).toEqual({
    uid: "uid-web",
    clusterIps: ["10.96.0.7"],
    ports: [{ name: "", protocol: "TCP", port: 80 }],
    affinitySeconds: 10_800,
  });
  expect(frontText({ ...service, clusterIps: [] })).toBeUndefined();
  expect([undefined, "", "[]", "{", '{"clusterIPs":1}'].map(readFront)).toEqual(Array.from({ length: 5 }, () => undefined));
  const spoilt = {
    uid: "a b",
    clusterIPs: ["x", "10.96.0.1", "10.96.0.2", "10.96.0.3"],
    ports: [{ name: "a", protocol: "TCP", port: 0 }],
  };
  expect(readFront(JSON.stringify(spoilt))).toEqual({ uid: "", clusterIps: ["10.96.0.1", "10.96.0.2"], ports: [] });
});

test("SV-06: an address that a Service has got from a removed one is balanced once, for the pod's own namespace first", () => {
  const removed = slice(["10.1.0.1"], { service: "removed", front: { ...slice([]).front, uid: "u0" } });
  const foreign = slice(["10.1.0.2"], { namespace: "a", service: "web" });
  const ports = balance([removed, foreign, slice(["10.1.0.3"])], "shop").ports;
  expect(ports.map(({ name }) => name)).toEqual(["shop/removed:80/tcp/4"]);
  expect(balance([removed, foreign], "a").ports.map(({ name }) => name)).toEqual(["a/web:80/tcp/4"]);
});
