import { expect, test } from "vitest";
import { endpointGroups } from "./endpoint.ts";
import { frontText, readFront } from "./front.ts";
import { readMemberPod } from "./member-pod.ts";
import { planSlices } from "./plan-slices.ts";
import { readService, type NetworkService } from "./service.ts";
import { maxEndpoints, metaText, readSlice, sliceMeta, sliceObject, type ServiceSlice } from "./service-slice.ts";
import { serviceObject, servedPod } from "./testing/service-objects.ts";

function service(spec: object = {}, metadata: object = {}): NetworkService {
  const read = readService(serviceObject("web", spec, metadata));
  if (read === undefined || "problem" in read) throw new Error(read?.problem ?? "no Service");
  return read;
}
/** `zones`: the zones of the cluster's nodes; undefined: each node exists, and has a zone of its own. */
const groups = (of: NetworkService, pods: readonly object[], zones?: ReadonlyMap<string, string>) =>
  endpointGroups(
    of,
    pods.flatMap((object) => {
      const pod = readMemberPod(object);
      return pod === undefined ? [] : [{ name: "p", pod }];
    }),
    (node) => (zones === undefined ? `zone-of-${node}` : zones.get(node)),
  ).map(({ endpoints, ...rest }) => ({ ...rest, endpoints: endpoints.map((text): unknown => JSON.parse(text)) }));

const withPort = (name: string, port: number): object =>
  servedPod(
    name,
    { "shop/red": [`10.0.0.${port}`] },
    { spec: { containers: [{ ports: [{ name: "sql", containerPort: port }] }] } },
  );

const network = (annotations: object): unknown => readService(serviceObject("web", {}, { annotations }));

test("SV-02: ready, serving, terminating and publishNotReadyAddresses are those of the built-in controller", () => {
  const conditions = (pod: Parameters<typeof servedPod>[2], spec: object = {}): unknown =>
    groups(service(spec), [servedPod("p", { "shop/red": ["10.0.0.1"] }, pod)])[0]?.endpoints[0];
  const gone = { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } };
  const notReady = { status: { conditions: [{ type: "Ready", status: "False" }] } };
  const notReadyToo = { publishNotReadyAddresses: true };
  expect(conditions({})).toMatchObject({ conditions: { ready: true, serving: true, terminating: false } });
  expect(conditions(notReady)).toMatchObject({ conditions: { ready: false, serving: false, terminating: false } });
  expect(conditions(gone)).toMatchObject({ conditions: { ready: false, serving: true, terminating: true } });
  expect(conditions(notReady, notReadyToo)).toMatchObject({ conditions: { ready: true, serving: false, terminating: false } });
  expect(conditions(gone, notReadyToo)).toMatchObject({ conditions: { ready: true, serving: true, terminating: true } });
  expect(groups(service(), [servedPod("p", { "shop/red": ["10.0.0.1"] }, { status: { phase: "Succeeded" } })])).toEqual([]);
});

test("SV-02: an endpoint has node, zone, and the hostname of a pod whose subdomain is the Service", () => {
  const [group] = groups(service(), [
    servedPod("p", { "shop/red": ["10.0.0.1"] }, { spec: { hostname: "a", subdomain: "web" } }),
  ]);
  expect(group?.endpoints[0]).toEqual({
    addresses: ["10.0.0.1"],
    conditions: { ready: true, serving: true, terminating: false },
    hostname: "a",
    targetRef: { kind: "Pod", namespace: "shop", name: "p", uid: "uid-p" },
    nodeName: "n1",
    zone: "zone-of-n1",
  });
  const [other] = groups(service(), [servedPod("p", { "shop/red": ["10.0.0.1"] }, { spec: { hostname: "a", subdomain: "x" } })]);
  expect(other?.endpoints[0]).not.toHaveProperty("hostname");
});

test("SV-02: a named port is each pod's own number; pods with other numbers are another group", () => {
  const named = service({
    ports: [
      { name: "sql", port: 80, targetPort: "sql" },
      { name: "dns", protocol: "UDP", port: 53 },
    ],
  });
  const found = groups(named, [withPort("a", 1), withPort("b", 2), servedPod("c", { "shop/red": ["10.0.0.3"] })]);
  expect(found.map(({ ports }) => ports.map(({ name, port }) => `${name} ${port}`))).toEqual([
    ["sql 1", "dns 53"],
    ["sql 2", "dns 53"],
    ["dns 53"],
  ]);
});

const withPorts = (count: number): object => ({
  ports: Array.from({ length: count }, (_, index) => ({ name: `rtp-${index}`, protocol: "UDP", port: 10_000 + index })),
});

test("SV-02: a Service has all of its ports in slices and front; more than the bound are a mistake, and none is left out", () => {
  const many = service(withPorts(1000));
  const [group] = groups(many, [servedPod("p", { "shop/red": ["10.0.0.1"] })]);
  expect(group?.ports.map(({ port }) => port)).toEqual(Array.from({ length: 1000 }, (_, index) => 10_000 + index));
  expect(readFront(frontText(many))?.ports).toHaveLength(1000);
  expect(readService(serviceObject("web", withPorts(1001)))).toMatchObject({ problem: expect.stringContaining("1001 entries") });
});

const nodesLeft = (spec: object): readonly unknown[] => {
  const pods = ["n1", "n2"].map((nodeName) => servedPod(nodeName, { "shop/red": ["10.0.0.1"] }, { spec: { nodeName } }));
  return groups(service(spec), pods, new Map([["n1", ""]]))
    .flatMap(({ endpoints }) => endpoints)
    .map((each) => (each as { readonly nodeName: string }).nodeName);
};

test("SV-02: a pod whose node is gone is no endpoint, unless the Service publishes addresses that are not ready", () => {
  expect(nodesLeft({})).toEqual(["n1"]);
  expect(nodesLeft({ publishNotReadyAddresses: true })).toEqual(["n1", "n2"]);
});

test("SV-01 SV-03: addresses by family, all of a pod with several interfaces, and of the Service's network only", () => {
  const pod = servedPod("p", { "shop/red": ["10.0.0.1", "fd00::1", "10.0.0.2"], "shop/blue": ["10.9.0.1"] });
  const addresses = (families: readonly string[]): unknown =>
    groups(service({ ipFamilies: families }), [pod]).map(({ family, endpoints }) => [family, endpoints.length]);
  expect(addresses(["IPv4", "IPv6"])).toEqual([
    [4, 2],
    [6, 1],
  ]);
  expect(addresses(["IPv6"])).toEqual([[6, 1]]);
});

test("SV-08: a definition without a namespace is one of the Service's; podnetwork/NAME names a PodNetwork; NPWG's annotation counts", () => {
  expect(network({ "plexus.dev/network": "red" })).toMatchObject({ network: "shop/red" });
  expect(network({ "k8s.v1.cni.cncf.io/service-network": "other/red" })).toMatchObject({ network: "other/red" });
  expect(network({ "plexus.dev/network": "podnetwork/blue" })).toMatchObject({ network: "podnetwork/blue" });
  expect(network({ "plexus.dev/network": "A b" })).toHaveProperty("problem");
  expect(network({})).toBeUndefined();
});

test("SV-04: a Service with spec.selector is refused, because the built-in controller writes its endpoints", () => {
  expect(readService(serviceObject("web", { selector: { app: "web" } }))).toMatchObject({
    problem: expect.stringContaining("spec.selector"),
  });
});

/** The slices after the writes, as the API would have them. */
function written(of: NetworkService, pods: readonly object[], slices: readonly ServiceSlice[]) {
  const found = endpointGroups(
    of,
    pods.map((object) => {
      const pod = readMemberPod(object);
      if (pod === undefined) throw new Error("no pod");
      return { name: pod.uid, pod };
    }),
    () => "",
  );
  const meta = sliceMeta(of, "id");
  const writes = planSlices({ service: of.name, uid: of.uid, families: of.families, groups: found, meta, slices });
  const removed = new Set(writes.flatMap((write) => (write.kind === "remove" ? [write.slice.name] : [])));
  const after = new Map(slices.filter(({ name }) => !removed.has(name)).map((slice) => [slice.name, slice]));
  for (const write of writes) {
    if (write.kind === "remove") continue;
    const name = write.kind === "create" ? write.name : write.slice.name;
    const { family, ports, endpoints } = write.content;
    const slice = {
      namespace: of.namespace,
      name,
      uid: name,
      resourceVersion: "1",
      service: of.name,
      owner: of.uid,
    };
    after.set(name, { ...slice, meta: metaText(meta), family, ports: JSON.stringify(ports), endpoints });
  }
  return { writes: writes.map(({ kind }) => kind), slices: [...after.values()] };
}
const many = (
  count: number,
  change: (index: number) => NonNullable<Parameters<typeof servedPod>[2]> = () => ({}),
): readonly object[] =>
  Array.from({ length: count }, (_, index) =>
    servedPod(`p${index}`, { "shop/red": [`10.0.${index >> 8}.${index & 255}`] }, change(index)),
  );

test("SV-01: at most 100 endpoints in a slice; a change of one pod writes one slice", () => {
  const of = service();
  const first = written(of, many(250), []);
  expect(first.slices.map(({ endpoints }) => endpoints.length)).toEqual([maxEndpoints, maxEndpoints, 50]);
  expect(written(of, many(250).toReversed(), first.slices).writes).toEqual([]);
  const unready = { status: { conditions: [] } };
  const second = written(
    of,
    many(250, (index) => (index === 7 ? unready : {})),
    first.slices,
  );
  expect(second.writes).toEqual(["patch"]);
  const less = written(of, many(250).slice(1), first.slices);
  expect(less.writes).toEqual(["patch"]);
  expect(written(of, many(250), less.slices).writes).toEqual(["patch"]);
  const few = written(of, many(150), first.slices);
  expect(few.writes.toSorted()).toEqual(["patch", "remove"]);
});

test("SV-14: slices of an earlier Service of the name get the new owner at once, without a look at how they change", () => {
  const first = written(service(), many(250), []);
  const again = service({}, { uid: "another" });
  const second = written(again, many(250), first.slices);
  expect([second.writes, second.slices.map(({ owner }) => owner)]).toEqual([
    ["patch", "patch", "patch"],
    ["another", "another", "another"],
  ]);
  expect(written(again, many(250), second.slices).writes).toEqual([]);
  const object = sliceObject(again, "x", sliceMeta(again, "id"), { family: 4, ports: [], endpoints: [] });
  const read = readSlice({ ...object, metadata: { ...Object(object["metadata"]), uid: "u", resourceVersion: "1" } });
  expect(read?.owner).toBe("another");
});

/** Reads of slices' members while a Service's slices are planned. */
function readsOf(count: number, ports: number): number {
  let reads = 0;
  const of = service();
  const counted = (slice: ServiceSlice): ServiceSlice =>
    new Proxy(slice, {
      get: (target, member) => {
        reads += 1;
        return Reflect.get(target, member);
      },
    });
  const { slices } = written(of, many(count), []);
  const meta = sliceMeta(of, "id");
  const found = Array.from({ length: ports }, (_, index) => ({
    family: 4 as const,
    ports: [{ name: "", protocol: "TCP" as const, port: index + 1 }],
    endpoints: ['{"addresses":["10.9.9.9"]}'],
  }));
  planSlices({ service: "web", uid: of.uid, families: [4], groups: found, meta, slices: slices.map(counted) });
  return reads;
}

test("SV-14: a plan reads each slice a bounded number of times, however many slices and groups of ports there are", () => {
  expect(readsOf(50_000, 500)).toBeLessThanOrEqual(50 * readsOf(1000, 10) + 500);
});

test("a Service without endpoints has one empty slice of each family, and the same slices when its ports change", () => {
  const of = service({ ipFamilies: ["IPv4", "IPv6"] });
  const empty = written(of, [], []);
  expect(empty.slices.map(({ family, endpoints }) => [family, endpoints.length])).toEqual([
    [4, 0],
    [6, 0],
  ]);
  expect(written(of, [], empty.slices).writes).toEqual([]);
  const some = written(of, many(3), empty.slices);
  expect(some.writes).toEqual(["patch"]);
  const otherPort = service({ ipFamilies: ["IPv4", "IPv6"], ports: [{ port: 81 }] });
  expect(written(otherPort, many(3), some.slices).writes).toEqual(["patch", "patch"]);
  expect(written(of, [], some.slices).slices).toHaveLength(2);
});

test("SV-03: an address that the API server accepts in no slice is no endpoint, and the pod's others are", () => {
  const refused = [
    "0.0.0.0",
    "127.1.2.3",
    "169.254.169.254",
    "224.0.0.251",
    "::",
    "::1",
    "fe80::1",
    "febf::1",
    "ff02::1",
    "ff12::1",
  ];
  const taken = ["169.253.0.1", "224.0.1.1", "10.0.0.1", "fec0::1", "ff05::2", "fd00::1"];
  const both = service({ ipFamilies: ["IPv4", "IPv6"] });
  const found = groups(both, [servedPod("p", { "shop/red": [...refused, ...taken] })]);
  const addresses = found.flatMap(({ endpoints }) => endpoints.flatMap((each) => Reflect.get(Object(each), "addresses")));
  expect(addresses.toSorted()).toEqual(taken.toSorted());
});
