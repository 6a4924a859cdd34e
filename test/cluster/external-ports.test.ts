// ExternalPorts on a real API server with a real Neutron and OVN: plexus-controller makes and releases the ports of pods.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { neutronProvider } from "../../features/external-ports/controller/neutron/provider.ts";
import { neutronSettings } from "../../features/external-ports/controller/neutron/settings.ts";
import type { PortProvider, PortRequest } from "../../features/external-ports/controller/provider.ts";
import { externalPortName } from "../../features/external-ports/rules/external-port.ts";
import { startController, type TestController } from "../lab/controller.ts";
import { applyObjects, objectsOf } from "../lab/kube/apply.ts";
import { type ApiServer, startApiServer } from "../lab/kube/api-server.ts";
import { kubeApi } from "../lab/kube/binaries.ts";
import { networkRequests } from "../lab/kube/network-requests.ts";
import { type FaultProxy, type LateRequest, startFaultProxy } from "../lab/neutron/fault-proxy.ts";
import { type Neutron, type NeutronObject, startNeutron } from "../lab/neutron/neutron.ts";
import { missingNeutron } from "../lab/neutron/packages.ts";
import { missing, privateNamespaces } from "../lab/requires.ts";
import type { Stage } from "../lab/stage.ts";
import { missingForKube, openNodeStage } from "../lab/kube/node.ts";
import { fabricComponents, type FabricPod, fabricPlugin, openFabricNode } from "./fabric-node.ts";

/** The node of `ApiServer.pod`. */
const nodeName = "node";
const password = "the password of the test";
const kuryr = (config: object): Record<string, string> => ({ "openstack.org/kuryr-config": JSON.stringify(config) });

interface Port {
  readonly metadata: { readonly finalizers?: readonly string[] };
  readonly status?: {
    readonly providerId?: string;
    readonly mac?: string;
    readonly addresses?: readonly { readonly address: string; readonly gateway?: string }[];
    readonly mtu?: number;
    readonly binding?: { readonly type: string; readonly interfaceId?: string; readonly vlan?: number };
    readonly conditions?: readonly {
      readonly type: string;
      readonly status: string;
      readonly reason: string;
      readonly message: string;
    }[];
  };
}

type PortCondition = NonNullable<NonNullable<Port["status"]>["conditions"]>[number];

function ready(port: Port | undefined): PortCondition | undefined {
  return port?.status?.conditions?.find(({ type }) => type === "Ready");
}

const canPlug = !missingForKube("pods on ports of OVN");

function directRequest(uid: string): PortRequest {
  const pod = { namespace: "shop", name: "web", uid };
  return { key: `shop/${uid}-0`, pod, nodeName, parameters: {}, requested: {} };
}

/** The ports of the key in the provider's list, from which the look for orphans begins. */
async function ownedPorts(provider: PortProvider, { key }: PortRequest): Promise<readonly string[]> {
  const listed = await provider.list();
  if (!listed.ok) throw new Error(listed.message);
  return listed.value.flatMap((port) => (port.key === key ? [port.providerId] : [])).toSorted();
}

/** Makes ports until Neutron refuses one; answers their IDs and the refusal. */
async function fillQuota(
  neutron: Neutron,
  network: string,
): Promise<{ readonly ids: readonly string[]; readonly refusal: string }> {
  const ids: string[] = [];
  for (;;) {
    const made = await neutron.request("POST", "/ports", { port: { network_id: network, name: "filler" } }).catch(String);
    if (typeof made === "string") return { ids, refusal: made };
    ids.push(made.port.id);
  }
}

/** Beside another cluster, Neutron may answer no request for two minutes after it was asked to delete a bound port. */
const neutronMs = 240_000;

describe.skipIf(missing("ExternalPorts with Neutron", privateNamespaces, kubeApi, missingNeutron))(
  "plexus-controller with Neutron",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "plexus-ports-"));
    let api: ApiServer;
    let objects: ApiObjects;
    let neutron: Neutron;
    let proxy: FaultProxy;
    let controller: TestController;
    let network: string;
    let subnet: string;
    let replicas = 0;
    let stage: Stage | undefined;

    /** Writes the settings of the next controller. */
    const configure = (ahead: readonly object[] = []): void => {
      const passwordFile = join(directory, "password");
      const settings = {
        url: proxy.url,
        auth: { type: "password", url: proxy.url, user: "plexus", passwordFile, project: "pods" },
        podSubnet: subnet,
        subnetMapping: { fast: subnet },
        driverAliases: { fast: "neutron-vif" },
        portSecurity: false,
        ahead,
      };
      const providers = [{ name: "neutron", type: "neutron", namespaces: ["shop"], owner: "test", neutron: settings }];
      const written = { annotation: true, kuryrPorts: true };
      writeFileSync(join(directory, "providers.yaml"), JSON.stringify({ providers, kuryr: written }));
    };
    const start = async (): Promise<void> => {
      const identity = `ports-${replicas++}`;
      // A Lease of its own: no replica waits for the end of its killed predecessor's.
      controller = await startController({
        identity,
        kubeconfig: api.adminKubeconfig,
        args: ["--lease-name", identity, "--external-ports", join(directory, "providers.yaml")],
      });
    };
    const portOf = async (uid: string, index = 0): Promise<Port | undefined> => {
      const answer = await objects.get(`/apis/plexus.dev/v1alpha1/namespaces/shop/externalports/${externalPortName(uid, index)}`);
      return answer.kind === "object" ? (answer.object as unknown as Port) : undefined;
    };
    const soon = <T>(check: () => Promise<T>): Promise<T> =>
      vi.waitFor(check, { timeout: neutronMs, interval: 100 }).catch((error: unknown) => {
        throw new Error(`${String(error)}\n${controller.stderr()}`, { cause: error });
      });
    const readyPort = (uid: string): Promise<Port> =>
      soon(async () => {
        const port = await portOf(uid);
        expect(ready(port)).toMatchObject({ status: "True" });
        return port as Port;
      });
    /** A provider in this process, whose ports are not the controller's. */
    const directProvider = (): PortProvider => {
      const auth = {
        type: "password",
        url: proxy.url,
        user: "plexus",
        passwordFile: join(directory, "password"),
        project: "pods",
      };
      return neutronProvider(neutronSettings.parse({ url: proxy.url, auth, podSubnet: subnet, portSecurity: false }), "direct");
    };
    const directPorts = async ({ key }: PortRequest): Promise<readonly string[]> =>
      (await neutron.request("GET", `/ports?name=plexus:direct:${key}`)).ports.map(({ id }) => id).toSorted();
    /** Faults of the next creations of a port; undefined lets a creation through. */
    const faultCreations = (...faults: readonly (LateRequest | "hang up after" | undefined)[]): void => {
      const left = [...faults];
      proxy.fault = (each) => (each.startsWith("POST /v2.0/ports") ? left.shift() : undefined);
    };
    const ownPorts = async (): Promise<readonly NeutronObject[]> =>
      (await neutron.request("GET", "/ports?tags=plexus-owner:test")).ports;

    const freePorts = async (): Promise<readonly string[]> =>
      (await neutron.request("GET", "/ports?name=plexus:test:free")).ports.map(({ id }) => id);
    /** Requests so far that ask whether the fabric forwards. */
    const looks = (): number => proxy.requests.filter((each) => each.endsWith("?fields=status")).length;

    beforeAll(async () => {
      if (canPlug) stage = openNodeStage([], fabricComponents);
      [api, neutron] = await Promise.all([
        startApiServer({ alsoAllowed: [...networkRequests, ...portRequests] }),
        startNeutron({ name: nodeName, netns: stage?.node.path }),
      ]);
      proxy = await startFaultProxy(neutron.url, { secret: password });
      objects = objectsOf(api.adminKubeconfig);
      await applyObjects(objects, "deploy/helm/plexus/files/external-ports.yaml");
      network = (await neutron.request("POST", "/networks", { network: { name: "pods" } })).network.id;
      // Neutron chooses addresses at random from the pool. A pod that asks for an address takes one that is not in the pool.
      const pools = [{ start: "10.9.0.100", end: "10.9.0.250" }];
      const body = { network_id: network, ip_version: 4, cidr: "10.9.0.0/24", allocation_pools: pools, enable_dhcp: false };
      subnet = (await neutron.request("POST", "/subnets", { subnet: body })).subnet.id;
      writeFileSync(join(directory, "password"), `${password}\n`);
      configure();
      await api.network("shop", "fabric", [{ type: "external-port" }], kuryr({ subnetId: subnet }));
      await start();
    });
    afterEach(() => {
      proxy.fault = () => undefined;
    });
    afterAll(async () => {
      await controller?.kill();
      objects?.close();
      proxy?.dispose();
      await Promise.all([api?.dispose(), neutron?.dispose()]);
      stage?.dispose();
      rmSync(directory, { recursive: true, force: true });
    });

    test("KU-02 KU-07 KU-14 makes a port for a pod on a node, says what to plug, and releases it when the pod is gone", async () => {
      const { uid } = await api.pod("shop", "web", "fabric");
      const port = await readyPort(uid);
      const [made] = await ownPorts();
      expect(made).toMatchObject({
        name: `plexus:test:shop/${externalPortName(uid, 0)}`,
        "binding:host_id": nodeName,
        device_owner: "compute:plexus",
      });
      expect(port.status).toMatchObject({
        providerId: made?.id,
        mac: made?.mac_address,
        addresses: [{ address: `${made?.fixed_ips[0]?.ip_address}/24`, gateway: "10.9.0.1" }],
        binding: { type: "ovs", interfaceId: made?.id },
      });
      expect(port.status?.mtu).toBeGreaterThan(1200);
      expect(port.metadata.finalizers).toEqual(["plexus.dev/external-port"]);
      await api.deletePod("shop", "web");
      await soon(async () => expect(await portOf(uid)).toBeUndefined());
      expect(await ownPorts()).toEqual([]);
    });

    test("KU-05 KU-08 KU-09 a pod's networks have their own subnet or driver; other networks need no port", async () => {
      await api.network("shop", "plain", [{ type: "bridge" }]);
      await api.network("shop", "default-subnet", [{ type: "external-port" }], kuryr({}));
      await api.network("shop", "by-driver", [{ type: "external-port" }], kuryr({ driverType: "fast" }));
      const { uid } = await api.pod("shop", "many", "plain,default-subnet,by-driver");
      for (const index of [1, 2])
        await soon(async () => expect(ready(await portOf(uid, index))).toMatchObject({ status: "True" }));
      expect(await portOf(uid, 0)).toBeUndefined();
      await api.deletePod("shop", "many");
      await soon(async () => expect(await ownPorts()).toEqual([]));
    });

    test.each([
      ["an unknown subnet", kuryr({ subnetId: "00000000-0000-0000-0000-000000000000" }), "Invalid", /Neutron answers HTTP 404/],
      ["an unknown driver", kuryr({ driverType: "sriov" }), "Invalid", /driverType "sriov" is none of/],
      [
        "an unknown provider",
        { "plexus.dev/external-port": '{"provider":"elsewhere"}' },
        "Invalid",
        /provider "elsewhere" is not in/,
      ],
    ])("KU-18 KU-22 %s stands in the port's condition and in the pod's Events", async (_, annotations, reason, message) => {
      await api.network("shop", "wrong", [{ type: "external-port" }], annotations);
      const pod = await api.pod("shop", "unlucky", "wrong");
      await soon(async () =>
        expect(ready(await portOf(pod.uid))).toMatchObject({ status: "False", reason, message: expect.stringMatching(message) }),
      );
      await soon(async () => expect((await api.eventsOf(pod)).join("\n")).toMatch(message));
      await api.deletePod("shop", "unlucky");
      await soon(async () => expect(await portOf(pod.uid)).toBeUndefined());
    });

    test("a definition of another namespace may not use the provider", async () => {
      await api.network("elsewhere", "fabric", [{ type: "external-port" }], kuryr({ subnetId: subnet }));
      const pod = await api.pod("shop", "guest", "elsewhere/fabric");
      await soon(async () =>
        expect(ready(await portOf(pod.uid))).toMatchObject({
          reason: "Invalid",
          message: expect.stringContaining("may not use provider"),
        }),
      );
      expect(await ownPorts()).toEqual([]);
      await api.deletePod("shop", "guest");
    });

    test("KU-04 a requested address that another port has is refused; a free one is given", async () => {
      const free = await api.pod("shop", "first", [{ name: "fabric", ips: ["10.9.0.77"], mac: "02:00:00:00:00:77" }]);
      expect((await readyPort(free.uid)).status).toMatchObject({
        mac: "02:00:00:00:00:77",
        addresses: [{ address: "10.9.0.77/24" }],
      });
      const taken = await api.pod("shop", "second", [{ name: "fabric", ips: ["10.9.0.77"] }]);
      await soon(async () =>
        expect(ready(await portOf(taken.uid))).toMatchObject({
          reason: "Refused",
          message: expect.stringContaining("IpAddressAlreadyAllocated"),
        }),
      );
      await Promise.all(["first", "second"].map((name) => api.deletePod("shop", name)));
      await soon(async () => expect(await ownPorts()).toEqual([]));
    });

    test("subports of the node's trunk have VLANs of their own, and leave the trunk when their pods are gone", async () => {
      const parent = (await neutron.request("POST", "/ports", { port: { network_id: network, name: nodeName } })).port.id;
      const trunk = (await neutron.request("POST", "/trunks", { trunk: { port_id: parent } })).trunk.id;
      await api.network("shop", "nested", [{ type: "external-port" }], kuryr({ subnetId: subnet, driverType: "nested-vlan" }));
      const pods = await Promise.all(["nested-1", "nested-2"].map((name) => api.pod("shop", name, "nested")));
      const ports = await Promise.all(pods.map(({ uid }) => readyPort(uid)));
      expect(ports.map(({ status }) => status?.binding?.vlan).toSorted()).toEqual([1, 2]);
      const { sub_ports: subports } = (await neutron.request("GET", `/trunks/${trunk}`)).trunk;
      expect(subports.map((each) => [each.port_id, each.segmentation_id])).toEqual(
        expect.arrayContaining(ports.map(({ status }) => [status?.providerId, status?.binding?.vlan])),
      );
      await Promise.all(["nested-1", "nested-2"].map((name) => api.deletePod("shop", name)));
      await soon(async () => expect(await ownPorts()).toEqual([]));
      expect((await neutron.request("GET", `/trunks/${trunk}`)).trunk.sub_ports).toEqual([]);
      await neutron.request("DELETE", `/trunks/${trunk}`);
      await neutron.request("DELETE", `/ports/${parent}`);
    });

    test("a pod is refused while two trunks have parent ports of its node's name, and gets its VLAN when one is renamed", async () => {
      const namedPort = async (): Promise<string> =>
        (await neutron.request("POST", "/ports", { port: { network_id: network, name: nodeName } })).port.id;
      const parents = [await namedPort(), await namedPort()];
      // A port without a trunk is no candidate.
      const plain = await namedPort();
      const trunks: string[] = [];
      for (const parent of parents)
        trunks.push((await neutron.request("POST", "/trunks", { trunk: { port_id: parent } })).trunk.id);
      await api.network("shop", "ambiguous", [{ type: "external-port" }], kuryr({ driverType: "nested-vlan" }));
      const pod = await api.pod("shop", "between", "ambiguous");
      await soon(async () => expect(ready(await portOf(pod.uid))).toMatchObject({ status: "False", reason: "Refused" }));
      const message = ready(await portOf(pod.uid))?.message;
      for (const [index, trunk] of trunks.entries()) expect(message).toContain(`"${trunk}" of port "${parents[index]}"`);
      expect(message).toMatch(/ of node node: .* give the parent ports of other machines another name$/);
      await neutron.request("PUT", `/ports/${parents[1]}`, { port: { name: "another machine" } });
      const { status } = await readyPort(pod.uid);
      expect(status?.binding).toEqual({ type: "vlan", vlan: 1 });
      const subports = async (trunk = ""): Promise<readonly string[]> =>
        (await neutron.request("GET", `/trunks/${trunk}`)).trunk.sub_ports.map(({ port_id: id }) => id);
      expect([await subports(trunks[0]), await subports(trunks[1])]).toEqual([[status?.providerId], []]);
      await api.deletePod("shop", "between");
      await soon(async () => expect(await ownPorts()).toEqual([]));
      for (const trunk of trunks) await neutron.request("DELETE", `/trunks/${trunk}`);
      for (const port of [...parents, plain]) await neutron.request("DELETE", `/ports/${port}`);
    });

    test("a quota that is full is QuotaExceeded, and the port is made once there is room", async () => {
      const { ids, refusal } = await fillQuota(neutron, network);
      expect(refusal).toContain("OverQuota");
      const pod = await api.pod("shop", "one-more", "fabric");
      await soon(async () => expect(ready(await portOf(pod.uid))).toMatchObject({ reason: "QuotaExceeded" }));
      expect((await api.eventsOf(pod)).join("\n")).toContain("QuotaExceeded");
      await Promise.all(ids.map((id) => neutron.request("DELETE", `/ports/${id}`)));
      await readyPort(pod.uid);
      await api.deletePod("shop", "one-more");
      await soon(async () => expect(await ownPorts()).toEqual([]));
    });

    test("an expired token is renewed once, and a wrong answer of HTTP 503 is tried again", async () => {
      const before = proxy.tokens.length;
      proxy.expireTokens();
      let failures = 2;
      proxy.fault = (request) => (request.startsWith("POST /v2.0/ports") && failures-- > 0 ? { status: 503 } : undefined);
      const pod = await api.pod("shop", "patient", "fabric");
      await readyPort(pod.uid);
      expect(proxy.tokens.length).toBe(before + 1);
      await api.deletePod("shop", "patient");
      await soon(async () => expect(await ownPorts()).toEqual([]));
    });

    test("a port whose creation was not answered is found again, not made twice", async () => {
      let cut = true;
      proxy.fault = (request) => {
        if (!cut || !request.startsWith("POST /v2.0/ports")) return undefined;
        cut = false;
        return "hang up after";
      };
      const pod = await api.pod("shop", "cut", "fabric");
      await readyPort(pod.uid);
      // By the name: a port whose creation was not answered has no tag.
      const named = await neutron.request("GET", `/ports?name=plexus:test:shop/${externalPortName(pod.uid, 0)}`);
      expect(named.ports).toHaveLength(1);
      await api.deletePod("shop", "cut");
      await soon(async () => expect(await ownPorts()).toEqual([]));
    });

    test("ensures of one key at the same time make one port, and a release among them leaves none", async () => {
      const provider = directProvider();
      const wanted = directRequest("at-once");
      const made = await Promise.all([1, 2, 3].map(() => provider.ensure(wanted)));
      const ids = await directPorts(wanted);
      expect(ids).toHaveLength(1);
      expect(made).toMatchObject(made.map(() => ({ ok: true, value: { providerId: ids[0] } })));
      const other = directRequest("come-and-gone");
      const [, released] = await Promise.all([
        provider.ensure(other),
        provider.release({ key: other.key, providerId: "" }),
        provider.release({ key: wanted.key, providerId: ids[0] ?? "" }),
      ]);
      expect(released).toMatchObject({ ok: true });
      expect([await directPorts(wanted), await directPorts(other)]).toEqual([[], []]);
    });

    test("a port that Neutron makes after its request was given up is found by the look for orphans once its pod is gone", async () => {
      const provider = directProvider();
      const wanted = directRequest("late");
      const answered = Promise.withResolvers<void>();
      faultCreations({ sentAfter: answered.promise });
      expect(await provider.ensure(wanted)).toMatchObject({ ok: false, reason: "unavailable" });
      const made = await provider.ensure(wanted);
      const providerId = made.ok ? made.value.providerId : "";
      answered.resolve();
      await soon(async () => expect(await directPorts(wanted)).toHaveLength(2));
      const late = (await directPorts(wanted)).find((id) => id !== providerId) ?? "";
      expect(await provider.release({ key: wanted.key, providerId })).toMatchObject({ ok: true });
      expect(await ownedPorts(provider, wanted)).toEqual([late]);
      expect(await provider.release({ key: wanted.key, providerId: late })).toMatchObject({ ok: true });
      expect(await directPorts(wanted)).toEqual([]);
    });

    test("of two ports of one key that Neutron made without an answer, one is taken and both are found by the look for orphans", async () => {
      const provider = directProvider();
      const wanted = directRequest("twice");
      const answered = Promise.withResolvers<void>();
      faultCreations({ sentAfter: answered.promise }, "hang up after");
      for (const _ of [1, 2]) expect(await provider.ensure(wanted)).toMatchObject({ ok: false, reason: "unavailable" });
      answered.resolve();
      await soon(async () => expect(await directPorts(wanted)).toHaveLength(2));
      const [taken = "", orphan = ""] = await directPorts(wanted);
      expect(await provider.ensure(wanted)).toMatchObject({ ok: true, value: { providerId: taken } });
      expect(await ownedPorts(provider, wanted)).toEqual([taken, orphan]);
      expect(await provider.release({ key: wanted.key, providerId: orphan })).toMatchObject({ ok: true });
      expect(await directPorts(wanted)).toEqual([taken]);
      expect(await provider.release({ key: wanted.key, providerId: taken })).toMatchObject({ ok: true });
    });

    test("a controller killed at each of its requests leaves one port for the pod, and none when the pod is gone", async () => {
      /**
       * For each of these requests: starts a controller, and kills it when Neutron has done the request and the controller has no answer. Later requests of
       * the list do not reach Neutron.
       */
      const killAtEach = async (requests: readonly RegExp[]): Promise<void> => {
        for (const [index, last] of requests.entries()) {
          const reached = Promise.withResolvers<void>();
          proxy.fault = (request) => {
            if (last.test(request)) return "hang up after";
            return requests.slice(index + 1).some((later) => later.test(request)) ? { status: 503 } : undefined;
          };
          proxy.after = (request) => {
            if (last.test(request)) reached.resolve();
          };
          await start();
          const timer = setTimeout(() => reached.reject(new Error(`no request ${last}\n${controller.stderr()}`)), 60_000);
          await reached.promise.finally(() => clearTimeout(timer));
          await controller.kill();
        }
        proxy.fault = () => undefined;
        proxy.after = () => undefined;
      };
      await controller.kill();
      const pod = await api.pod("shop", "killed", "fabric");
      const begin = [/^GET .*\/ports\?name=plexus%3Atest%3Afree/, /^GET .*\/ports\?tags=plexus-owner/];
      const find = /^GET .*\/ports\?name=plexus%3Atest%3Ashop/;
      await killAtEach([
        ...begin,
        /^GET .*\/subnets\//,
        find,
        /^POST .*\/ports$/,
        /^PUT .*\/ports\/.*\/tags\//,
        /^GET .*\/networks\//,
      ]);
      await start();
      await readyPort(pod.uid);
      expect((await ownPorts()).map(({ name }) => name)).toEqual([`plexus:test:shop/${externalPortName(pod.uid, 0)}`]);
      await controller.kill();
      await api.deletePod("shop", "killed");
      await killAtEach([...begin, find, /^DELETE .*\/ports\//]);
      // The last controller has not learned that the port is gone.
      expect(await ownPorts()).toEqual([]);
      expect(await portOf(pod.uid)).toBeDefined();
      await start();
      await soon(async () => expect(await portOf(pod.uid)).toBeUndefined());
      expect(await ownPorts()).toEqual([]);
    }, 300_000);

    test("the port of a pod that is deleted before the fabric forwards is released, with no look at it left", async () => {
      const pod = await api.pod("shop", "hasty", "fabric");
      await readyPort(pod.uid);
      await soon(async () => expect(looks()).toBeGreaterThan(0));
      expect((await portOf(pod.uid))?.status?.conditions?.some(({ type }) => type === "Active")).toBe(false);
      await api.deletePod("shop", "hasty");
      await soon(async () => expect(await portOf(pod.uid)).toBeUndefined());
      expect(await ownPorts()).toEqual([]);
      const before = looks();
      await new Promise((resolve) => setTimeout(resolve, 600));
      expect(looks()).toBe(before);
    });

    test.skipIf(!canPlug)(
      "KU-20 two pods on ports that Plexus plugs ping each other over OVN, and DEL frees the ports",
      { timeout: 900_000 },
      async () => {
        const node = openFabricNode(stage as Stage, api, neutron);
        await api.network("shop", "ovn", [fabricPlugin], kuryr({ subnetId: subnet }));
        const before = node.left();
        const plug = (name: string): Promise<FabricPod> =>
          node.plug(name, "ovn", async (uid) => (await readyPort(uid)).status ?? {});
        const [ping, pong] = [await plug("ping"), await plug("pong")];
        await vi.waitFor(() => expect(ping.attaching.pod.ping(pong.address)).toBe(true), { timeout: 180_000 });
        expect(pong.attaching.pod.ping(ping.address)).toBe(true);
        expect(node.ports()).toHaveLength(2);
        for (const { attaching, uid } of [ping, pong]) {
          await node.succeed("CHECK", attaching);
          await soon(async () =>
            expect((await portOf(uid))?.status?.conditions).toContainEqual(
              expect.objectContaining({ type: "Active", status: "True" }),
            ),
          );
        }
        for (const { attaching } of [ping, pong]) await node.succeed("DEL", attaching);
        expect(node.ports()).toEqual([]);
        expect(node.left()).toEqual(before);
        await Promise.all(["ping", "pong"].map((name) => api.deletePod("shop", name)));
        await soon(async () => expect(await ownPorts()).toEqual([]));
      },
    );

    test("KU-12 the pod's annotation has the port for readers of Kuryr's form, and a KuryrPort that has no definition is told once", async () => {
      const { uid } = await api.pod("shop", "read", "fabric");
      const id = (await readyPort(uid)).status?.providerId;
      await soon(async () => {
        const written = JSON.stringify(await objects.get("/api/v1/namespaces/shop/pods/read")).replaceAll("\\", "");
        expect(written).toContain(`"interface_id":"${id}"`);
        expect(controller.stderr().split("the API has no kuryrports.openstack.org")).toHaveLength(2);
      });
      await api.deletePod("shop", "read");
      await soon(async () => expect(await ownPorts()).toEqual([]));
    });

    test("ports made ahead are for pods, stop at a full quota with an Event, and go when they are switched off", async () => {
      await controller.kill();
      // The quota has four more ports, so the pool gets as many as fit by halves.
      const { ids } = await fillQuota(neutron, network);
      await Promise.all(ids.slice(-4).map((id) => neutron.request("DELETE", `/ports/${id}`)));
      configure([{ subnet, min: 1, max: 8 }]);
      await start();
      await soon(async () => {
        const events = JSON.stringify(await objects.list("/api/v1/events", { fieldSelector: "involvedObject.kind=Lease" }));
        expect(events).toContain("PortsAheadQuotaExceeded");
      });
      const before = await freePorts();
      expect(before).toHaveLength(4);
      const pod = await api.pod("shop", "quick", "fabric");
      expect(before).toContain((await readyPort(pod.uid)).status?.providerId);
      await soon(async () =>
        expect((await controller.page("/metrics")).body).toMatch(/^plexus_controller_ports_ahead\{.*\} 3$/m),
      );
      // A killed controller's pool is its successor's.
      await controller.kill();
      configure();
      await start();
      await soon(async () => expect(await freePorts()).toEqual([]));
      expect(await ownPorts()).toHaveLength(1);
      await Promise.all(ids.slice(0, -4).map((id) => neutron.request("DELETE", `/ports/${id}`)));
      await api.deletePod("shop", "quick");
      await soon(async () => expect(await ownPorts()).toEqual([]));
    });

    test("KU-17 an object that somebody deletes keeps its port until the pod is gone", async () => {
      const pod = await api.pod("shop", "kept", "fabric");
      await readyPort(pod.uid);
      await objects.remove(`/apis/plexus.dev/v1alpha1/namespaces/shop/externalports/${externalPortName(pod.uid, 0)}`);
      await soon(async () => expect((await api.eventsOf(pod)).join("\n")).toContain("NoExternalPort"));
      expect(await ownPorts()).toHaveLength(1);
      await api.deletePod("shop", "kept");
      await soon(async () => expect(await ownPorts()).toEqual([]));
    });

    test("a port of this owner without an ExternalPort is released; ports of others stay", async () => {
      const make = async (name: string, tags: readonly string[]): Promise<void> => {
        const { port } = await neutron.request("POST", "/ports", { port: { network_id: network, name } });
        await neutron.request("PUT", `/ports/${port.id}/tags`, { tags });
      };
      await make("plexus:test:shop/00000000-0000-0000-0000-000000000000-0", ["plexus-owner:test"]);
      await make("plexus:other:shop/00000000-0000-0000-0000-000000000000-0", ["plexus-owner:other"]);
      await make("a machine", []);
      await controller.kill();
      await start();
      await soon(async () => expect(await ownPorts()).toEqual([]));
      const { ports } = await neutron.request("GET", "/ports");
      expect(
        ports
          .map(({ name }) => name)
          .filter((name) => name !== "")
          .toSorted(),
      ).toEqual(["a machine", "plexus:other:shop/00000000-0000-0000-0000-000000000000-0"]);
    });
  },
);

const portRequests = ["externalports", "externalports/status", "events", "kuryrports"].flatMap((resource) =>
  ["get", "list", "watch", "create", "update", "patch", "delete"].map((verb) => `${verb} ${resource}`),
);
