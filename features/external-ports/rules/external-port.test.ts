import { describe, expect, test } from "vitest";
import { compat } from "../../../src/npwg/profile.ts";
import { definitionProvider } from "./definition-provider.ts";
import { externalPortName, readExternalPort } from "./external-port.ts";
import { readProvidedPort } from "./provided-port.ts";
import { externalPortObject, type PodFacts, waitsForPorts, wantedPorts } from "./wanted-ports.ts";

const port = {
  providerId: "b1",
  mac: "FA:16:3e:00:00:01",
  addresses: [{ address: "10.9.0.5/24", gateway: "10.9.0.1" }],
  mtu: 1442,
  binding: { type: "ovs", interfaceId: "b1" },
};
const pod: PodFacts = {
  namespace: "shop",
  name: "web",
  uid: "u1",
  nodeName: "node-1",
  phase: "Pending",
  isHostNetwork: false,
  annotations: new Map([["k8s.v1.cni.cncf.io/networks", "plain,fabric,other/fabric"]]),
};
const annotations = (key: string, value: string): ReadonlyMap<string, string> => new Map([[key, value]]);

describe("a provided port", () => {
  test("is read with its MAC address in lower case", () => {
    expect(readProvidedPort(port)).toEqual({ ok: true, value: { ...port, mac: "fa:16:3e:00:00:01", routes: [] } });
  });

  test.each([
    ["a MAC address of 8 bytes", { mac: "00:11:22:33:44:55:66:77" }, /mac "00:11.*is none/],
    ["an address without a prefix", { addresses: [{ address: "10.9.0.5" }] }, /address "10.9.0.5" is none/],
    ["a gateway that is a name", { addresses: [{ address: "10.9.0.5/24", gateway: "router" }] }, /gateway "router"/],
    ["a route to a name", { routes: [{ dst: "all" }] }, /route "all"/],
    ["an MTU of 67", { mtu: 67 }, /mtu a number is not 68 to 65535/],
    ["VLAN 0", { binding: { type: "vlan", vlan: 0 } }, /VLAN a number is not 1 to 4094/],
    ["an interface-id with a space", { binding: { type: "ovs", interfaceId: "a b" } }, /interfaceId "a b"/],
    ["an unknown binding", { binding: { type: "sriov" } }, /binding.type "sriov"/],
    ["33 addresses", { addresses: Array.from({ length: 33 }, () => ({ address: "10.0.0.1/8" })) }, /addresses is/],
  ])("with %s is refused", (_, change, problem) => {
    expect(readProvidedPort({ ...port, ...change })).toMatchObject({ ok: false, problem: expect.stringMatching(problem) });
  });
});

describe("KU-07 a definition's provider", () => {
  test.each([
    ["no annotation", new Map(), { kind: "none" }],
    [
      "Kuryr's with a subnet",
      annotations("openstack.org/kuryr-config", '{"subnetId":"s1"}'),
      { kind: "provider", value: { provider: "neutron", parameters: { subnetId: "s1" } } },
    ],
    [
      "Kuryr's, empty",
      annotations("openstack.org/kuryr-config", "{}"),
      { kind: "provider", value: { provider: "neutron", parameters: {} } },
    ],
    [
      "Plexus' own",
      annotations("plexus.dev/external-port", '{"provider":"fabric","vlan":7}'),
      { kind: "provider", value: { provider: "fabric", parameters: { vlan: 7 } } },
    ],
  ])("of %s", (_, given, expected) => expect(definitionProvider(given)).toEqual(expected));

  test.each([
    ["no JSON", annotations("openstack.org/kuryr-config", "subnet"), /openstack.org\/kuryr-config/],
    [
      "a number as a subnet",
      annotations("openstack.org/kuryr-config", '{"subnetId":7}'),
      /subnetId must be a text, but is a number/,
    ],
    ["no provider", annotations("plexus.dev/external-port", "{}"), /provider missing must be a name/],
    ["a path as a provider", annotations("plexus.dev/external-port", '{"provider":"../x"}'), /provider "..\/x" must be a name/],
    ["9 KiB", annotations("plexus.dev/external-port", `{"provider":"x","y":"${"y".repeat(9000)}"}`), /the maximum is 8192/],
  ])("is refused for %s", (_, given, problem) => {
    expect(definitionProvider(given)).toMatchObject({ kind: "invalid", problem: expect.stringMatching(problem) });
  });
});

describe("a pod's ports", () => {
  const fabric = annotations("openstack.org/kuryr-config", '{"subnetId":"s1"}');
  const find = (_: string, name: string): ReadonlyMap<string, string> | undefined => (name === "fabric" ? fabric : new Map());

  test("KU-01 KU-05 are those of the definitions with a provider, at their place in the selection", () => {
    const wanted = wantedPorts(pod, find, compat);
    expect(wanted).toMatchObject({
      ok: true,
      ports: [
        { index: 1, definition: { namespace: "shop", name: "fabric" } },
        { index: 2, definition: { namespace: "other" } },
      ],
    });
  });

  test("KU-02 KU-04 the JSON form gives the same, with the requested address", () => {
    const json = JSON.stringify([{ name: "plain" }, { name: "fabric", ips: ["10.9.0.7"], mac: "02:00:00:00:00:01" }]);
    const wanted = wantedPorts({ ...pod, annotations: new Map([["k8s.v1.cni.cncf.io/networks", json]]) }, find, compat);
    expect(wanted).toMatchObject({ ok: true, ports: [{ index: 1, requested: { ips: ["10.9.0.7"], mac: "02:00:00:00:00:01" } }] });
  });

  test("are not those of another namespace's definition that namespaceIsolation keeps from the pod", () => {
    const isolated = wantedPorts(pod, find, compat, { namespaceIsolation: true, globalNamespaces: [] });
    expect(isolated).toMatchObject({ ok: true, ports: [{ index: 1, definition: { namespace: "shop" } }] });
    const opened = wantedPorts(pod, find, compat, { namespaceIsolation: true, globalNamespaces: ["other"] });
    expect(opened).toMatchObject({ ok: true, ports: [{ index: 1 }, { index: 2 }] });
  });

  test("KU-03 an unreadable selection has none, with the reason", () => {
    const wanted = wantedPorts({ ...pod, annotations: new Map([["k8s.v1.cni.cncf.io/networks", "a/b/c"]]) }, find, compat);
    expect(wanted).toMatchObject({ ok: false, problem: expect.stringContaining("element 0") });
  });

  test.each([
    ["is not scheduled", { nodeName: "" }],
    ["is of the host's network", { isHostNetwork: true }],
    ["runs", { phase: "Running" }],
  ])("KU-15 are not made for a pod that %s", (_, change) => {
    expect(waitsForPorts({ ...pod, ...change })).toBe(false);
    expect(waitsForPorts(pod)).toBe(true);
  });

  test("an ExternalPort that is written is read again", () => {
    const wanted = wantedPorts(pod, find, compat);
    const [spec] = wanted.ok ? wanted.ports : [];
    if (spec === undefined) throw new Error("no port");
    const object = externalPortObject("shop", spec);
    const metadata = { ...(object["metadata"] as object), uid: "x", resourceVersion: "1" };
    expect(readExternalPort({ ...object, metadata })).toMatchObject({
      ok: true,
      value: { name: externalPortName("u1", 1), spec, port: undefined, finalizers: ["plexus.dev/external-port"] },
    });
    expect(readExternalPort({ ...object, metadata, status: { ...port, mac: "x" } })).toMatchObject({
      ok: false,
      problem: expect.stringContaining("status: mac"),
    });
  });
});
