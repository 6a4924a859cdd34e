import { expect, test } from "vitest";
import { isReservedFor, readAllocatedClaim } from "./claim-networks.ts";

const expected = { namespace: "shop", name: "net", uid: "u1" };
const network = (more: object): object => ({ apiVersion: "plexus.dev/v1alpha1", kind: "Network", ...more });
const config = (source: string, parameters: object, requests: readonly string[] = [], driver = "plexus.dev"): object => ({
  source,
  requests,
  opaque: { driver, parameters },
});
const result = (request: string, more: object = {}): object => ({
  request,
  driver: "plexus.dev",
  pool: "n1",
  device: "d",
  ...more,
});
const claim = (configs: readonly object[], results: readonly object[] = [result("net")]): object => ({
  metadata: { ...expected, ownerReferences: [{ kind: "Pod", controller: true }] },
  status: { reservedFor: [{ resource: "pods", name: "p", uid: "pod-1" }], allocation: { devices: { results, config: configs } } },
});
const read = (...configs: readonly object[]): unknown => readAllocatedClaim(claim(configs), expected);
const definition = (name: string): object => network({ definition: { name } });

test("DR-04: a claim's configuration comes after its class', whatever their order in the list", () => {
  const named = network({ interface: "net7", mac: "02:00:00:00:00:01" });
  expect(
    read(config("FromClaim", named), config("FromClass", network({ definition: { name: "blue" }, interface: "net1" }))),
  ).toMatchObject({
    value: {
      isShareable: false,
      pods: ["pod-1"],
      networks: [
        {
          request: "net",
          pool: "n1",
          device: "d",
          shareId: "",
          isOfClass: true,
          source: { kind: "definition", namespace: "shop", name: "blue" },
          interface: "net7",
          mac: "02:00:00:00:00:01",
        },
      ],
    },
  });
});

test("DR-04: of two configurations of the claim the later one counts, and each is for its requests only", () => {
  const configs = [
    config("FromClaim", definition("red")),
    config("FromClaim", definition("blue"), ["a"]),
    config("FromClaim", network({ list: { name: "x", plugins: [] } }), ["b"]),
  ];
  const results = [result("a"), result("b/second"), result("c")];
  expect(readAllocatedClaim(claim(configs, results), expected)).toMatchObject({
    value: {
      networks: [{ source: { name: "blue" } }, { source: { kind: "list" } }, { source: { name: "red" }, isOfClass: false }],
    },
  });
});

test("DR-12: a claim cannot replace the network that its class names", () => {
  expect(read(config("FromClass", definition("blue")), config("FromClaim", definition("red")))).toMatchObject({
    problem: expect.stringContaining("but its class names one already; remove it"),
  });
});

const withPolicies = (policies: string): object => ({ value: { networks: [{ source: { kind: "list", policies } }] } });

test("DR-13: a claim names a PodNetwork, a list the network whose policies hold for it, and either one a pool", () => {
  expect(read(config("FromClaim", network({ podNetwork: "blue", pool: "storage" })))).toMatchObject({
    value: { networks: [{ pool: "n1", source: { kind: "podNetwork", name: "blue" }, addressPool: "storage" }] },
  });
  const policiesOf = (policies: string): unknown => read(config("FromClass", network({ list: { plugins: [] }, policies })));
  expect(policiesOf("blue")).toMatchObject(withPolicies("shop/blue"));
  expect(policiesOf("podnetwork/blue")).toMatchObject(withPolicies("podnetwork/blue"));
});

test("DR-12: a claim cannot replace the pool that its class names", () => {
  const [ofClass, ofClaim] = [network({ podNetwork: "blue", pool: "a" }), network({ pool: "b" })];
  expect(read(config("FromClass", ofClass), config("FromClaim", ofClaim))).toMatchObject({
    problem: expect.stringContaining("it names a pool for request"),
  });
});

test.each(["ips", "mac"])(
  "DR-12: a claim cannot replace the %s that its class sets, and sets it where the class does not",
  (key) => {
    const set = (more: object): object =>
      network({ ...more, ...(key === "ips" ? { ips: ["10.30.0.7"] } : { mac: "02:00:00:00:00:07" }) });
    const ofClass = { definition: { name: "blue" } };
    expect(read(config("FromClass", set(ofClass)), config("FromClaim", set({})))).toMatchObject({
      problem: expect.stringContaining(`it sets ${key} for request "net", but its class sets ${key} already; remove it`),
    });
    expect(read(config("FromClass", network(ofClass)), config("FromClaim", set({})))).toMatchObject({ ok: true });
    expect(read(config("FromClass", set(ofClass)), config("FromClass", set({})))).toMatchObject({ ok: true });
  },
);

test("devices of other drivers and with admin access, and configurations of other drivers, are left out", () => {
  const results = [
    result("a", { driver: "gpu.example.com" }),
    result("b", { adminAccess: true }),
    result("net", { shareID: "s1" }),
  ];
  const configs = [config("FromClaim", { anything: true }, [], "gpu.example.com"), config("FromClaim", definition("blue"))];
  expect(readAllocatedClaim(claim(configs, results), expected)).toMatchObject({
    value: { networks: [{ request: "net", shareId: "s1" }] },
  });
});

test.each<[string, object, string]>([
  [
    "another kind",
    { apiVersion: "plexus.dev/v1alpha1", kind: "Other" },
    "must have apiVersion plexus.dev/v1alpha1 and kind Network",
  ],
  ["an unknown field", network({ vlan: 3 }), 'opaque.parameters."vlan" is no field; known are'],
  ["both networks", network({ definition: { name: "a" }, list: {} }), "have definition and list"],
  ["two other networks", network({ podNetwork: "a", list: {} }), "have podNetwork and list"],
  ["a PodNetwork that is no name", network({ podNetwork: "A" }), 'parameters.podNetwork "A" is not'],
  ["policies of a definition", network({ definition: { name: "a" }, policies: "b" }), "parameters.policies is for a list only"],
  [
    "policies of no network",
    network({ list: { plugins: [] }, policies: "a/b/c" }),
    'parameters.policies "a/b/c" names no network',
  ],
  ["a pool that is no name", network({ pool: "A" }), "parameters.pool must be the name of an AddressPool"],
  ["a definition that is a text", network({ definition: "a" }), "parameters.definition must be an object"],
  ["a definition's unknown field", network({ definition: { name: "a", kind: "b" } }), 'parameters.definition."kind" is no field'],
  ["a name that is no label", network({ definition: { name: "A" } }), 'parameters.definition.name "A" is not a DNS-1123 label'],
  ["a list without plugins", network({ list: {} }), "parameters.list.plugins must be a list"],
  ["an interface that is none", network({ interface: "a/b" }), "parameters.interface is not a Linux interface name"],
  ["an address that is none", network({ ips: ["10.0.0.300"] }), "parameters.ips"],
  ["a MAC that is none", network({ mac: "x" }), "parameters.mac"],
])("DR-04: %s is refused with the field", (_, parameters, message) => {
  expect(read(config("FromClaim", parameters))).toMatchObject({ ok: false, problem: expect.stringContaining(message) });
  expect(read(config("FromClaim", parameters))).toMatchObject({
    problem: expect.stringContaining("has status.allocation.devices.config[0] (from the claim): opaque.parameters"),
  });
});

test("a claim without a network, another claim, a claim without an allocation, and one name twice are refused", () => {
  expect(read(config("FromClaim", network({ interface: "net1" })))).toMatchObject({
    problem: expect.stringContaining('names no network for request "net"'),
  });
  expect(readAllocatedClaim(claim([]), { ...expected, uid: "u2" })).toMatchObject({
    problem: expect.stringContaining("the kubelet means"),
  });
  expect(readAllocatedClaim({ metadata: expected }, expected)).toMatchObject({
    problem: "is not allocated: status.allocation is absent",
  });
  const twice = [config("FromClaim", network({ definition: { name: "a" }, interface: "net1" }))];
  expect(readAllocatedClaim(claim(twice, [result("a"), result("b")]), expected)).toMatchObject({
    problem: expect.stringContaining('the interface name "net1" to two devices'),
  });
});

test("DR-15: a device without any configuration is the annotation's, as KubeVirt and Multus ask for it", () => {
  const configs = [config("FromClaim", definition("blue"), ["net"])];
  expect(readAllocatedClaim(claim(configs, [result("net"), result("vf", { device: "vf-1" })]), expected)).toMatchObject({
    value: { networks: [{ request: "net" }], devices: [{ request: "vf", pool: "n1", device: "vf-1", shareId: "" }] },
  });
});

test("a claim is reserved for the pods of its status", () => {
  expect(isReservedFor(claim([]), "pod-1")).toBe(true);
  expect(isReservedFor(claim([]), "pod-2")).toBe(false);
});
