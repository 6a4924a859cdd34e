// The definitions that a pod's PodNetworks reach on the node, whatever the API server and the controller have accepted before.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { defaultDefinitionPolicy } from "../../src/configuration/keys/definition-keys.ts";
import { ok } from "../../src/fault/result.ts";
import { profileNamed } from "../../src/npwg/profile.ts";
import type { NetworkAttachmentDefinition } from "../../src/npwg/network-attachment-definition.ts";
import { type PodNetwork, type PodNetworkAttachment, readPodNetwork, readPodNetworkAttachment } from "./rules/objects.ts";
import type { Pod } from "../../host/cluster/cluster.ts";
import { partialCall } from "../../host/engine/testing/partial-call.ts";
import { planDefinition } from "../../host/engine/plan/plan-definition.ts";
import { storedClaim } from "./controller/stored-claim.ts";
import { podNetworkNamed, podNetworksOf } from "./plan-networks.ts";

const ready = { conditions: [{ type: "Ready", status: "True", reason: "Ready", observedGeneration: 1 }] };
const ref = (namespace: string, name: string): object => ({
  group: "k8s.cni.cncf.io",
  kind: "NetworkAttachmentDefinition",
  namespace,
  name,
});

function network(name: string, spec: object = {}, status: object = ready): PodNetwork {
  const read = readPodNetwork({ metadata: { name, uid: "u", resourceVersion: "1", generation: 1 }, spec, status });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

function attachment(name: string, spec: object): PodNetworkAttachment {
  const metadata = { name, namespace: "shop", uid: "u", resourceVersion: "1", generation: 1 };
  const read = readPodNetworkAttachment({ metadata, spec, status: ready });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

function podWith(networks?: string): Pod {
  const annotations = new Map(networks === undefined ? [] : [["plexus.dev/networks", networks]]);
  return { namespace: "shop", name: "web", uid: "u", annotations } as Pod;
}

/** A definition of the namespace `shop`; `file` has no spec.config. */
const definition = (name: string): NetworkAttachmentDefinition => ({
  namespace: "shop",
  name,
  annotations: new Map(),
  ...(name === "file" ? {} : { config: '{"cniVersion":"1.0.0","name":"more","plugins":[{"type":"macvlan","mtu":1}]}' }),
});

interface Given {
  readonly networks: readonly PodNetwork[];
  readonly attachments?: readonly PodNetworkAttachment[];
  readonly isolated?: boolean;
  readonly annotation?: string;
}

function targetsOf({ networks, attachments = [], isolated = false, annotation }: Given): ReturnType<typeof podNetworksOf> {
  const configuration = {
    podNetworks: true,
    namespaceIsolation: isolated,
    globalNamespaces: ["shared"],
    systemNamespaces: ["kube-system"],
  };
  const podNetworks = {
    network: async (name: string) => ok(networks.find((each) => each.name === name)),
    attachment: async (_: string, name: string) => ok(attachments.find((each) => each.name === name)),
  };
  return podNetworksOf(
    { configuration, warn: () => undefined },
    { objects: async <T>() => podNetworks as T },
    podWith(annotation),
  );
}

describe("a node whose configuration has podNetworks off", () => {
  const off = { podNetworks: false, namespaceIsolation: false, globalNamespaces: [], systemNamespaces: [] };
  const planned = (pod: Pod): ReturnType<typeof podNetworksOf> =>
    podNetworksOf({ configuration: off, warn: () => undefined }, undefined, pod);

  test("refuses a pod with the label of the admission policy, so that it never runs without its networks", async () => {
    const found = await planned({ ...podWith('[{"podNetworkName":"blue"}]'), hasNetworksLabel: true });
    expect(found).toMatchObject({ ok: false, fault: { kind: "POD_NETWORK_NOT_READY" } });
    expect(JSON.stringify(found)).toContain("the key podNetworks is off in this node's configuration");
  });

  test("KE-36: ignores the annotation of a pod without the label", async () => {
    expect(await planned(podWith('[{"podNetworkName":"blue"}]'))).toEqual(ok(undefined));
  });
});

describe("a PodNetworkAttachment under namespaceIsolation", () => {
  const blue = network("blue", { parametersRefs: [ref("networks", "blue")] });
  const given = (namespace: string, podNetworkName: string): Given => ({
    networks: [network("default"), blue],
    attachments: [attachment("mine", { podNetworkName, parametersRefs: [ref(namespace, "secret")] })],
    isolated: true,
    annotation: '[{"podNetworkAttachmentName":"mine"}]',
  });

  test.each(["default", "blue"])("reaches no definition of another namespace through PodNetwork %s", async (name) => {
    const found = await targetsOf(given("networks", name));
    expect(found).toMatchObject({ ok: false, fault: { kind: "NETWORK_FORBIDDEN" } });
    expect(JSON.stringify(found)).toContain('PodNetworkAttachment \\"mine\\": a pod of namespace shop may not use');
  });

  test.each(["shop", "shared"])("reaches the definitions of namespace %s, and its PodNetwork's own", async (namespace) => {
    const found = await targetsOf(given(namespace, "blue"));
    expect(found).toMatchObject({ ok: true, value: { primary: { target: { definitions: [{ namespace: "networks" }, {}] } } } });
  });
});

describe("the default PodNetwork without parameters", () => {
  test("serves pods before a controller has written its condition", async () => {
    const primary = { podNetwork: "default", target: undefined };
    expect(await targetsOf({ networks: [network("default", {}, {})] })).toMatchObject({ ok: true, value: { primary } });
  });

  test("holds up no pod that names nothing while its last users delay its deletion", async () => {
    const deleted = { ...network("default"), isDeleted: true };
    const primary = { podNetwork: "default", target: undefined };
    expect(await targetsOf({ networks: [deleted] })).toMatchObject({ ok: true, value: { primary } });
    const withParameters = { ...network("default", { parametersRefs: [ref("networks", "blue")] }), isDeleted: true };
    expect(await targetsOf({ networks: [withParameters] })).toMatchObject({ ok: false });
  });

  test("refuses pods while it is disabled", async () => {
    const found = await targetsOf({ networks: [network("default", { enabled: false })] });
    expect(found).toMatchObject({ ok: false, fault: { kind: "POD_NETWORK_NOT_READY" } });
  });
});

describe("a PodNetwork that a resource claim names", () => {
  const refs = { parametersRefs: [ref("networks", "blue"), ref("networks", "more")] };
  const networks = [network("default"), network("blue", refs), network("later", refs, {}), network("off", { enabled: false })];
  const configuration = {
    podNetworks: true,
    namespaceIsolation: true,
    globalNamespaces: [],
    systemNamespaces: [],
  };
  const objects = async <T>(): Promise<T> =>
    ({ network: async (name: string) => ok(networks.find((each) => each.name === name)) }) as T;
  const named = (name: string, isOn = true): ReturnType<typeof podNetworkNamed> =>
    podNetworkNamed(
      { configuration: { ...configuration, podNetworks: isOn }, warn: () => undefined },
      { objects },
      podWith(),
      name,
    );

  test("DR-13: has the definitions of the object, the administrator's choice, under namespaceIsolation, too", async () => {
    const definitions = [
      { namespace: "networks", name: "blue" },
      { namespace: "networks", name: "more" },
    ];
    expect(await named("blue")).toMatchObject({ ok: true, value: { podNetwork: "blue", definitions } });
  });

  test.each([
    ["red", 'PodNetwork \\"red\\" not found'],
    ["later", 'PodNetwork \\"later\\" is not Ready'],
    ["off", "AdministrativelyDisabled"],
    ["default", "is the cluster's default network, which a claim cannot attach"],
  ])("DR-13: is refused as by annotation: %s", async (name, message) => {
    const found = await named(name);
    expect(found).toMatchObject({ ok: false, fault: { kind: "POD_NETWORK_NOT_READY" } });
    expect(JSON.stringify(found)).toContain(message);
  });

  test("DR-13: is refused on a node without the key podNetworks", async () => {
    expect(JSON.stringify(await named("blue", false))).toContain("the key podNetworks is off");
  });
});

const opaque = (parameters: object, driver = "plexus.dev"): object => ({ opaque: { driver, parameters } });

test("DR-13: an allocated claim uses the PodNetworks that it names, for its network or for its policies", () => {
  const metadata = { namespace: "shop", name: "net", uid: "u", resourceVersion: "1" };
  const config = [
    opaque({ podNetwork: "blue" }),
    opaque({ list: {}, policies: "podnetwork/green" }),
    opaque({ list: {}, policies: "shop/blue" }),
    opaque({ podNetwork: "red" }, "gpu.example.com"),
    { opaque: 7 },
  ];
  const status = { allocation: { devices: { config } } };
  expect(storedClaim({ metadata, spec: {}, status })?.value).toEqual(["blue", "green"]);
  expect(storedClaim({ metadata, spec: { devices: { config } }, status: {} })?.value).toEqual([]);
});

test("keys are not added to a file of the node, which a rule lets others use unchanged", async () => {
  const confDir = mkdtempSync(join(tmpdir(), "plexus-plan-"));
  onTestFinished(() => rmSync(confDir, { recursive: true }));
  const file = { cniVersion: "1.0.0", name: "file", plugins: [{ type: "macvlan", master: "eth1" }] };
  writeFileSync(join(confDir, "file.conflist"), JSON.stringify(file));
  const policy = {
    ...defaultDefinitionPolicy,
    rules: [{ namespaces: ["shop"], native: {}, ipam: {}, grants: {}, files: ["file"], pools: [] }],
  };
  const planned = await planDefinition(
    partialCall({
      configuration: { cniDir: join(confDir, "state"), confDir, definitions: policy, legacyCniArgs: false },
      warn: () => undefined,
    }),
    { networkAttachmentDefinition: async (_, name) => ok(definition(name)) },
    { namespace: "shop", name: "file", extensions: new Map() },
    { containerId: "c", netns: "/n", ifname: "net1", args: "", capabilityArgs: new Map() },
    profileNamed("multus"),
    { addedParameters: [{ namespace: "shop", name: "more" }] },
  );
  expect(planned).toMatchObject({ ok: false });
  expect(JSON.stringify(planned)).toContain("shop/file has no spec.config, so that shop/more cannot add keys to it");
});
