// plexus-controller's PodNetworks on a real API server: conditions, finalizers, the default PodNetwork, gates.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObject, ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { type Collector, startCollector } from "../lab/collector.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { applyObjects, objectsOf, outcome } from "../lab/kube/apply.ts";
import { accountRequests, boundController } from "../lab/kube/controller-account.ts";
import { helm } from "../lab/kube/helm.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { root } from "../lab/compiled.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { create as createObject, servePodNetworks, untilGated } from "../lab/kube/serve-pod-networks.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";

const { attachment, pod, podNetwork } = networkObjects;
const group = "/apis/plexus.dev/v1alpha1";
const ref = (name: string) => ({
  group: "k8s.cni.cncf.io",
  kind: "network-attachment-definitions",
  name,
  namespace: "shop",
});
const tuning = (keys: object) => [{ type: "tuning", ...keys }];

interface Status {
  readonly metadata: { readonly finalizers?: readonly string[]; readonly resourceVersion: string };
  readonly status?: {
    readonly phase?: string;
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

/** The reason of the condition Ready, and the phase. */
function readyOf(object: Status | undefined): string {
  const ready = object?.status?.conditions?.find(({ type }) => type === "Ready");
  return `${ready?.reason} ${object?.status?.phase}`;
}

/** The same after the object's name. */
function stateOf(object: unknown): string {
  const named = object as Status & { readonly metadata: { readonly name: string } };
  return `${named.metadata.name} ${readyOf(named)}`;
}

function expectSoon<T>(check: () => Promise<T>): Promise<T> {
  return vi.waitFor(check, { timeout: 60_000, interval: 50 });
}

function podPath(name: string): string {
  return `/api/v1/namespaces/shop/pods/${name}`;
}

/** A gated pod with this message of its condition. */
function gatedWith(message: string): object {
  return { object: { status: { conditions: [{ type: "PodScheduled", status: "False", reason: "SchedulingGated", message }] } } };
}

describe.skipIf(missing("plexus-controller's PodNetworks", privateNamespaces, kubeApi, helm))("plexus-controller", () => {
  let api: ApiServer;
  let objects: ApiObjects;
  let collector: Collector;
  let bound: Awaited<ReturnType<typeof boundController>>;
  const replicas: TestController[] = [];
  const start = async (args: readonly string[] = []): Promise<TestController> => {
    const replica = await startController({
      identity: `c${replicas.length}`,
      // A replica with a Lease of another name is not the chart's.
      kubeconfig: args.includes("--lease-name") ? api.adminKubeconfig : bound.kubeconfig,
      args: ["--pod-networks", ...bound.leaseArgs, ...args],
    });
    replicas.push(replica);
    return replica;
  };
  const create = (object: KubernetesObject & ApiObject): Promise<void> => createObject(objects, object);
  const read = async (path: string): Promise<Status | undefined> => {
    const answer = await objects.get(path);
    return answer.kind === "object" ? (answer.object as unknown as Status) : undefined;
  };
  const network = (name: string): Promise<Status | undefined> => read(`${group}/podnetworks/${name}`);
  const expectReady = (name: string, expected: string): Promise<void> =>
    expectSoon(async () => expect(readyOf(await network(name))).toBe(expected));
  const messageOf = async (name: string): Promise<string> =>
    (await network(name))?.status?.conditions?.find(({ type }) => type === "Ready")?.message ?? "";
  /** The states of a collection's objects. */
  const listed = async (path: string): Promise<readonly string[]> => {
    const answer = await objects.list(path);
    return answer.kind === "list" ? answer.items.map(stateOf) : [answer.why];
  };
  const removePod = async (name: string): Promise<void> =>
    void (await api.deletePod("shop", name).catch((error: unknown) => {
      if (!String(error).includes("404")) throw error;
    }));

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: [...networkRequests, ...accountRequests] });
    objects = objectsOf(api.adminKubeconfig);
    bound = await boundController(api, objects, "px", "networks.enabled=true");
    await servePodNetworks(api, objects);
    collector = await startCollector();
    await start(["--otlp", collector.url]);
    await untilGated(api, objects);
  });
  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.kill()));
    collector?.close();
    objects?.close();
    await api?.dispose();
  });

  test("KE-28 KE-32 KE-35: creates the default PodNetwork, and makes it anew if it is missing", async () => {
    await expectReady("default", "Ready Ready");
    const labelled = { metadata: { labels: { "plexus.dev/removable": "true" } } };
    expect(outcome(await objects.patch(`${group}/podnetworks/default`, labelled))).toMatchObject({ kind: "PodNetwork" });
    const before = await network("default");
    expect(outcome(await objects.remove(`${group}/podnetworks/default`))).toMatchObject({ status: "Success" });
    await expectSoon(async () => {
      const now = await network("default");
      expect(now?.metadata.resourceVersion).not.toBe(before?.metadata.resourceVersion);
      expect(readyOf(now)).toBe("Ready Ready");
    });
  });

  test("KE-06 KE-08 KE-11 KE-16: a network becomes Ready, is disabled, and becomes Ready again", async () => {
    await create(podNetwork("blue"));
    await expectReady("blue", "Ready Ready");
    await objects.patch(`${group}/podnetworks/blue`, { spec: { enabled: false } });
    await expectReady("blue", "AdministrativelyDisabled Disabled");
    await objects.patch(`${group}/podnetworks/blue`, { spec: { enabled: true } });
    await expectReady("blue", "Ready Ready");
  });

  test("a reconciliation is a span, with a child for each request that it sent", async () => {
    await create(podNetwork("traced"));
    await expectReady("traced", "Ready Ready");
    await expectSoon(async () => {
      const spans = collector.spans.filter((each) => JSON.stringify(each.attributes).includes("network traced"));
      expect(spans.map(({ name, kind }) => `${name} ${kind}`)).toContain("reconcile podnetworks 1");
      const children = collector.spans.filter(({ parentSpanId }) => spans.some(({ spanId }) => spanId === parentSpanId));
      expect(children).toContainEqual(expect.objectContaining({ name: "PATCH", kind: 3, traceId: spans[0]?.traceId }));
      expect(JSON.stringify(children)).toContain("/podnetworks/traced/status");
    });
  });

  test("KE-06 KE-07 KE-09 KE-31: parameters are ready when all definitions exist, and not any more when one goes", async () => {
    await create(podNetwork("params", { parametersRefs: [ref("chain"), ref("more")] }));
    await expectReady("params", "ParamsNotReady NotReady");
    expect(await messageOf("params")).toContain("NetworkAttachmentDefinition shop/chain does not exist");
    await api.network("shop", "chain", tuning({ mtu: 1400 }));
    await expectSoon(async () => expect(await messageOf("params")).toContain("shop/more does not exist"));
    await api.network("shop", "more", tuning({ promisc: true }));
    await expectReady("params", "Ready Ready");
    await api.admin.delete({
      apiVersion: "k8s.cni.cncf.io/v1",
      kind: "NetworkAttachmentDefinition",
      metadata: { name: "more", namespace: "shop" },
    });
    await expectReady("params", "ParamsNotReady NotReady");
  });

  test("KE-27 KE-60: contradicting parameters are named, and a parameter serves several networks", async () => {
    await api.network("shop", "one", tuning({ mtu: 1400 }));
    await api.network("shop", "other", tuning({ mtu: 9000 }));
    await create(podNetwork("contradiction", { parametersRefs: [ref("one"), ref("other")] }));
    await create(podNetwork("shared", { parametersRefs: [ref("one")] }));
    await expectReady("contradiction", "ParamsNotReady NotReady");
    const why = "shop/one and shop/other contradict each other in plugins[0].mtu";
    await expectSoon(async () => expect(await messageOf("contradiction")).toContain(why));
    await expectReady("shared", "Ready Ready");
    // A definition that is mended makes its networks ready.
    await api.network("shop", "other", tuning({ mtu: 1400 }));
    await expectReady("contradiction", "Ready Ready");
  });

  test("KE-10: a network of another provider stays untouched", async () => {
    await create(podNetwork("foreign", { provider: "example.com/fabric" }));
    await create(podNetwork("own-after-foreign"));
    await expectReady("own-after-foreign", "Ready Ready");
    expect(await network("foreign")).not.toMatchObject({ status: expect.anything() });
  });

  test("KE-20 KE-23: an attachment follows its network", async () => {
    await create(attachment("fast", "late"));
    const fast = (): Promise<Status | undefined> => read(`${group}/namespaces/shop/podnetworkattachments/fast`);
    await expectSoon(async () => expect(readyOf(await fast())).toBe("PodNetworkNotReady NotReady"));
    await create(podNetwork("late"));
    await expectSoon(async () => expect(readyOf(await fast())).toBe("Ready Ready"));
    await objects.patch(`${group}/podnetworks/late`, { spec: { enabled: false } });
    await expectSoon(async () => expect(readyOf(await fast())).toBe("PodNetworkNotReady NotReady"));
  });

  test("KE-09 KE-20: an attachment is judged again when a definition of its network changes", async () => {
    await api.network("shop", "wide", tuning({ mtu: 9000 }));
    await api.network("shop", "narrow", tuning({ promisc: true }));
    await create(podNetwork("wide", { parametersRefs: [ref("wide")] }));
    await create(attachment("narrow", "wide", { parametersRefs: [ref("narrow")] }));
    const path = `${group}/namespaces/shop/podnetworkattachments/narrow`;
    await expectSoon(async () => expect(readyOf(await read(path))).toBe("Ready Ready"));
    // A patch keeps the definition's object, and the network's own status as it is.
    const config = JSON.stringify({ cniVersion: "1.0.0", name: "wide", plugins: tuning({ mtu: 9000, promisc: false }) });
    const definition = "/apis/k8s.cni.cncf.io/v1/namespaces/shop/network-attachment-definitions/wide";
    expect(outcome(await objects.patch(definition, { spec: { config } }))).toMatchObject({ spec: { config } });
    await expectSoon(async () => expect(readyOf(await read(path))).toBe("ParamsNotReady NotReady"));
  });

  test("an attachment whose network was replaced by another provider's is not kept for ever", async () => {
    await create(podNetwork("sold"));
    await create(attachment("lot", "sold"));
    await create(pod("s1", '[{"podNetworkAttachmentName":"lot"}]'));
    const path = `${group}/namespaces/shop/podnetworkattachments/lot`;
    await expectSoon(async () => expect((await read(path))?.metadata.finalizers).toEqual(["plexus.dev/in-use"]));
    // The administrator forces the network out of the way.
    await objects.remove(`${group}/podnetworks/sold`);
    await expectSoon(async () => {
      await objects.patch(`${group}/podnetworks/sold`, { metadata: { finalizers: null } });
      expect(await network("sold")).toBeUndefined();
    });
    await create(podNetwork("sold", { provider: "example.com/fabric" }));
    await removePod("s1");
    await objects.remove(path);
    await expectSoon(async () => expect(await read(path)).toBeUndefined());
  });

  test("KE-13 KE-14 KE-16: a network in use is not deleted before its last user is gone or finished", async () => {
    await create(podNetwork("used"));
    await create(pod("u1", '[{"podNetworkName":"used"}]'));
    await create(pod("u2", '[{"podNetworkName":"used"}]'));
    await create(attachment("holder", "used"));
    await expectReady("used", "Ready InUse");
    expect((await network("used"))?.metadata.finalizers).toEqual(["plexus.dev/in-use"]);
    await objects.remove(`${group}/podnetworks/used`);
    await removePod("u1");
    await objects.remove(`${group}/namespaces/shop/podnetworkattachments/holder`);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await network("used")).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    await objects.patch(`${podPath("u2")}/status`, { status: { phase: "Succeeded" } });
    await expectSoon(async () => expect(await network("used")).toBeUndefined());
    await removePod("u2");
  });

  test("KE-21: an attachment in use is kept, too", async () => {
    await create(podNetwork("base"));
    await create(attachment("kept", "base"));
    await create(pod("k1", '[{"podNetworkAttachmentName":"kept"}]'));
    const path = `${group}/namespaces/shop/podnetworkattachments/kept`;
    await expectSoon(async () => expect(readyOf(await read(path))).toBe("Ready InUse"));
    await objects.remove(path);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(await read(path)).toMatchObject({ metadata: { deletionTimestamp: expect.any(String) } });
    await removePod("k1");
    await expectSoon(async () => expect(await read(path)).toBeUndefined());
  });

  test("KE-17 KE-43 KE-44: a pod waits with the reason in condition and Event, and its gate opens when its networks are ready", async () => {
    await create(pod("g1", '[{"podNetworkName":"default"},{"podNetworkName":"soon"}]'));
    await expectSoon(async () =>
      expect(await objects.get(podPath("g1"))).toMatchObject(gatedWith('PodNetwork "soon" not found')),
    );
    await create(podNetwork("soon", { parametersRefs: [ref("later")] }));
    const waits =
      'PodNetwork "soon" is not Ready: ParamsNotReady: parametersRefs[0]: NetworkAttachmentDefinition shop/later does not exist';
    await expectSoon(async () => expect(await objects.get(podPath("g1"))).toMatchObject(gatedWith(waits)));
    const g1 = await objects.get(podPath("g1"));
    const uid = (g1 as unknown as { object: { metadata: { uid: string } } }).object.metadata.uid;
    const events = await api.eventsOf({ namespace: "shop", name: "g1", uid, args: "" });
    expect(events).toContain('Warning NetworksNotReady PodNetwork "soon" not found');
    await api.network("shop", "later", tuning({}));
    await expectSoon(async () => {
      const opened = await objects.get(podPath("g1"));
      expect(opened).toMatchObject({ object: { metadata: { labels: { "plexus.dev/networks": "open" } } } });
      expect(opened).not.toMatchObject({ object: { spec: { schedulingGates: expect.anything() } } });
    });
    await removePod("g1");
  });

  test("KE-26 KE-43: a network that comes twice through an attachment is refused with both names", async () => {
    await create(podNetwork("twice"));
    await create(attachment("again", "twice"));
    await create(pod("t1", '[{"podNetworkName":"twice"},{"podNetworkAttachmentName":"again"}]'));
    const message = 'PodNetwork "twice" is used twice: by PodNetwork "twice" and by PodNetworkAttachment "again"';
    await expectSoon(async () =>
      expect(await objects.get(podPath("t1"))).toMatchObject({ object: { status: { conditions: [{ message }] } } }),
    );
    await removePod("t1");
  });

  test("KE-45: a dead controller stops no pod that names nothing", async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.kill()));
    await create(pod("plain", undefined));
    expect(await objects.get(podPath("plain"))).not.toMatchObject({ object: { spec: { schedulingGates: expect.anything() } } });
    await removePod("plain");
  });

  test("two controllers that both believe in their lease end in the same state", async () => {
    await Promise.all(["first-lease", "second-lease"].map((name) => start(["--lease-name", name])));
    for (let index = 0; index < 10; index++) {
      await create(podNetwork(`both${index}`));
      await create(pod(`both${index}`, JSON.stringify([{ podNetworkName: `both${index}` }])));
    }
    for (let index = 0; index < 10; index++) await expectReady(`both${index}`, "Ready InUse");
    for (let index = 0; index < 10; index++) {
      await objects.remove(`${group}/podnetworks/both${index}`);
      await removePod(`both${index}`);
    }
    await expectSoon(async () => {
      const left = await objects.list(`${group}/podnetworks`);
      expect(JSON.stringify(left)).not.toContain('"both');
    });
  });

  test("KE-33: with --disable-default-podnetwork-creation the administrator creates the default PodNetwork", async () => {
    await Promise.all(replicas.splice(0).map((replica) => replica.kill()));
    await objects.patch(`${group}/podnetworks/default`, { metadata: { labels: { "plexus.dev/removable": "true" } } });
    await objects.remove(`${group}/podnetworks/default`);
    await start(["--lease-name", "no-default", "--disable-default-podnetwork-creation"]);
    await create(podNetwork("after"));
    await expectReady("after", "Ready Ready");
    expect(await network("default")).toBeUndefined();
    await create(podNetwork("default"));
    await expectReady("default", "Ready Ready");
  });

  test("KE-26 KE-31 KE-57: the examples of the KEP and of its user stories become Ready, and their pods' gates open", async () => {
    const directory = "deploy/examples/networks";
    for (const file of readdirSync(join(root, directory)).filter((name) => name.endsWith(".yaml"))) {
      await applyObjects(objects, `${directory}/${file}`);
    }
    await expectSoon(async () => {
      expect(await listed(`${group}/podnetworks`)).toEqual(
        expect.arrayContaining([
          "dataplane-of-foo undefined undefined",
          ...["control-plane", "data-plane", "dataplane", "dataplane1", "on-premise", "shaped", "switch-red", "tenant-a"].map(
            (name) => `${name} Ready InUse`,
          ),
        ]),
      );
      expect(await listed(`${group}/namespaces/default/podnetworkattachments`)).toEqual(
        expect.arrayContaining([
          ...["cnf-a-control", "cnf-b-control", "cnf-c-data", "my-interface-fast"].map((name) => `${name} Ready InUse`),
          "slow Ready Ready",
        ]),
      );
      const pods = await objects.list("/api/v1/pods", { labelSelector: "plexus.dev/networks" });
      const states = pods.kind === "list" ? pods.items.map((each) => JSON.stringify(each)) : [];
      for (const name of ["pod1", "cnf-a", "cnf-b", "cnf-c", "on-red", "client", "plain"]) {
        expect(states.find((each) => each.includes(`"name":"${name}"`))).toContain('"plexus.dev/networks":"open"');
      }
    });
  });
});
