// Pods on PodNetworks (KEP-3698) through the installed binary: attachment, refusal, status. plexus-controller runs beside a real API server.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { Connection } from "../../host/cluster/kube/connection.ts";
import { Informers } from "../../host/cluster/api/informers.ts";
import { keptCredentials } from "../../host/cluster/kube/kept-credentials.ts";
import { podNetworkObjects } from "../../features/pod-networks/pod-network-objects.ts";
import { kubeCluster } from "../../host/cluster/api/kube-cluster.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { applyObjects, collectionOf, objectsOf } from "../lab/kube/apply.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import type { Answer } from "../lab/plexus.ts";
import { nothing } from "../lab/stage.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";
import { systemClock } from "../../host/system/clock.ts";

const { attachment, podNetwork } = networkObjects;
const group = "/apis/plexus.dev/v1alpha1";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
const warn = (): void => undefined;

/** A reference to a definition of the namespace `shop`. */
function ref(name: string): object {
  return { group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", name, namespace: "shop" };
}

/** The annotation that names one PodNetwork. */
function networksOf(name: string): Readonly<Record<string, string>> {
  return { "plexus.dev/networks": JSON.stringify([{ podNetworkName: name }]) };
}

describe.skipIf(missingForKube("pods on PodNetworks"))("a pod on PodNetworks", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  let controller: TestController;
  let node: Node;
  /** The answer to STATUS before the controller has made the default PodNetwork. */
  let statusBefore: Answer;
  const create = async (object: Parameters<typeof collectionOf>[0] & ApiObject): Promise<void> => {
    const made = await objects.create(collectionOf(object), object);
    if (made.kind !== "object") throw new Error(made.why);
  };
  const untilPhase = (name: string, phase: string): Promise<void> =>
    vi.waitFor(
      async () => {
        const answer = await objects.get(`${group}/${name}`);
        if (!JSON.stringify(answer).includes(`"phase":"${phase}"`)) throw new Error(JSON.stringify(answer));
      },
      { timeout: 60_000, interval: 50 },
    );
  const pod = (networks: readonly object[] | undefined, more: Readonly<Record<string, string>> = {}): Promise<CreatedPod> =>
    api.pod("shop", "web", undefined, {
      ...(networks === undefined ? {} : { "plexus.dev/networks": JSON.stringify(networks) }),
      ...more,
    });
  const add = async (web: CreatedPod, keys: object = { podNetworks: true }) => {
    const attaching = node.attaching(web, keys);
    return { attaching, added: await node.call("ADD", attaching) };
  };
  const annotation = async (key: string): Promise<unknown> => {
    const answer = await objects.get("/api/v1/namespaces/shop/pods/web");
    const { metadata } = (answer as { object?: { metadata?: { annotations?: Record<string, string> } } }).object ?? {};
    const text = metadata?.annotations?.[key];
    return text === undefined ? undefined : JSON.parse(text);
  };

  /** The answer of a node that is not ready without the default PodNetwork. */
  const requiringStatus = ({ host, bridge, request }: Node): Promise<Answer> => {
    const keys = { cniVersion: "1.1.0", kubeconfig: api.adminKubeconfig, podNetworks: true, requireDefaultPodNetwork: true };
    // Plugins of a network of 1.0.0 know no STATUS.
    const delegates = [{ cniVersion: "1.0.0", name: "pods", plugins: [bridge("pods", "10.10.0.0/24")] }];
    return request({ verb: "STATUS", config: host({ ...keys, delegates }) });
  };

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: networkRequests });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/networks.yaml");
    const rbac = "rbac.authorization.k8s.io";
    const rules = [{ apiGroups: ["plexus.dev"], resources: ["podnetworks", "podnetworkattachments"], verbs: ["use"] }];
    await create({ apiVersion: `${rbac}/v1`, kind: "ClusterRole", metadata: { name: "use" }, rules });
    await create({
      apiVersion: `${rbac}/v1`,
      kind: "ClusterRoleBinding",
      metadata: { name: "use" },
      roleRef: { apiGroup: rbac, kind: "ClusterRole", name: "use" },
      subjects: [{ kind: "Group", apiGroup: rbac, name: "system:serviceaccounts" }],
    });
    const early = openNode(api);
    statusBefore = await requiringStatus(early);
    early.dispose();
    controller = await startController({ identity: "c", kubeconfig: api.adminKubeconfig, args: ["--pod-networks"] });
    await untilPhase("podnetworks/default", "Ready");
  });
  afterAll(async () => {
    await controller?.kill();
    objects?.close();
    await api?.dispose();
  });
  beforeEach(async () => {
    node = openNode(api, api.adminKubeconfig);
    const bridge = (name: string, subnet: string): object => ({ ...node.bridge(name, subnet), isDefaultGateway: true });
    await api.network("shop", "blue", [bridge("blue", "10.20.0.0/24")]);
    await api.network("shop", "red", [bridge("red", "10.30.0.0/24")]);
    await api.network("shop", "small", [{ type: "bridge", mtu: 1400 }]);
  });
  afterEach(async () => {
    node.dispose();
    await api.deletePod("shop", "web").catch(() => undefined);
  });

  test("KE-29: STATUS of a node that requires the default PodNetwork answers code 50 until the API has it", async () => {
    expect([statusBefore.status, JSON.parse(statusBefore.stdout)]).toEqual([
      1,
      expect.objectContaining({ code: 50, msg: expect.stringContaining("default PodNetwork not found in API") }),
    ]);
    expect(await requiringStatus(node)).toMatchObject({ status: 0, stdout: "" });
  });

  test("KE-12 KE-37 KE-46 KE-47 KE-51: gets each of its networks with addresses of its definition's IPAM, and both statuses name them", async () => {
    for (const name of ["blue", "red"]) await create(podNetwork(name, { parametersRefs: [ref(name)] }));
    for (const name of ["blue", "red"]) await untilPhase(`podnetworks/${name}`, "Ready");
    const web = await pod([
      { podNetworkName: "default" },
      { podNetworkName: "blue" },
      { podNetworkName: "red", interfaceName: "r0" },
    ]);
    const { attaching, added } = await add(web);
    expect(added.json).toMatchObject({ ips: expect.anything() });
    expect(attaching.pod.links().map(({ name }) => name)).toEqual(expect.arrayContaining(["eth0", "net1", "r0"]));
    expect(await annotation("plexus.dev/network-status")).toEqual([
      { name: "default", interfaceName: "eth0", ips: ["10.10.0.2"], isDefaultGW4: true, isDefaultGW6: true },
      { name: "blue", interfaceName: "net1", ips: ["10.20.0.2"], isDefaultGW4: false, isDefaultGW6: false },
      { name: "red", interfaceName: "r0", ips: ["10.30.0.2"], isDefaultGW4: false, isDefaultGW6: false },
    ]);
    expect(await annotation("k8s.v1.cni.cncf.io/network-status")).toMatchObject([
      {},
      { name: "shop/blue" },
      { name: "shop/red" },
    ]);
    await node.succeed("DEL", attaching);
    expect([attaching.pod.links(), node.left()]).toEqual([[], nothing]);
  });

  test("KE-28 KE-52: a pod that names nothing gets the cluster's default network", async () => {
    await untilPhase("podnetworks/default", "Ready");
    const { added } = await add(await pod(undefined));
    expect(added.json).toMatchObject({ ips: [{ address: "10.10.0.2/24" }] });
  });

  test("a disabled default PodNetwork stops pods that name nothing, but none of the system's namespaces", async () => {
    await objects.patch(`${group}/podnetworks/default`, { spec: { enabled: false } });
    await untilPhase("podnetworks/default", "Disabled");
    expect((await add(await pod(undefined))).added.json).toMatchObject({ code: 11, msg: expect.stringContaining("Disabled") });
    const system = await api.pod("kube-system", "controller");
    expect((await add(system)).added.json).toMatchObject({ ips: [{ address: "10.10.0.2/24" }] });
    await api.deletePod("kube-system", "controller");
    await objects.patch(`${group}/podnetworks/default`, { spec: { enabled: true } });
    await untilPhase("podnetworks/default", "Ready");
  });

  test("KE-37: a list without the default network is complete: its first network is on the runtime's interface", async () => {
    const { attaching, added } = await add(await pod([{ podNetworkName: "blue" }, { podNetworkName: "red" }]));
    expect(added.json).toMatchObject({ ips: [{ address: "10.20.0.2/24" }] });
    expect(attaching.pod.links().map(({ name }) => name)).toEqual(expect.arrayContaining(["eth0", "net1"]));
    expect(await annotation("plexus.dev/network-status")).toMatchObject([{ name: "blue", isDefaultGW4: true }, { name: "red" }]);
  });

  test("KE-39: isDefaultGW4 moves the default route of that family", async () => {
    const { attaching, added } = await add(
      await pod([{ podNetworkName: "default" }, { podNetworkName: "red", isDefaultGW4: true }]),
    );
    expect(added).toMatchObject({ status: 0 });
    expect(attaching.pod.exec(["ip", "-4", "route", "show", "default"]).stdout).toMatch(/^default via 10\.30\.0\.1 dev net1/);
    expect(await annotation("plexus.dev/network-status")).toMatchObject([
      { name: "default", isDefaultGW4: false, isDefaultGW6: true },
      { name: "red", isDefaultGW4: true },
    ]);
  });

  test("KE-55 KE-60: an attachment's parameters are added to its network's", async () => {
    await create(attachment("slim", "blue", { parametersRefs: [ref("small")] }));
    await untilPhase("namespaces/shop/podnetworkattachments/slim", "Ready");
    const { attaching, added } = await add(await pod([{ podNetworkName: "default" }, { podNetworkAttachmentName: "slim" }]));
    expect(added).toMatchObject({ status: 0 });
    expect(attaching.pod.exec(["ip", "-o", "link", "show", "net1"]).stdout).toContain("mtu 1400");
  });

  test("KE-56: two pods on one network reach each other, and a pod on another network does not", async () => {
    const attach = async (name: string, network: string) => {
      const attaching = node.attaching(await api.pod("shop", name, undefined, networksOf(network)), { podNetworks: true });
      await node.succeed("ADD", attaching);
      return attaching.pod;
    };
    const [one, two] = [await attach("one", "blue"), await attach("two", "blue")];
    const other = await attach("other", "red");
    expect([one.ping("10.20.0.3"), two.ping("10.20.0.2")]).toEqual([true, true]);
    // The bridges are the host's, which forwards between them only with net.ipv4.ip_forward.
    node.node.exec(["sysctl", "-qw", "net.ipv4.ip_forward=0"]);
    expect(other.ping("10.20.0.2")).toBe(false);
    for (const name of ["one", "two", "other"]) await api.deletePod("shop", name);
  });

  test("KE-43: an absent network is refused with code 11 and the KEP's reason, and nothing is attached", async () => {
    const { added } = await add(await pod([{ podNetworkName: "default" }, { podNetworkName: "absent" }]));
    expect([added.status, added.json]).toMatchObject([
      1,
      { code: 11, msg: expect.stringContaining('PodNetwork "absent" not found') },
    ]);
    expect(node.left()).toEqual(nothing);
  });

  test("KE-11: a disabled network takes no new pod, and a running one is deleted cleanly", async () => {
    const web = await pod([{ podNetworkName: "default" }, { podNetworkName: "red" }]);
    const { attaching, added } = await add(web);
    expect(added).toMatchObject({ status: 0 });
    await objects.patch(`${group}/podnetworks/red`, { spec: { enabled: false } });
    const second = await node.call("ADD", { ...node.attaching(web, { podNetworks: true }), containerId: "second" });
    expect(second.json).toMatchObject({ code: 11, msg: expect.stringContaining("AdministrativelyDisabled") });
    await node.succeed("DEL", attaching);
    expect(node.left()).toEqual(nothing);
    await objects.patch(`${group}/podnetworks/red`, { spec: { enabled: true } });
    await untilPhase("podnetworks/red", "InUse");
  });

  test("KE-36: without the key podNetworks a pod that names a PodNetwork is refused", async () => {
    const { added } = await add(await pod([{ podNetworkName: "blue" }]), {});
    expect(added.json).toMatchObject({ code: 11, msg: expect.stringContaining("the key podNetworks is off") });
  });

  test("a daemon answers lookups of usable PodNetworks from memory, and asks the API about all others", async () => {
    const connection = new Connection(systemClock, 4);
    const credentials = keptCredentials(api.adminKubeconfig, { allowInsecure: false }, warn, systemClock);
    const informers = new Informers({ connection, credentials, nodeName: undefined, keep: false, warn });
    try {
      await informers.begin();
      const cluster = informers.over(
        kubeCluster({ connection, credentials, budgetMs: 120_000, clock: systemClock, sleep, warn }),
      );
      const podNetworks = await cluster.objects?.(podNetworkObjects);
      if (podNetworks === undefined) throw new Error("the API has PodNetworks");
      expect(informers.states.networks).toEqual([]);
      expect(await podNetworks.network("blue")).toMatchObject({ value: { name: "blue" } });
      await expect.poll(() => informers.states.networks.map(({ live }) => live)).toEqual([true, true]);
      expect(await podNetworks.network("blue")).toMatchObject({ value: { name: "blue" } });
      expect(await podNetworks.attachment("shop", "slim")).toMatchObject({ value: { podNetworkName: "blue" } });
      expect(informers.counts.networks).toEqual({ held: 2, asked: 1 });
      // A network that pods may not use, and one that does not exist, are read from the API, whatever the watch has brought.
      await objects.patch(`${group}/podnetworks/red`, { spec: { enabled: false } });
      await untilPhase("podnetworks/red", "Disabled");
      await vi.waitFor(
        async () => {
          const { asked } = informers.counts.networks;
          expect(await podNetworks.network("red")).toMatchObject({ value: { enabled: false } });
          expect(informers.counts.networks.asked).toBe(asked + 1);
        },
        { timeout: 60_000, interval: 50 },
      );
      const { asked } = informers.counts.networks;
      expect(await podNetworks.network("none")).toEqual({ ok: true, value: undefined });
      expect(informers.counts.networks.asked).toBe(asked + 1);
    } finally {
      informers.stop();
      connection.close();
      await objects.patch(`${group}/podnetworks/red`, { spec: { enabled: true } });
      await untilPhase("podnetworks/red", "Ready");
    }
  });

  test("KE-36 KE-52: without the key podNetworks the objects are ignored", async () => {
    const { attaching, added } = await add(await pod([{ podNetworkName: "default" }]), {});
    expect(added.json).toMatchObject({ ips: [{ address: "10.10.0.2/24" }] });
    expect(attaching.pod.links().map(({ name }) => name)).not.toContain("net1");
    expect(await annotation("plexus.dev/network-status")).toBe(undefined);
  });

  test("KE-52: the NPWG's annotation adds its networks to the pod's PodNetworks", async () => {
    const web = await pod([{ podNetworkName: "default" }], { "k8s.v1.cni.cncf.io/networks": "blue@b0" });
    const { attaching } = await add(web);
    expect(attaching.pod.links().map(({ name }) => name)).toContain("b0");
  });
});
