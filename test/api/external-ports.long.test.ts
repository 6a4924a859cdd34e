// Pods on networks of an outer fabric, through the installed binary: plexus-controller asks a provider over HTTP, and the ADD waits for the port.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { nothing } from "../lab/stage.ts";
import { root } from "../lab/compiled.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { applyObjects, objectsOf } from "../lab/kube/apply.ts";
import { accountRequests, boundController } from "../lab/kube/controller-account.ts";
import { helm } from "../lab/kube/helm.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { networkRequests, portRequests } from "../lab/kube/network-requests.ts";
import { startPortProvider, type TestProvider } from "../lab/port-provider.ts";
import { installRecorder } from "../lab/recorder.ts";
import { withGrowingBudget } from "../lab/kube/growing-budget.ts";
import { missing, referencePlugins } from "../lab/requires.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";

const portsOfShop = "/apis/plexus.dev/v1alpha1/namespaces/shop/externalports";
/** Requests of the test of a quota. */
const quotaRequests = ["create resourcequotas", "patch resourcequotas/status", "delete resourcequotas"];
const fabric = { "plexus.dev/external-port": '{"provider":"fabric"}' };
const externalPorts = { externalPorts: true };

/** Waits until the fabric has so many ports. */
function untilPorts({ ports }: TestProvider, count: number): Promise<void> {
  const check = (): void => {
    if (ports.size !== count) throw new Error(`the fabric has ${ports.size} ports, not ${count}`);
  };
  return vi.waitFor(check, { timeout: 60_000, interval: 50 });
}

/** A network whose bridge and addresses take a port's values. */
function portPlugin(name: string): object {
  return {
    type: "bridge",
    bridge: `br-${name}`,
    capabilities: { mac: true, ips: true },
    ipam: { type: "static", capabilities: { ips: true } },
  };
}

/** The configuration in a page whose first plugin has this type. */
function documentedConfiguration(page: string, type: string): { readonly plugins: readonly { readonly type: string }[] } {
  const text = readFileSync(join(root, page), "utf8");
  for (const [, json = ""] of text.matchAll(/^ *config: \|\n([^`]*)```/gm)) {
    const configuration: { readonly plugins: readonly { readonly type: string }[] } = JSON.parse(json);
    if (configuration.plugins[0]?.type === type) return configuration;
  }
  throw new Error(`${page} has no configuration of ${type}`);
}

describe.skipIf(missingForKube("external ports") || missing("external ports", referencePlugins("static"), helm))(
  "a pod on an outer fabric",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "plexus-ports-"));
    /** A provider that never answers, and its answers for ports that clients wait for. */
    const waiting = new Set<ServerResponse>();
    const silent = createServer(({ url }, response) => {
      if (url === "/v1/ensure") waiting.add(response);
      response.on("close", () => waiting.delete(response));
    });
    let api: ApiServer;
    let objects: ApiObjects;
    let provider: TestProvider;
    let controller: TestController;
    let node: Node;
    const conditions = async (): Promise<string> => JSON.stringify(await objects.list("/apis/plexus.dev/v1alpha1/externalports"));
    /** Waits until the controller counts so many of the fabric's ports in this state: its watch comes after the API's answer. */
    const untilCounted = (state: string, count: number): Promise<void> =>
      vi.waitFor(
        async () => {
          const { body } = await controller.page("/metrics");
          expect(body).toContain(`\nplexus_controller_external_ports{provider="fabric",state="${state}"} ${count}\n`);
        },
        { timeout: 60_000, interval: 50 },
      );
    const pod = (selection = "fabric"): Promise<CreatedPod> => api.pod("shop", "web", selection);

    beforeAll(async () => {
      [api, provider] = await Promise.all([
        sharedApiServer({
          alsoAllowed: [...networkRequests, ...portRequests, ...quotaRequests, ...accountRequests, "create networks"],
        }),
        startPortProvider(),
      ]);
      objects = objectsOf(api.adminKubeconfig);
      await applyObjects(objects, "deploy/helm/plexus/files/external-ports.yaml");
      const settings = { name: "fabric", type: "http", namespaces: ["*"], owner: "test", url: provider.url };
      await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
      const silentUrl = `http://127.0.0.1:${(silent.address() as AddressInfo).port}`;
      const providers = [settings, { ...settings, name: "silent", url: silentUrl }];
      writeFileSync(join(directory, "providers.yaml"), JSON.stringify({ providers }));
      const args = ["--external-ports", join(directory, "providers.yaml")];
      const nodeArgs = ["--import", join(root, "test", "lab", "patient-requests.ts")];
      const { kubeconfig, leaseArgs } = await boundController(api, objects, "px", "externalPorts.enabled=true");
      controller = await startController({ identity: "c", kubeconfig, args: [...args, ...leaseArgs], nodeArgs });
      await api.network("shop", "fabric", [portPlugin("fabric")], fabric);
    });
    beforeEach(() => {
      node = openNode(api, api.adminKubeconfig, ["static"]);
    });
    afterEach(async () => {
      provider.refusal = undefined;
      provider.sameId = undefined;
      provider.together = undefined;
      await Promise.all(["web", "owner"].map((name) => api.deletePod("shop", name).catch(() => undefined)));
      node.dispose();
      await untilPorts(provider, 0);
    });
    afterAll(async () => {
      await controller?.kill();
      objects?.close();
      provider?.dispose();
      silent.close();
      silent.closeAllConnections();
      await api?.dispose();
      rmSync(directory, { recursive: true, force: true });
    });

    test("KU-20 KU-26 gets the fabric's addresses on its interface, a status, and leaves nothing", async () => {
      const web = await pod();
      const attaching = node.attaching(web, externalPorts);
      const added = await node.call("ADD", attaching);
      expect(added.stdout).not.toContain('"code"');
      const [port] = provider.ports.values();
      expect(await api.statusOf("shop", "web")).toMatchObject([
        { default: true },
        { name: "shop/fabric", interface: "net1", mac: port?.mac, ips: [port?.addresses[0]?.address.replace("/24", "")] },
      ]);
      expect(await node.call("DEL", attaching)).toMatchObject({ status: 0 });
      expect(node.left()).toEqual(nothing);
    });

    test("KU-22 fails with code 11 and the provider's reason while the fabric has no port, and works later", async () => {
      provider.refusal = { status: 507, message: "the fabric is full" };
      const web = await pod();
      await untilCounted("quota", 1);
      const attaching = node.attaching(web, externalPorts);
      const refused = await withGrowingBudget(
        (budgetMs) => node.call("ADD", node.attaching(web, { ...externalPorts, kubernetes: { budgetMs } })),
        /QuotaExceeded: the provider answers HTTP 507: the fabric is full/,
      );
      expect(refused.stdout).toContain('"code":11');
      expect(refused.stdout).toContain("QuotaExceeded: the provider answers HTTP 507: the fabric is full");
      expect(node.left()).toEqual(nothing);
      provider.refusal = undefined;
      await untilPorts(provider, 1);
      expect(await node.call("ADD", attaching)).toMatchObject({ status: 0 });
      await untilCounted("quota", 0);
      await untilCounted("ready", 1);
      expect(await node.call("DEL", attaching)).toMatchObject({ status: 0 });
    });

    test("KU-22 fails with code 7 at once if the fabric refuses the port for good", async () => {
      provider.refusal = { status: 403, message: "not this pod" };
      const attaching = node.attaching(await pod(), externalPorts);
      await vi.waitFor(
        async () => expect(JSON.stringify(await objects.list("/apis/plexus.dev/v1alpha1/externalports"))).toContain("Refused"),
        { timeout: 60_000, interval: 50 },
      );
      const refused = await node.call("ADD", attaching);
      expect(refused.stdout).toContain('"code":7');
      expect(refused.stdout).toContain("Refused: the provider answers HTTP 403: not this pod");
      expect(node.left()).toEqual(nothing);
    });

    test("KU-21 gets none of its interfaces if one of its ports is missing", async () => {
      await api.network("shop", "unknown", [portPlugin("unknown")], { "plexus.dev/external-port": '{"provider":"elsewhere"}' });
      const attaching = node.attaching(await pod("fabric,unknown"), externalPorts);
      const refused = await node.call("ADD", attaching);
      expect(refused.stdout).toContain('provider \\"elsewhere\\" is not in plexus-controller');
      expect(node.left()).toEqual(nothing);
    });

    test("KU-06 a definition that does not exist fails the pod", async () => {
      const refused = await node.call("ADD", node.attaching(await pod("fabric,absent"), externalPorts));
      expect(refused.stdout).toContain("NetworkAttachmentDefinition shop/absent is not in the Kubernetes API");
      expect(node.left()).toEqual(nothing);
    });

    test("KU-10 a network of the kind that Kuryr had before NetworkAttachmentDefinitions is no definition", async () => {
      const definition = {
        apiVersion: "apiextensions.k8s.io/v1",
        kind: "CustomResourceDefinition",
        metadata: { name: "networks.kubernetes.cni.cncf.io" },
        spec: {
          group: "kubernetes.cni.cncf.io",
          scope: "Namespaced",
          names: { kind: "Network", plural: "networks", singular: "network" },
          versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
        },
      };
      expect((await objects.create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition)).kind).toBe("object");
      const metadata = { name: "old", annotations: { "openstack.org/kuryr-config": "{}" } };
      const network = { apiVersion: "kubernetes.cni.cncf.io/v1", kind: "Network", metadata };
      const create = async (): Promise<string> =>
        (await objects.create("/apis/kubernetes.cni.cncf.io/v1/namespaces/shop/networks", network)).kind;
      await expect.poll(create).toBe("object");
      const refused = await node.call("ADD", node.attaching(await pod("old"), externalPorts));
      expect(refused.stdout).toContain("NetworkAttachmentDefinition shop/old is not in the Kubernetes API");
      expect(node.left()).toEqual(nothing);
    });

    test("KU-11 KU-25 has eth0, net1 and net2, also with a configuration of CNI version 0.3.1", async () => {
      const attaching = node.attaching(await pod("fabric,fabric"), { ...externalPorts, cniVersion: "0.3.1" });
      const added = await node.call("ADD", attaching);
      expect(JSON.parse(added.stdout)).toMatchObject({ cniVersion: "0.3.1" });
      const names = attaching.pod.links().map(({ name }) => name);
      expect(names).toEqual(expect.arrayContaining(["eth0", "net1", "net2"]));
      expect(await node.call("DEL", attaching)).toMatchObject({ status: 0 });
      expect(node.left()).toEqual(nothing);
    });

    test("KU-16 KU-24 a new pod of the same name gets a port of its own, and a DEL of the old sandbox leaves its interface", async () => {
      const old = node.attaching(await pod(), externalPorts);
      expect(await node.call("ADD", old)).toMatchObject({ status: 0 });
      await api.deletePod("shop", "web");
      const attaching = { ...node.attaching(await pod(), externalPorts), containerId: "new-sandbox" };
      const added = await node.call("ADD", attaching);
      expect(added).toMatchObject({ status: 0 });
      await untilPorts(provider, 1);
      expect(await node.call("DEL", old)).toMatchObject({ status: 0 });
      const [port] = provider.ports.values();
      expect(attaching.pod.links()).toContainEqual(expect.objectContaining({ name: "net1", mac: port?.mac }));
      expect(await node.call("DEL", attaching)).toMatchObject({ status: 0 });
      expect(node.left()).toEqual(nothing);
    });

    test("KU-23 a static pod, whose uid the API does not know, gets the port of its mirror pod", async () => {
      const mirror = await api.pod("shop", "web", "fabric", {
        "kubernetes.io/config.source": "file",
        "kubernetes.io/config.mirror": "5f1c",
      });
      const attaching = node.attaching({ ...mirror, args: mirror.args.replace(mirror.uid, "5f1c") }, externalPorts);
      await node.succeed("ADD", attaching);
      const [port] = provider.ports.values();
      expect(attaching.pod.links()).toContainEqual(expect.objectContaining({ name: "net1", mac: port?.mac }));
      await node.succeed("DEL", attaching);
      expect(node.left()).toEqual(nothing);
    });

    test.each([
      ["docs/how-to/external-ports.md", "macvlan", true],
      ["deploy/examples/ec2-provider/README.md", "ipvlan", false],
    ])("the definition in %s gives the plugin %s the address of an address-only port", async (page, type, takesMac) => {
      const { plugins } = documentedConfiguration(page, type);
      await api.network("shop", type, plugins, fabric);
      const plugin = installRecorder(node.plexus.cniPath, type);
      const attaching = node.attaching(await pod(type), externalPorts);
      const interfaces = [{ name: "net1", sandbox: attaching.pod.path }];
      plugin.script("ADD", { stdout: JSON.stringify({ cniVersion: "1.0.0", interfaces }) });
      await node.succeed("ADD", attaching);
      const [port] = provider.ports.values();
      const stdin: unknown = JSON.parse(plugin.calls().find(({ env }) => env["CNI_COMMAND"] === "ADD")?.stdin ?? "");
      expect(port?.binding).toEqual({ type: "address-only" });
      expect(stdin).toMatchObject({ type, master: "eth1", ipam: { type: "static" } });
      expect(stdin).toHaveProperty("runtimeConfig", {
        ips: port?.addresses.map(({ address }) => address),
        ...(takesMac ? { mac: port?.mac } : {}),
      });
      await node.succeed("DEL", attaching);
      expect(node.left()).toEqual(nothing);
    });

    test("KU-04 the provider gets the pod's requested addresses in one form, whatever the pod's is", async () => {
      await api.pod("shop", "web", [{ name: "fabric", ips: ["10.77.0.99/24"], mac: "02-00-00-00-00-AB" }]);
      await untilPorts(provider, 1);
      expect(provider.requested).toEqual({ ips: ["10.77.0.99"], mac: "02:00:00:00:00:ab" });
    });

    test("a provider that asks for a pause gets one request, and the port of a deleted pod goes before its end", async () => {
      provider.refusal = { status: 429, message: "too many", retryAfter: "3600" };
      const before = provider.ensured;
      await pod();
      await expect.poll(conditions).toContain("HTTP 429: too many");
      await setTimeout(500);
      expect(provider.ensured - before).toBe(1);
      provider.refusal = undefined;
      await api.deletePod("shop", "web");
      await expect.poll(conditions).not.toContain("too many");
    });

    test("a port of another address than the pod requests is refused", async () => {
      await api.pod("shop", "web", [{ name: "fabric", ips: ["10.77.0.99/24"] }]);
      await expect.poll(conditions).toMatch(/lacks the address .*10\.77\.0\.99.*Refused/);
    });

    test("a port that another ExternalPort has is refused", async () => {
      provider.sameId = "shared";
      await api.pod("shop", "owner", "fabric");
      await expect.poll(conditions).toContain('"providerId":"shared"');
      await pod();
      await expect.poll(conditions).toContain("its port is another ExternalPort's");
      expect((await conditions()).match(/"providerId":"shared"/gu)).toHaveLength(1);
    });

    test("of two ExternalPorts for which the provider answers one port at the same time, only one gets it", async () => {
      provider.sameId = "answered-twice";
      provider.together = 2;
      const pods = await Promise.all([api.pod("shop", "owner", "fabric"), pod()]);
      const statuses = (): Promise<readonly string[]> =>
        Promise.all(pods.map(async ({ uid }) => JSON.stringify(await objects.get(`${portsOfShop}/${uid}-0`))));
      const withPort = async (): Promise<number> =>
        (await statuses()).filter((status) => status.includes('"providerId":"answered-twice"')).length;
      await expect.poll(async () => (await statuses()).join()).toContain("its port is another ExternalPort's");
      await expect.poll(withPort).toBe(1);
      await setTimeout(1_000);
      expect(await withPort()).toBe(1);
    });

    test("a released port is free for another ExternalPort, while a finalizer of another program keeps its object", async () => {
      provider.sameId = "kept-object";
      const { uid } = await api.pod("shop", "owner", "fabric");
      await expect.poll(conditions).toContain('"providerId":"kept-object"');
      const path = `${portsOfShop}/${uid}-0`;
      const finalizers = ["plexus.dev/external-port", "example.com/keep"];
      expect((await objects.patch(path, { metadata: { finalizers } })).kind).toBe("object");
      await api.deletePod("shop", "owner");
      await untilPorts(provider, 0);
      await pod();
      const holders = async (): Promise<number> => (await conditions()).match(/"providerId":"kept-object"/gu)?.length ?? 0;
      await expect.poll(holders).toBe(2);
      expect((await objects.get(path)).kind).toBe("object");
      expect((await objects.patch(path, { metadata: { finalizers: [] } })).kind).toBe("object");
    });

    test("a ResourceQuota that refuses an ExternalPort is told in an Event of the pod, which gets its port when there is room", async () => {
      const quotas = "/api/v1/namespaces/shop/resourcequotas";
      const count = "count/externalports.plexus.dev";
      const allow = async (hard: string): Promise<void> => {
        // The status is the work of a controller that does not run here.
        const merged = await objects.patch(`${quotas}/ports/status`, {
          status: { hard: { [count]: hard }, used: { [count]: "0" } },
        });
        expect(merged.kind).toBe("object");
      };
      const quota = { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "ports" }, spec: { hard: { [count]: "0" } } };
      expect((await objects.create(quotas, quota)).kind).toBe("object");
      try {
        await allow("0");
        const web = await pod();
        const events = async (): Promise<string> => (await api.eventsOf(web)).join("\n");
        await expect.poll(events).toMatch(/Warning ExternalPortNotCreated .*exceeded quota: ports/u);
        expect(provider.ports.size).toBe(0);
        await allow("1");
        await untilPorts(provider, 1);
      } finally {
        await objects.remove(`${quotas}/ports`);
      }
    });

    test("a network whose plugins take no port is refused", async () => {
      await api.network("shop", "deaf", [node.bridge("deaf", "10.78.0.0/24")], fabric);
      const refused = await node.call("ADD", node.attaching(await pod("deaf"), externalPorts));
      expect(refused.stdout).toContain('no plugin of it has \\"capabilities\\": {\\"externalPort\\": true}');
      expect(node.left()).toEqual(nothing);
    });

    test("a provider that does not answer holds no port of another provider up", async () => {
      await api.network("shop", "silent", [portPlugin("silent")], { "plexus.dev/external-port": '{"provider":"silent"}' });
      for (let each = 0; each < 17; each++) await api.pod("shop", `waiting-${each}`, "silent");
      // The controller works on so many ports at once.
      await expect.poll(() => waiting.size).toBe(16);
      const before = [...waiting];
      await pod();
      await untilPorts(provider, 1);
      expect([...waiting]).toEqual(before);
    });
  },
);
