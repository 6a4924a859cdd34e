// Addresses that outlive pods, with two nodes' daemons and the controller's part for pools on a real API server.

import { execFileSync } from "node:child_process";
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { ClaimStore } from "../../features/claims/node/claim-store.ts";
import { poolsPart } from "../../features/pools/controller/part.ts";
import type { ClaimedLink } from "../../features/claims/rules/prepared-claim.ts";
import type { ReservationHolder } from "../../features/pools/rules/address-reservation.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { daemonRights, poolObject, poolRequests } from "../lab/kube/pool-objects.ts";
import type { Answer } from "../lab/plexus.ts";
import { createPodNamespace, type PodNamespace, requirePrivateNamespaces } from "../lab/namespaces.ts";
import { iproute2, linkType, missing, privateNamespaces, referencePlugins } from "../lab/requires.ts";
import { addressesIn, openPoolNode, type PoolNode } from "./pool-node.ts";

const claims = "/apis/k8s.cni.cncf.io/v1alpha1/namespaces/shop/ipamclaims";
const reservations = "/apis/plexus.dev/v1alpha1/addressreservations";
const pool = "kept";
/** Plugins of the node, where the machine has them. */
const native = referencePlugins("bridge", "host-local")() === undefined ? ["bridge", "host-local"] : [];

interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
}

function expectSoon<T>(check: () => Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 50 });
}

/** The part of KubeVirt's kind that the controller needs: whether the object exists. */
const instancesKind = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "virtualmachineinstances.kubevirt.io" },
  spec: {
    group: "kubevirt.io",
    scope: "Namespaced",
    names: { kind: "VirtualMachineInstance", plural: "virtualmachineinstances", singular: "virtualmachineinstance" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
const instances = "/apis/kubevirt.io/v1/namespaces/shop/virtualmachineinstances";

/** Runs ip(8) in the network namespace of this file, which is private. */
function runIp(...args: readonly string[]): void {
  requirePrivateNamespaces();
  execFileSync("ip", args);
}

/** A pod with a prepared claim. */
interface Claiming {
  readonly node: PoolNode;
  readonly netns: PodNamespace;
  readonly args: string;
}

const addressOf = ({ netns }: Claiming): string =>
  netns
    .addresses()
    .find(({ link }) => link === "net1")
    ?.address.split("/")[0] ?? "";

interface ReservingCall {
  /** The AddressPool. */
  readonly from?: string;
  readonly claim?: string;
  readonly ipam?: object;
  readonly args?: string;
  /** Distinguishes sandboxes of one pod. */
  readonly sandbox?: string;
}

/** A call for a pod, whose configuration names a claim if given. */
function call(
  node: PoolNode,
  verb: string,
  [pod, uid]: readonly [name: string, uid: string],
  { claim, ipam = {}, args = "", sandbox = "c", from = pool }: ReservingCall = {},
): Promise<Answer> {
  const cni = claim === undefined ? {} : { args: { cni: { "ipam-claim-reference": claim } } };
  const delegates = [{ type: "ipam-host-local", ...cni, ipam: { type: "ipam-host-local", pool: from, ...ipam } }];
  const request = node.request(verb, `${sandbox}-${uid}`, { pool: from, config: { delegates } });
  const pairs = [`K8S_POD_NAMESPACE=shop`, `K8S_POD_NAME=${pod}`, `K8S_POD_UID=${uid}`, "IgnoreUnknown=1", args];
  return node.plexus.call({ ...request, args: pairs.filter((pair) => pair !== "").join(";") });
}

describe.skipIf(missing("reservations of pools", privateNamespaces, kubeApi))("addresses that outlive pods", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  let nodes: readonly [PoolNode, PoolNode];
  const controller = new AbortController();
  let controlled: Promise<void> | undefined;

  const create = async (object: ApiObject & KubernetesObject): Promise<string> => {
    const made = await objects.create(collectionOf(object), object);
    if (made.kind !== "object") throw new Error(made.why);
    return (made.object as unknown as { metadata: { uid: string } }).metadata.uid;
  };
  const makePod = (name: string, owner?: Owner): Promise<string> =>
    create({
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace: "shop",
        ...(owner === undefined ? {} : { ownerReferences: [{ ...owner, controller: true }] }),
      },
      spec: { containers: [{ name: "main", image: "none" }], automountServiceAccountToken: false },
    });
  const removePod = (name: string): Promise<void> => api.deletePod("shop", name);
  const makeClaim = (name: string, network = "pods"): Promise<string> =>
    create({
      apiVersion: "k8s.cni.cncf.io/v1alpha1",
      kind: "IPAMClaim",
      metadata: { name, namespace: "shop" },
      spec: { network, interface: "eth0" },
    } as ApiObject & KubernetesObject);
  /** A VirtualMachineInstance as the owner of its pods. */
  const makeInstance = async (name: string): Promise<Owner> => {
    const kind = "VirtualMachineInstance";
    const made = { apiVersion: "kubevirt.io/v1", kind, metadata: { name, namespace: "shop" }, status: { phase: "Running" } };
    return { apiVersion: "kubevirt.io/v1", kind, name, uid: await create(made) };
  };
  /** Makes a pool and waits until the controller has seen it. */
  const makePool = async (name: string, ranges: readonly object[], spec: object): Promise<void> => {
    const object = { ...poolObject(name, ranges, spec), metadata: { name } };
    await expectSoon(() => create(object));
    await expectSoon(async () => {
      const stored = JSON.stringify(await objects.get(`/apis/plexus.dev/v1alpha1/addresspools/${name}`));
      if (!stored.includes("plexus.dev/blocks")) throw new Error("the pool has no finalizer yet");
    });
  };
  /** Each holder as `POD NODE`; undefined: no reservation. */
  const holdersOf = async (address: string, from = pool): Promise<readonly string[] | undefined> => {
    const found = await objects.get(`${reservations}/${from}.${address}`);
    if (found.kind !== "object") return undefined;
    const { holders = [] } = (found.object as unknown as { spec: { holders?: readonly ReservationHolder[] } }).spec;
    return holders.map(({ pod, node }) => `${pod} ${node}`);
  };
  const ipsOf = async (claim: string): Promise<unknown> => {
    const found = outcome(await objects.get(`${claims}/${claim}`));
    return typeof found === "string" ? found : (found as { status?: { ips?: unknown } }).status?.ips;
  };

  /** Prepares the pod's claim on its node. */
  const claiming = async (
    node: PoolNode,
    pod: string,
    owner?: Owner,
    plugins: readonly object[] = [{ type: "macvlan", ipam: { type: "ipam-host-local" } }],
    link: ClaimedLink = { name: "up-mig", kind: "link", isExclusive: false },
  ): Promise<Claiming> => {
    const uid = await makePod(pod, owner);
    const written = new ClaimStore(node.plexus.state("cni")).write({
      namespace: "shop",
      name: `of-${pod}`,
      uid: `claim-${pod}`,
      pods: [uid],
      isShareable: false,
      networks: [
        {
          request: "net",
          pool: node.name,
          device: `nic-${link.name}`,
          shareId: "",
          isOfClass: true,
          source: { kind: "list", text: JSON.stringify({ cniVersion: "1.0.0", name: "moving", plugins }) },
          addressPool: link.kind === "bridge" ? "nested" : "migrated",
          link,
        },
      ],
    });
    expect(written).toMatchObject({ ok: true });
    const netns = createPodNamespace("mig");
    onTestFinished(() => netns.dispose());
    return { node, netns, args: `K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_UID=${uid};IgnoreUnknown=1` };
  };

  beforeAll(async () => {
    const others = [
      "pods",
      "nodes",
      "ipamclaims",
      "ipamclaims/status",
      "statefulsets",
      "virtualmachineinstances",
      "network-attachment-definitions",
    ];
    const requests = others.flatMap((each) =>
      ["get", "list", "watch", "create", "delete", "patch"].map((verb) => `${verb} ${each}`),
    );
    api = await sharedApiServer({
      alsoAllowed: [...poolRequests, ...requests, "create events", "list events", "patch pods/status"],
    });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/pools.yaml");
    await applyObjects(objects, "deploy/crd-ipamclaims.yaml");
    await create(instancesKind);
    await expectSoon(async () => {
      const found = await objects.list(instances);
      if (found.kind !== "list") throw new Error(found.why);
    });
    for (const right of daemonRights) await api.admin.create(right);
    await api.namespace("shop");
    for (const name of ["node-1", "node-2"]) await create({ apiVersion: "v1", kind: "Node", metadata: { name } });
    const part = poolsPart({ now: () => performance.now(), maxPauseMs: 200 })(partContext(objects));
    controlled = part.run(controller.signal);
    const kept = [{ subnet: "10.190.0.0/24", static: ["10.190.0.128/29", "10.190.0.200"] }];
    await makePool(pool, kept, { blockSize: 16 });
    nodes = await Promise.all([
      openPoolNode("node-1", api.plexus, { components: ["macvlan"], native }),
      openPoolNode("node-2", api.plexus, { components: ["macvlan"] }),
    ] as const);
  });
  afterAll(async () => {
    controller.abort();
    await controlled;
    await Promise.all((nodes ?? []).map((node) => node.dispose()));
    objects?.close();
    await api?.dispose();
  });

  test("N13-05 N13-06: DEL keeps the address as long as the claim exists, and another pod on another node gets it by the claim", async () => {
    await makeClaim("vm.pods.eth0");
    const first = ["vm-1", await makePod("vm-1")] as const;
    const added = await call(nodes[0], "ADD", first, { claim: "vm.pods.eth0" });
    const [address = ""] = addressesIn(added);
    expect(address).toMatch(/^10\.190\.0\.1(2[89]|3[0-5])$/);
    expect(await ipsOf("vm.pods.eth0")).toEqual([`${address}/24`]);
    expect(await holdersOf(address)).toEqual(["vm-1 node-1"]);
    // Another pod with the claim waits for the DEL.
    const second = ["vm-2", await makePod("vm-2")] as const;
    const early = await call(nodes[1], "ADD", second, { claim: "vm.pods.eth0" });
    expect(early.json).toMatchObject({
      code: 11,
      msg: expect.stringContaining(`${address} is still held by pod vm-1 on node node-1`),
    });
    expect(await call(nodes[0], "DEL", first, { claim: "vm.pods.eth0" })).toMatchObject({ status: 0 });
    await removePod("vm-1");
    await expectSoon(async () => expect(await holdersOf(address)).toEqual([]));
    // The address stays the claim's: another claim gets another one.
    await makeClaim("other");
    const other = ["other", await makePod("other")] as const;
    const [different] = addressesIn(await call(nodes[1], "ADD", other, { claim: "other" }));
    expect(different).not.toBe(address);
    expect(addressesIn(await call(nodes[1], "ADD", second, { claim: "vm.pods.eth0" }))).toEqual([address]);
    // The claim goes while a pod has the address: it is free after the DEL.
    await objects.remove(`${claims}/vm.pods.eth0`);
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await holdersOf(address)).toEqual(["vm-2 node-2"]);
    expect(await call(nodes[1], "DEL", second, { claim: "vm.pods.eth0" })).toMatchObject({ status: 0 });
    await expectSoon(async () => expect(await holdersOf(address)).toBeUndefined());
    expect(await call(nodes[1], "DEL", other, { claim: "other" })).toMatchObject({ status: 0 });
  });

  test("two pods of one VirtualMachineInstance have the claim's address during a live migration", async () => {
    await makeClaim("live");
    const instance = { apiVersion: "kubevirt.io/v1", kind: "VirtualMachineInstance", name: "live", uid: "vmi-1" };
    const source = ["source", await makePod("source", instance)] as const;
    const target = ["target", await makePod("target", instance)] as const;
    const [address = ""] = addressesIn(await call(nodes[0], "ADD", source, { claim: "live" }));
    expect(addressesIn(await call(nodes[1], "ADD", target, { claim: "live" }))).toEqual([address]);
    expect(await holdersOf(address)).toEqual(["source node-1", "target node-2"]);
    const third = ["third", await makePod("third", { ...instance, uid: "vmi-2" })] as const;
    expect((await call(nodes[1], "ADD", third, { claim: "live" })).json).toMatchObject({ code: 11 });
    await call(nodes[0], "DEL", source, { claim: "live" });
    await expectSoon(async () => expect(await holdersOf(address)).toEqual(["target node-2"]));
    await call(nodes[1], "DEL", target, { claim: "live" });
  });

  test("FI-24: in a pool that says so, a VirtualMachineInstance without a claim keeps its address over a live migration, until it is gone", async () => {
    const ranges = [{ subnet: "10.191.0.0/24", static: ["10.191.0.128/29"] }];
    await makePool("machines", ranges, { blockSize: 16, keepInstanceAddresses: true });
    const from = "machines";
    const instance = await makeInstance("db");
    const source = ["virt-launcher-db-a", await makePod("virt-launcher-db-a", instance)] as const;
    const [address = ""] = addressesIn(await call(nodes[0], "ADD", source, { from }));
    expect(address).toMatch(/^10\.191\.0\.1(2[89]|3[0-5])$/);
    // The target has the address of the guest, which the source's DEL does not free.
    const target = ["virt-launcher-db-b", await makePod("virt-launcher-db-b", instance)] as const;
    expect(addressesIn(await call(nodes[1], "ADD", target, { from }))).toEqual([address]);
    expect(await holdersOf(address, from)).toEqual([`${source[0]} node-1`, `${target[0]} node-2`]);
    await call(nodes[0], "DEL", source, { from });
    await removePod(source[0]);
    await expectSoon(async () => expect(await holdersOf(address, from)).toEqual([`${target[0]} node-2`]));
    const other = await makeInstance("web");
    const another = ["virt-launcher-web-a", await makePod("virt-launcher-web-a", other)] as const;
    const [different = ""] = addressesIn(await call(nodes[0], "ADD", another, { from }));
    expect(different).toMatch(/^10\.191\.0\.1(2[89]|3[0-5])$/);
    expect(different).not.toBe(address);
    // A pod without an instance gets an address of a block.
    const plain = ["no-machine", await makePod("no-machine")] as const;
    const [ofBlock = ""] = addressesIn(await call(nodes[0], "ADD", plain, { from }));
    expect(ofBlock).toMatch(/^10\.191\.0\.\d+$/);
    expect(ofBlock).not.toMatch(/^10\.191\.0\.1(2[89]|3[0-5])$/);
    await call(nodes[1], "DEL", target, { from });
    await expectSoon(async () => expect(await holdersOf(address, from)).toEqual([]));
    // The controller looks every 30 s.
    await objects.remove(`${instances}/db`);
    await vi.waitFor(async () => expect(await holdersOf(address, from)).toBeUndefined(), { timeout: 110_000, interval: 200 });
    await call(nodes[0], "DEL", another, { from });
    await call(nodes[0], "DEL", plain, { from });
  });

  test.skipIf(missing("macvlan", iproute2, linkType("macvlan")))(
    "DR-15: two pods with two resource claims of one pool have the machine's one address during a migration, and no other pod gets it",
    async () => {
      await makePool("migrated", [{ subnet: "10.192.0.0/24", static: ["10.192.0.128/29"] }], { keepInstanceAddresses: true });
      runIp("link", "add", "up-mig", "type", "veth", "peer", "name", "up-mig-peer");
      onTestFinished(() => runIp("link", "delete", "up-mig"));
      runIp("link", "set", "up-mig", "up");
      const instance = await makeInstance("moved");
      const config = {
        claims: true,
        wasm: {
          grants: {
            macvlan: { log: {}, links: { parents: ["up-mig"] }, delegation: { plugins: ["ipam-host-local"] } },
            "ipam-host-local": { log: {}, leases: { pools: ["*"] }, resolver: {} },
          },
        },
      };
      const send = ({ node, netns, args }: Claiming, verb: string): Promise<Answer> =>
        node.plexus.call({ ...node.request(verb, netns.name, { pool, config }), netns: netns.path, args });
      const source = await claiming(nodes[0], "virt-launcher-moved-a", instance);
      const target = await claiming(nodes[1], "virt-launcher-moved-b", instance);
      const other = await claiming(nodes[1], "virt-launcher-still-a", await makeInstance("still"));
      for (const each of [source, target, other]) {
        const { status, stdout } = await send(each, "ADD");
        expect({ status, stdout: status === 0 ? "" : stdout }).toEqual({ status: 0, stdout: "" });
      }
      const address = addressOf(source);
      expect(address).toMatch(/^10\.192\.0\.1(2[89]|3[0-5])$/);
      expect(addressOf(target)).toBe(address);
      expect(addressOf(other)).not.toBe(address);
      expect(await holdersOf(address, "migrated")).toEqual(["virt-launcher-moved-a node-1", "virt-launcher-moved-b node-2"]);
      expect(await send(source, "DEL")).toMatchObject({ status: 0 });
      await expectSoon(async () => expect(await holdersOf(address, "migrated")).toEqual(["virt-launcher-moved-b node-2"]));
      for (const each of [target, other]) expect(await send(each, "DEL")).toMatchObject({ status: 0 });
    },
  );

  test.skipIf(missing("a nested call", iproute2, linkType("bridge"), referencePlugins("bridge", "host-local")))(
    "DR-13: a native bridge gets the claim's address from a component that it calls, and one whose IPAM plugin knows no pools is undone",
    async () => {
      await makePool("nested", [{ subnet: "10.193.0.0/24" }], {});
      onTestFinished(() => runIp("link", "delete", "br-nested"));
      const [node] = nodes;
      const config = { claims: true, namespaceIsolation: false };
      const send = ({ netns, args }: Claiming, verb: string): Promise<Answer> =>
        node.plexus.call({ ...node.request(verb, netns.name, { pool, config }), netns: netns.path, args });
      const link = { name: "br-nested", kind: "bridge", isExclusive: false } as const;
      const nested = await claiming(node, "nested", undefined, [{ type: "bridge", ipam: { type: "ipam-host-local" } }], link);
      const { status, stdout } = await send(nested, "ADD");
      expect({ status, stdout: status === 0 ? "" : stdout }).toEqual({ status: 0, stdout: "" });
      expect(addressOf(nested)).toMatch(/^10\.193\.0\.\d+$/);
      expect(node.leases("nested")).toEqual([addressOf(nested)]);
      const ranges = [[{ subnet: "10.194.0.0/24" }]];
      const dataDir = node.plexus.state("native-leases");
      const ignores = await claiming(
        node,
        "ignores",
        undefined,
        [{ type: "bridge", ipam: { type: "host-local", ranges, dataDir } }],
        link,
      );
      const refused = await send(ignores, "ADD");
      expect(refused.json).toMatchObject({
        msg: expect.stringContaining("should have an address of AddressPool nested, but has 10.194.0."),
      });
      expect(ignores.netns.links()).toEqual([]);
      expect(await send(nested, "DEL")).toMatchObject({ status: 0 });
      expect([node.leases("nested"), nested.netns.links()]).toEqual([[], []]);
    },
  );

  test("FI-24: in another pool, the pod of a VirtualMachineInstance without a claim gets a warning Event, and no other pod does", async () => {
    const instance = await makeInstance("lost");
    const pods = [
      ["virt-launcher-lost-a", await makePod("virt-launcher-lost-a", instance)],
      ["virt-launcher-not", await makePod("virt-launcher-not")],
    ] as const;
    for (const pod of pods.toReversed()) await call(nodes[0], "ADD", pod);
    const event = await expectSoon(async () => {
      const listed = await objects.list("/api/v1/namespaces/shop/events");
      if (listed.kind !== "list") throw new Error(listed.why);
      const all = listed.items as unknown as readonly { reason: string; message: string; involvedObject: { name: string } }[];
      // Pods of other tests have such Events, too.
      const own = all.filter(({ involvedObject }) => pods.some(([name]) => name === involvedObject.name));
      const found = own.filter(({ reason }) => reason === "AddressNotKept");
      expect(found).toHaveLength(1);
      return found[0];
    });
    expect(event).toMatchObject({
      type: "Warning",
      involvedObject: { kind: "Pod", name: "virt-launcher-lost-a" },
      message: expect.stringContaining("set spec.keepInstanceAddresses of the pool, or use an IPAMClaim"),
    });
    for (const pod of pods) await call(nodes[0], "DEL", pod);
  });

  test("a StatefulSet's pod that is made again on another node keeps its address by name, and other pods get other addresses", async () => {
    const labels = { app: "db" };
    const template = { metadata: { labels }, spec: { containers: [{ name: "main", image: "none" }] } };
    const uid = await create({
      apiVersion: "apps/v1",
      kind: "StatefulSet",
      metadata: { name: "db", namespace: "shop" },
      spec: { serviceName: "db", selector: { matchLabels: labels }, template },
    } as ApiObject & KubernetesObject);
    const set = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid };
    const ipam = { keep: "ordinal" };
    const before = ["db-0", await makePod("db-0", set)] as const;
    const [address = ""] = addressesIn(await call(nodes[0], "ADD", before, { ipam }));
    expect(address).toMatch(/^10\.190\.0\.1(2[89]|3[0-5])$/);
    const plain = ["plain", await makePod("plain")] as const;
    expect(addressesIn(await call(nodes[0], "ADD", plain, { ipam }))[0]).not.toMatch(/^10\.190\.0\.1(2[89]|3[0-5])$/);
    // A new sandbox of the same pod.
    await call(nodes[0], "DEL", before, { ipam });
    expect(addressesIn(await call(nodes[0], "ADD", before, { ipam, sandbox: "again" }))).toEqual([address]);
    await call(nodes[0], "DEL", before, { ipam, sandbox: "again" });
    await removePod("db-0");
    await expectSoon(async () => expect(await holdersOf(address)).toEqual([]));
    // While no pod db-0 exists, its address stays reserved: db-1 gets another one.
    const sibling = ["db-1", await makePod("db-1", set)] as const;
    const [different = ""] = addressesIn(await call(nodes[1], "ADD", sibling, { ipam }));
    expect(different).toMatch(/^10\.190\.0\.1(2[89]|3[0-5])$/);
    expect(different).not.toBe(address);
    const after = ["db-0", await makePod("db-0", set)] as const;
    expect(after[1]).not.toBe(before[1]);
    expect(addressesIn(await call(nodes[1], "ADD", after, { ipam }))).toEqual([address]);
    expect([await holdersOf(address), await holdersOf(different)]).toEqual([["db-0 node-2"], ["db-1 node-2"]]);
    for (const pod of [after, sibling]) await call(nodes[1], "DEL", pod, { ipam });
    for (const each of [address, different]) await expectSoon(async () => expect(await holdersOf(each)).toEqual([]));
    await objects.remove("/apis/apps/v1/namespaces/shop/statefulsets/db");
    for (const each of [address, different]) await expectSoon(async () => expect(await holdersOf(each)).toBeUndefined());
    await call(nodes[0], "DEL", plain, { ipam });
  });

  test("a static address that a pod asks for is the pod's until its DEL, on whatever node", async () => {
    const one = ["asks", await makePod("asks")] as const;
    const args = "IP=10.190.0.200";
    expect(addressesIn(await call(nodes[0], "ADD", one, { args }))).toEqual(["10.190.0.200"]);
    const other = ["asks-too", await makePod("asks-too")] as const;
    expect((await call(nodes[1], "ADD", other, { args })).json).toMatchObject({
      code: 101,
      msg: expect.stringContaining("is taken"),
    });
    // A second sandbox of the pod, while the first one still has the address, gets nothing, and takes no reservation away.
    const sandbox = "again";
    expect(addressesIn(await call(nodes[0], "ADD", one, { args, sandbox }))).toEqual([]);
    await call(nodes[0], "DEL", one, { args, sandbox });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await holdersOf("10.190.0.200")).toEqual(["asks node-1"]);
    expect((await call(nodes[1], "ADD", other, { args })).json).toMatchObject({ code: 101 });
    await call(nodes[0], "DEL", one, { args });
    await expectSoon(async () => expect(await holdersOf("10.190.0.200")).toBeUndefined());
    expect(addressesIn(await call(nodes[1], "ADD", other, { args }))).toEqual(["10.190.0.200"]);
    await call(nodes[1], "DEL", other, { args });
  });

  test("a holder that a killed daemon has left without a lease is taken out by the next one, which serves no call", async () => {
    await makeClaim("killed");
    const pod = ["killed", await makePod("killed")] as const;
    const [address = ""] = addressesIn(await call(nodes[0], "ADD", pod, { claim: "killed" }));
    await nodes[0].kill();
    // Without a daemon a one-shot engine serves the DEL, which needs no API.
    expect(await call(nodes[0], "DEL", pod, { claim: "killed" })).toMatchObject({ status: 0 });
    expect(nodes[0].leases(pool)).not.toContain(address);
    expect(await holdersOf(address)).toEqual(["killed node-1"]);
    await nodes[0].start();
    await expectSoon(async () => expect(await holdersOf(address)).toEqual([]));
  });

  test("mistakes are named: a claim that is missing, or of another network; another keep", async () => {
    const pod = ["wrong", await makePod("wrong")] as const;
    await makeClaim("elsewhere", "blue");
    const refusals = [
      [{ claim: "none" }, 11, "IPAMClaim shop/none does not exist"],
      [{ claim: "elsewhere" }, 7, 'IPAMClaim shop/elsewhere is for network "blue", not for "pods"'],
      [{ claim: "../../pods" }, 7, "is not a DNS-1123 subdomain"],
      [{ ipam: { keep: "forever" } }, 7, 'ipam.keep must be "ordinal", but is "forever"'],
    ] as const;
    for (const [more, code, msg] of refusals) {
      expect((await call(nodes[0], "ADD", pod, more)).json).toMatchObject({ code, msg: expect.stringContaining(msg) });
    }
  });
});
