import { expect, test } from "vitest";
import { explainService } from "./explain-service.ts";
import { serviceObject, servedPod } from "./testing/service-objects.ts";

const red = { "shop/red": ["10.1.0.1"] };
const sql = { ports: [{ port: 80, targetPort: "sql" }] };
const slice = (endpoints: readonly object[]): object => ({
  metadata: {
    namespace: "shop",
    name: "web-plexus-0",
    uid: "u",
    resourceVersion: "1",
    labels: { "kubernetes.io/service-name": "web", "endpointslice.kubernetes.io/managed-by": "plexus-controller" },
  },
  endpoints,
});

test("SV-11: each selected pod has the reason why it is an endpoint of the Service, or is none", () => {
  const pods = [
    servedPod("ready", red),
    servedPod("sleeps", red, { status: { conditions: [{ type: "Ready", status: "False" }] } }),
    servedPod("ends", red, { metadata: { deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    servedPod("elsewhere", { "shop/blue": ["10.2.0.1"] }),
    servedPod("six", { "shop/red": ["fd01::1"] }),
    servedPod("bare", {}),
    servedPod("linked", { "shop/red": ["169.254.1.7"] }),
    servedPod("other", red, { metadata: { labels: { app: "db" } } }),
    servedPod("left", red, { spec: { nodeName: "n2" } }),
  ];
  const {
    pods: found,
    problems,
    network,
  } = explainService(serviceObject("web"), pods, [slice([{ addresses: ["10.1.0.1"] }])], (node) => node === "n1");
  expect([network, problems]).toEqual(["shop/red", []]);
  expect(found.map(({ pod, isEndpoint, isReady, why }) => [pod, isEndpoint, isReady, why])).toEqual([
    ["bare", false, false, "has ended, or its network status names no further network with addresses"],
    ["elsewhere", false, false, "is not on the network: it is on shop/blue"],
    ["ends", true, false, "terminates, with 10.1.0.1"],
    ["left", false, false, "is on the node n2, which the cluster has no longer"],
    ["linked", false, false, "has only 169.254.1.7 on the network: no EndpointSlice may have a loopback or link-local address"],
    ["ready", true, true, "is ready, with 10.1.0.1"],
    ["six", false, false, "has no IPv4 address on the network, only fd01::1"],
    ["sleeps", true, false, "is not ready: its condition Ready is not True, with 10.1.0.1"],
  ]);
});

test("SV-11: a Service without endpoints has a reason: its annotation, its labels, its ports, or the controller", () => {
  const problemsOf = (object: object, pods: readonly object[], slices: readonly object[] = [slice([])]): readonly string[] =>
    explainService(object, pods, slices).problems;
  const plain = serviceObject("web", {}, { annotations: {} });
  expect(problemsOf(plain, [])).toEqual(["the Service is on the cluster's own network: it has no annotation plexus.dev/network"]);
  expect(problemsOf(serviceObject("web", { selector: { app: "web" } }), [])[0]).toContain(
    "Plexus writes no endpoints: spec.selector",
  );
  const own = serviceObject("web", {}, { annotations: { "plexus.dev/network": "red" } });
  expect(problemsOf(own, [])[0]).toContain("the Service's author writes its slices");
  expect(problemsOf(serviceObject("web"), [])).toEqual(["no pod of namespace shop has the labels app=web"]);
  expect(explainService(serviceObject("web", sql), [servedPod("one", red)], [slice([])])).toMatchObject({
    pods: [{ why: "has no port of the Service: no container has a port named sql" }],
    problems: ["none of the selected pods is a ready endpoint"],
  });
  expect(problemsOf(serviceObject("web"), [servedPod("one", red)], [])).toEqual([
    "plexus-controller has written no slice for the Service: does it run, with --network-services?",
  ]);
  expect(problemsOf(serviceObject("web"), [servedPod("one", red)])).toEqual([
    "the slices lack the pods: plexus-controller is behind, or cannot write",
  ]);
});
