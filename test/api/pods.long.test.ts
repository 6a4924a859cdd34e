// Pods and networks of a real API server through the installed binary: attachment, status, events and deletion.

import { createServer } from "node:net";
import { join } from "node:path";

import type { KubernetesObject } from "@kubernetes/client-node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { NetworkApiClient } from "../../features/network-api/server/rpc-client.ts";
import { listedNetworks } from "../../features/network-api/rules/network-file.ts";
import { type ApiServer, type CreatedPod, plexusUser } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { installRecorder } from "../lab/recorder.ts";
import { root } from "../lab/compiled.ts";
import { applyFile } from "../lab/kube/admin.ts";
import { startDaemon } from "../lab/daemon.ts";
import { startAgent } from "../lab/agent.ts";
import { nothing } from "../lab/stage.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";

describe.skipIf(missingForKube("pods of a Kubernetes API"))("pods of a Kubernetes API", () => {
  let api: ApiServer;
  let node: Node;
  beforeAll(async () => {
    api = await sharedApiServer();
  });
  afterAll(() => api?.dispose());
  beforeEach(async () => {
    node = openNode(api);
    await api.network("shop", "storage", [node.bridge("storage", "10.20.0.0/24")]);
    await api.network("shop", "uplink", [
      { type: "ptp", ipam: { type: "host-local", subnet: "10.30.0.0/24", dataDir: node.leases } },
    ]);
  });
  afterEach(async () => {
    node.dispose();
    for (const name of ["web", "db"]) await api.deletePod("shop", name).catch(() => undefined);
  });

  /** Requests of Plexus to the server while `act` ran, as `verb resource`. */
  const requestsDuring = async (act: () => Promise<unknown>): Promise<readonly string[]> => {
    const before = api.audit(plexusUser).length;
    await act();
    return api
      .audit(plexusUser)
      .slice(before)
      .map(({ verb, resource }) => `${verb} ${resource}`);
  };
  const untilEvents = async (pod: CreatedPod, count = 2): Promise<readonly string[]> => {
    await expect.poll(async () => (await api.eventsOf(pod)).length).toBeGreaterThanOrEqual(count);
    return api.eventsOf(pod);
  };

  test("ADD reads and attaches a pod's networks and publishes the status; CHECK and DEL send no request", async () => {
    const web = await api.pod("shop", "web", "storage, uplink@up0");
    const attaching = node.attaching(web);
    const requests = await requestsDuring(() => node.succeed("ADD", attaching));
    expect(requests.filter((each) => each !== "create events")).toEqual([
      "get pods",
      "get network-attachment-definitions",
      "get network-attachment-definitions",
      "patch pods/status",
    ]);
    const macs = Object.fromEntries(attaching.pod.links().map(({ name, mac }) => [name, mac]));
    expect(await api.statusOf("shop", "web")).toMatchObject([
      { name: "pods", interface: "eth0", ips: ["10.10.0.2"], mac: macs["eth0"], default: true },
      { name: "shop/storage", interface: "net1", ips: ["10.20.0.2"], mac: macs["net1"] },
      { name: "shop/uplink", interface: "up0", ips: ["10.30.0.2"], mac: macs["up0"] },
    ]);
    expect(await untilEvents(web, 3)).toHaveLength(3);
    expect(await requestsDuring(() => node.succeed("CHECK", attaching))).toEqual([]);
    expect(await requestsDuring(() => node.succeed("DEL", attaching))).toEqual([]);
    expect([attaching.pod.links(), node.left()]).toEqual([[], nothing]);
  });

  test("MA-06 events have Multus' reasons and messages", async () => {
    const web = await api.pod("shop", "web", "storage");
    await node.succeed("ADD", node.attaching(web));
    expect([...(await untilEvents(web))].sort()).toEqual([
      "Normal AddedInterface Add eth0 [10.10.0.2/24] from pods",
      "Normal AddedInterface Add net1 [10.20.0.2/24] from shop/storage",
    ]);
  });

  test("MA-06 an absent network causes one event, however often the call is repeated", async () => {
    const web = await api.pod("shop", "web", "absent");
    for (let call = 0; call < 4; call++) {
      const added = await node.call("ADD", node.attaching(web));
      expect([added.status, added.json]).toMatchObject([1, { code: 7, msg: expect.stringContaining("shop/absent") }]);
    }
    const events = await expect
      .poll(() => api.eventsOf(web))
      .not.toEqual([])
      .then(() => api.eventsOf(web));
    // Two events if a new minute began between the calls.
    expect(events.length).toBeLessThanOrEqual(2);
    expect(events[0]).toMatch(/^Warning NoNetworkFound NetworkAttachmentDefinition shop\/absent is not in the Kubernetes API/);
    expect(await api.statusOf("shop", "web")).toBe(undefined);
  });

  test("MO-03 an absent pod fails ADD with code 11, and nothing is attached", async () => {
    const recorder = installRecorder(node.plexus.cniPath, "main");
    const ghost = { namespace: "shop", name: "ghost", uid: "u", args: "K8S_POD_NAMESPACE=shop;K8S_POD_NAME=ghost;K8S_POD_UID=u" };
    const config = node.network([{ type: "main" }], { kubeconfig: api.plexus });
    const added = await node.call("ADD", { ...node.attaching(ghost), config });
    expect([added.status, added.json]).toMatchObject([1, { code: 11, msg: expect.stringMatching(/pod shop\/ghost/) }]);
    expect([recorder.calls(), node.left()]).toEqual([[], nothing]);
  });

  test("MO-03 a pod that is created during its ADD is attached", async () => {
    const args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web";
    const attaching = node.attaching({ namespace: "shop", name: "web", uid: "", args });
    const before = api.audit(plexusUser).length;
    const adding = node.succeed("ADD", attaching);
    await expect.poll(() => api.audit(plexusUser).slice(before)).toContainEqual(expect.objectContaining({ code: 404 }));
    await api.pod("shop", "web", "storage");
    await adding;
    expect(await api.statusOf("shop", "web")).toMatchObject([{ interface: "eth0" }, { name: "shop/storage" }]);
  });

  test("MO-04 A-15 ADD of a recreated pod's earlier uid is refused", async () => {
    const older = await api.pod("shop", "web", "storage");
    await api.deletePod("shop", "web");
    const newer = await api.pod("shop", "web", "storage");
    const added = await node.call("ADD", node.attaching(older));
    expect([added.status, added.json]).toMatchObject([
      1,
      { code: 11, msg: expect.stringMatching(new RegExp(`shop/web.*${newer.uid}.*${older.uid}`)) },
    ]);
    expect([await api.statusOf("shop", "web"), node.left()]).toEqual([undefined, nothing]);
  });

  test("MO-04 a static pod's uid differs from the API's: ADD uses its mirror pod and publishes the status there", async () => {
    const mirror = await api.pod("shop", "web", "storage", {
      "kubernetes.io/config.source": "file",
      "kubernetes.io/config.mirror": "5f1c",
    });
    await node.succeed("ADD", node.attaching({ ...mirror, args: mirror.args.replace(mirror.uid, "5f1c") }));
    expect(await api.statusOf("shop", "web")).toMatchObject([{ interface: "eth0" }, { name: "shop/storage" }]);
  });

  test("MA-08 the status is published although other writers change the pod continuously", async () => {
    const web = await api.pod("shop", "web", "storage");
    const stopped = new AbortController();
    const writes = new Map<string, number>();
    const writer = async (label: string): Promise<void> => {
      for (let write = 0; !stopped.signal.aborted; write++) {
        writes.set(label, write);
        const metadata = { name: "web", namespace: "shop", labels: { [label]: String(write) } };
        await api.admin.patch(
          { apiVersion: "v1", kind: "Pod", metadata },
          undefined,
          undefined,
          undefined,
          undefined,
          "application/merge-patch+json",
        );
      }
    };
    const writers = ["a", "b", "c", "d"].map(writer);
    const attaching = node.attaching(web);
    // Until each writer has met some of the calls.
    for (let round = 0; round < 5 || Math.min(...writes.values()) <= 5; round++) {
      await node.succeed("ADD", attaching);
      expect(await api.statusOf("shop", "web")).toMatchObject([{ interface: "eth0" }, { name: "shop/storage" }]);
      await node.succeed("DEL", attaching);
    }
    stopped.abort();
    await Promise.all(writers);
  });

  test("MO-05 without the API DEL undoes everything, and ADD waits until the API is back", async () => {
    const [web, db] = [await api.pod("shop", "web", "storage"), await api.pod("shop", "db", "storage")];
    const [gone, late] = [node.attaching(web), node.attaching(db, { kubernetes: { budgetMs: 120_000 } })];
    await node.succeed("ADD", gone);
    await api.stop();
    await node.succeed("DEL", gone);
    expect([gone.pod.links(), node.left()]).toEqual([[], nothing]);
    const attempted = Promise.withResolvers<void>();
    const refusing = createServer((socket) => {
      socket.destroy();
      attempted.resolve();
    });
    await new Promise<void>((resolve) => refusing.listen(api.port, "0.0.0.0", resolve));
    const adding = node.call("ADD", late);
    await attempted.promise;
    await new Promise((resolve) => refusing.close(resolve));
    await api.start();
    expect(await adding).toMatchObject({
      status: 0,
      stderr: expect.stringMatching(/GET .*pods\/db worked after \d+ attempts/),
    });
    expect(await api.statusOf("shop", "db")).toMatchObject([{ interface: "eth0" }, { name: "shop/storage" }]);
  });

  test("MO-02 pods whose ADD runs during a restart of the API server are all attached and get their status", async () => {
    const names = Array.from({ length: 8 }, (_, index) => `many-${index}`);
    const pods = await Promise.all(names.map((name) => api.pod("shop", name, "storage")));
    const attachings = pods.map((pod) => node.attaching(pod, { kubernetes: { budgetMs: 120_000 } }));
    const adding = Promise.all(attachings.map((each) => node.call("ADD", each)));
    await api.stop();
    await api.start();
    const failed = (await adding).filter(({ status }) => status !== 0);
    expect(failed).toEqual([]);
    const addresses: unknown[] = [];
    for (const [index, name] of names.entries()) {
      const podAddresses = attachings[index]?.pod.addresses().map(({ address }) => address.split("/")[0]);
      expect(await api.statusOf("shop", name)).toMatchObject([
        { ips: podAddresses?.slice(0, 1) },
        { name: "shop/storage", ips: podAddresses?.slice(1) },
      ]);
      addresses.push(...(podAddresses ?? []));
    }
    expect(new Set(addresses).size).toBe(16);
    await Promise.all(attachings.map((each) => node.succeed("DEL", each)));
    expect(node.left()).toEqual(nothing);
    for (const name of names) await api.deletePod("shop", name);
  });

  test("a daemon attaches pods and publishes statuses and events, with sequential and concurrent calls", async () => {
    const daemon = await startDaemon({ socket: join(node.plexus.directory, "daemon.sock") });
    const call = async (verb: string, { pod, ...rest }: ReturnType<Node["attaching"]>): Promise<unknown> => {
      const request = { verb, ifname: "eth0", netns: pod.path, env: { PLEXUS_SOCKET: daemon.socket }, ...rest };
      const { status, stdout, stderr } = await node.request(request);
      return { status, error: status === 0 ? "" : stdout, stderr };
    };
    const done = { status: 0, error: "", stderr: "" };
    const pods = await Promise.all(["web", "db"].map((name) => api.pod("shop", name, "storage")));
    const attachings = pods.map((pod) => node.attaching(pod));
    for (let round = 0; round < 2; round++) {
      expect(await Promise.all(attachings.map((each) => call("ADD", each)))).toEqual([done, done]);
      for (const name of ["web", "db"]) {
        expect(await api.statusOf("shop", name)).toMatchObject([{ interface: "eth0" }, { name: "shop/storage" }]);
      }
      for (const each of attachings) expect(await call("DEL", each)).toEqual(done);
    }
    for (const pod of pods) expect((await untilEvents(pod)).length).toBeGreaterThanOrEqual(2);
    expect([await daemon.stop(), node.left()]).toEqual([0, nothing]);
  });

  test("RT-02 a pod whose sandbox ended without a DEL gets an event about the removal of its networks", async () => {
    const args = ["--state-dir", node.plexus.state("cni"), "--reconcile-interval", "1", "--reconcile-grace", "1"];
    const daemon = await startDaemon({ socket: join(node.plexus.directory, "daemon.sock"), args });
    const agent = startAgent({
      command: node.entrance(),
      env: {
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        CNI_PATH: node.plexus.cniPath,
        PLEXUS_SOCKET: daemon.socket,
      },
    });
    const [web, db] = [await api.pod("shop", "web", "storage"), await api.pod("shop", "db", "storage")];
    const [gone, stays] = [node.attaching(web), node.attaching(db)];
    const call = async (verb: string, { pod, ...rest }: ReturnType<Node["attaching"]>): Promise<number> =>
      (await node.request({ verb, ifname: "eth0", netns: pod.path, env: { PLEXUS_SOCKET: daemon.socket }, ...rest })).status;
    expect([await call("ADD", gone), await call("ADD", stays)]).toEqual([0, 0]);
    gone.pod.dispose();
    expect((await untilEvents(web, 3)).filter((event) => !event.includes("AddedInterface"))).toEqual([
      "Normal StaleAttachmentRemoved sandbox ctr-web was removed without a DEL; its networks (default as eth0, shop/storage as net1) were removed",
    ]);
    expect(await call("DEL", stays)).toBe(0);
    expect([await agent.stop(), await daemon.stop(), node.files().leases]).toEqual([0, 0, []]);
  });

  test("the event about networks that could not be removed has no secret of the plugin's configuration", async () => {
    const args = ["--state-dir", node.plexus.state("cni"), "--reconcile-interval", "1", "--reconcile-grace", "1"];
    const daemon = await startDaemon({ socket: join(node.plexus.directory, "daemon.sock"), args });
    const agent = startAgent({
      command: node.entrance(),
      env: { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: node.plexus.cniPath, PLEXUS_SOCKET: daemon.socket },
    });
    const leaky = installRecorder(node.plexus.cniPath, "leaky");
    const msg = "logout from controller with correct horse battery: refused";
    leaky.script("DEL", { exit: 1, stdout: JSON.stringify({ code: 107, msg }), stderr: msg });
    const plugins = [{ type: "leaky", controller: { pwd: "correct horse battery" } }];
    const web = await api.pod("shop", "web");
    const attaching = node.attaching(web, { delegates: [{ cniVersion: "1.0.0", name: "pods", plugins }] });
    // The agent must see the network namespace of another pod, as proof that it would see this pod's.
    const stays = node.attaching(await api.pod("shop", "db"));
    const call = async (verb: string, { pod, ...rest }: ReturnType<Node["attaching"]>): Promise<number> =>
      (await node.request({ verb, ifname: "eth0", netns: pod.path, env: { PLEXUS_SOCKET: daemon.socket }, ...rest })).status;
    expect([await call("ADD", stays), await call("ADD", attaching)]).toEqual([0, 0]);
    attaching.pod.dispose();
    const left = async (): Promise<readonly string[]> =>
      (await api.eventsOf(web)).filter((event) => event.includes("StaleAttachmentLeft"));
    await expect.poll(async () => (await left()).length).toBeGreaterThan(0);
    expect(await left()).toEqual([
      expect.stringMatching(/could not be removed: .*logout from controller with \[redacted\]: refused/),
    ]);
    expect([await call("DEL", stays), await agent.stop(), await daemon.stop()]).toEqual([0, 0, 0]);
    expect([await api.eventsOf(web), daemon.stderr()].join("")).not.toContain("correct horse");
  });

  test("N13-06 an IPAM claim may have any name, an owner and a finalizer; a pod's plugins get its reference", async () => {
    await applyFile(api.admin, join(root, "deploy", "crd-ipamclaims.yaml"));
    const recorder = installRecorder(node.plexus.cniPath, "recorder");
    await api.network("shop", "tenantred", [{ type: "recorder" }]);
    const name = "vm-a.tenantred.pod16367aacb67";
    const vm = await api.pod("shop", "db");
    const claim = {
      apiVersion: "k8s.cni.cncf.io/v1alpha1",
      kind: "IPAMClaim",
      metadata: {
        namespace: "shop",
        name,
        ownerReferences: [
          { apiVersion: "v1", kind: "Pod", name: vm.name, uid: vm.uid, controller: true, blockOwnerDeletion: false },
        ],
        finalizers: ["vm.example/persistent-addresses"],
      },
      spec: { network: "tenantred", interface: "pod16367aacb67" },
    };
    // A new CustomResourceDefinition takes a moment until the server serves it.
    await expect.poll(() => api.admin.create(claim).then(() => "made", String)).toBe("made");
    const read = (): Promise<KubernetesObject> => api.admin.read(claim);
    expect(await read()).toMatchObject(claim);
    const web = await api.pod("shop", "web", [{ name: "tenantred", "ipam-claim-reference": name }]);
    const attaching = node.attaching(web);
    await node.succeed("ADD", attaching);
    expect(JSON.parse(recorder.calls()[0]?.stdin ?? "")).toMatchObject({ args: { cni: { "ipam-claim-reference": name } } });
    await node.succeed("DEL", attaching);
    await api.admin.delete(claim);
    expect((await read()).metadata?.deletionTimestamp).toBeDefined();
    await api.admin.patch(
      { ...claim, metadata: { namespace: "shop", name, finalizers: [] } },
      undefined,
      undefined,
      undefined,
      undefined,
      "application/merge-patch+json",
    );
    await expect.poll(() => read().then(() => "there", String)).toContain("404");
  });

  test("MO-27 all tests of this file sent only requests that the role allows", () => {
    const events = api.audit(plexusUser);
    expect(new Set(events.map(({ verb, resource }) => `${verb} ${resource}`))).toEqual(
      new Set([
        "get pods",
        "get network-attachment-definitions",
        "patch pods/status",
        "create events",
        // Requests of a daemon.
        "list pods",
        "watch pods",
        "list network-attachment-definitions",
        "watch network-attachment-definitions",
      ]),
    );
    expect(events.filter(({ allowed, code }) => !allowed && code !== 403)).toEqual([]);
  });

  test("CR-17: a daemon feeds the definitions of one namespace to a CRI Network API: new, changed and deleted ones", async () => {
    const socket = join(node.plexus.directory, "feed", "network.sock");
    const state = ["--state-dir", node.plexus.state("fed"), "--network-dir", node.plexus.directory];
    const feed = ["--network-socket", socket, "--network-feed", socket, "--network-feed-namespace", "fed"];
    const args = [...state, ...feed, "--kubeconfig", api.plexus];
    const daemon = await startDaemon({
      socket: join(node.plexus.directory, "feed", "plexus.sock"),
      args,
    });
    const client = new NetworkApiClient(socket);
    const fed = async (): Promise<readonly string[]> => {
      const answer = await client.call("ListPodNetwork", { without_status: true });
      const networks = answer.ok ? listedNetworks(answer.value) : [];
      return networks.map(({ metadata, networkName, plugins }) => {
        const types = plugins.map(({ type }) => type).join(",");
        return `${metadata.namespace}/${metadata.name} ${networkName} ${types}`;
      });
    };
    try {
      await api.network("fed", "blue", [{ type: "bridge" }]);
      await api.network("fed", "green", [{ type: "ptp" }]);
      // A definition that cannot be fed does not stop the others.
      const spec = { config: "x".repeat(65_000) };
      const long = {
        apiVersion: "k8s.cni.cncf.io/v1",
        kind: "NetworkAttachmentDefinition",
        metadata: { namespace: "fed", name: "long" },
      };
      await api.admin.create(Object.assign(long, { spec }));
      const both = ["fed/blue blue bridge", "fed/green green ptp"];
      await expect.poll(fed).toEqual(both);
      // An administrator's own network stays.
      const own = {
        metadata: { namespace: "fed", name: "own", generation: 1 },
        cniv1_config: { cni_version: "1.0.0", plugins: [{ type: "dummy" }] },
      };
      expect(await client.call("SetPodNetwork", { config: own })).toMatchObject({ ok: true });
      await api.network("fed", "blue", [{ type: "macvlan", master: "eth0" }]);
      await expect.poll(fed).toContain("fed/blue blue macvlan");
      const apiVersion = "k8s.cni.cncf.io/v1";
      const metadata = { name: "green", namespace: "fed" };
      const green = { apiVersion, kind: "NetworkAttachmentDefinition", metadata };
      // Made anew with another name for CNI, between two looks of the feed.
      await api.admin.delete(green);
      const renamed = { cniVersion: "1.0.0", name: "meadow", plugins: [{ type: "ptp" }] };
      await api.admin.create(Object.assign({ ...green }, { spec: { config: JSON.stringify(renamed) } }));
      await expect.poll(fed).toContain("fed/green meadow ptp");
      await api.admin.delete(green);
      await expect.poll(fed).toEqual(["fed/blue blue macvlan", "fed/own own dummy"]);
      expect(
        daemon
          .stderr()
          .split("\n")
          .filter((line) => line.includes("network feed")),
      ).toEqual([expect.stringContaining("NetworkAttachmentDefinition fed/long has more than 61440 characters")]);
    } finally {
      client.close();
      await daemon.stop();
    }
  });
});
