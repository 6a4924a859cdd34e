// A lost link of a pod of the API: Events, and the condition in the pod's network status, by a confined daemon and an agent on the node.

import { join } from "node:path";
import { PatchStrategy } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { networkStatusAnnotation } from "../../src/npwg/network-status.ts";
import { startAgent, type TestAgent } from "../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { type FaultProxy, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";
import { missing, referencePlugins } from "../lab/requires.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";

const soon = { timeout: 60_000, interval: 100 };

const condition = {
  type: "LinkLost",
  status: "True",
  reason: "down",
  message: "net1 was set down",
  lastTransitionTime: expect.any(String),
};
const isStatusWrite = ({ method, path }: { readonly method: string; readonly path: string }): boolean =>
  method === "PATCH" && path.includes("/status");

const unavailable = missingForKube("lost links with a Kubernetes API") || missing("repairs", referencePlugins("static"));

describe.skipIf(unavailable)("a lost link", () => {
  let api: ApiServer;
  let proxy: FaultProxy;
  let kubeconfig = "";
  let node: Node;
  let daemon: TestDaemon;
  let agent: TestAgent;
  const socket = (): string => join(node.plexus.directory, "daemon", "plexus.sock");
  const start = (): Promise<TestDaemon> =>
    startDaemon({
      socket: socket(),
      args: ["--state-dir", node.plexus.state("cni"), "--node-name", "node", "--kubeconfig", kubeconfig],
    });
  beforeAll(async () => {
    api = await sharedApiServer();
    proxy = await startFaultProxy(api);
    kubeconfig = await proxy.kubeconfig();
    node = openNode(api, undefined, ["static"]);
    daemon = await start();
    const { cniPath } = node.plexus;
    const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: cniPath, PLEXUS_SOCKET: socket() };
    agent = startAgent({ command: node.entrance(), env });
    await api.network("shop", "storage", [node.bridge("storage", "10.20.0.0/24")]);
  });
  afterAll(async () => {
    await agent?.stop();
    await daemon?.stop();
    await proxy?.dispose();
    node?.dispose();
    await api?.dispose();
  });

  /** Attaches a pod with a watched link, in whose namespace commands are executed. */
  async function watched(
    name: string,
    linkWatch: object = {},
  ): Promise<{
    readonly pod: CreatedPod;
    readonly ip: (words: string) => string;
    readonly entry: () => Promise<unknown>;
    readonly del: () => Promise<void>;
  }> {
    const pod = await api.pod("shop", name, "storage");
    const call = node.attaching(pod, { hotPlug: true, linkWatch, kubeconfig });
    expect(await node.requestAt(socket(), "ADD", call)).toMatchObject({ status: 0 });
    const entry = async (): Promise<unknown> => {
      const status = await api.statusOf("shop", name);
      return Array.isArray(status)
        ? status.find((each: unknown) => Reflect.get(Object(each), "interface") === "net1")
        : undefined;
    };
    const del = async (): Promise<void> => expect(await node.requestAt(socket(), "DEL", call)).toMatchObject({ status: 0 });
    return { pod, ip: (words) => call.pod.exec(["ip", ...words.split(" ")]).stdout, entry, del };
  }
  test("WA-01: the pod gets Events and a condition in its network status' own key, which go when the link is mended", async () => {
    const { pod, ip, entry, del } = await watched("watched");
    const events = async (): Promise<readonly string[]> =>
      (await api.eventsOf(pod)).filter((text) => /Interface(?:Lost|Recovered)/u.test(text));
    const before = await entry();
    ip("link set net1 down");
    await expect.poll(entry, soon).toEqual({ ...Object(before), "dev.plexus.condition": condition });
    await expect.poll(events, soon).toEqual(["Warning InterfaceLost net1 was set down"]);
    ip("link set net1 up");
    await expect.poll(entry, soon).toEqual(before);
    await expect.poll(events, soon).toHaveLength(2);
    await del();
  });

  test("WA-01: a condition that the API server refuses is written later, with one Event", async () => {
    const { pod, ip, entry, del } = await watched("refused");
    const before = await entry();
    const refusal = { answer: { status: 403, body: "{}" } };
    let refuses = true;
    proxy.script((request) => (refuses && isStatusWrite(request) ? refusal : undefined));
    ip("link set net1 down");
    await expect.poll(() => daemon.stderr(), soon).toMatch(/link-watch: shop\/refused: .*403/u);
    refuses = false;
    await expect.poll(entry, soon).toEqual({ ...Object(before), "dev.plexus.condition": condition });
    expect((await api.eventsOf(pod)).filter((text) => text.includes("InterfaceLost"))).toHaveLength(1);
    await del();
  });

  test("WA-01: a condition replaces no status that another writer has written meanwhile", async () => {
    const { pod, ip, del } = await watched("meanwhile");
    const status = await api.statusOf("shop", "meanwhile");
    const other = { name: "shop/other", interface: "net2", ips: ["10.40.0.7"], default: false };
    const written = JSON.stringify([...(Array.isArray(status) ? status : []), other]);
    const { namespace, name } = pod;
    const object = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { namespace, name, annotations: { [networkStatusAnnotation]: written } },
    };
    const write = (): Promise<unknown> =>
      api.admin.patch(object, undefined, undefined, undefined, undefined, PatchStrategy.MergePatch);
    proxy.script((request) => (isStatusWrite(request) && request.earlier === 0 ? { first: write } : undefined));
    ip("link set net1 down");
    await expect
      .poll(() => api.statusOf("shop", "meanwhile"), soon)
      .toEqual([expect.anything(), expect.objectContaining({ "dev.plexus.condition": condition }), other]);
    await del();
  });

  test("WA-03: a link that comes back while its repair waits stays as it is", async () => {
    const { pod, ip, entry, del } = await watched("back", { repair: true });
    const before = await entry();
    const indexOf = (): string => ip("-o link show net1").split(" ")[0] ?? "";
    const index = indexOf();
    expect(index).toMatch(/^\d+:$/u);
    // The repair follows once the pod is told.
    proxy.script((request) =>
      isStatusWrite(request) && request.earlier === 0 ? { first: async () => void ip("link set net1 up") } : undefined,
    );
    ip("link set net1 down");
    const events = async (): Promise<readonly string[]> =>
      (await api.eventsOf(pod)).filter((text) => /Interface(?:Lost|Recovered|Repair)/u.test(text));
    // The link has no carrier for a moment when it comes back.
    await expect.poll(events, soon).toContainEqual(expect.stringContaining("InterfaceRecovered"));
    expect((await events()).filter((text) => text.includes("InterfaceRepair"))).toEqual([]);
    await expect.poll(entry, soon).toEqual(before);
    expect(indexOf()).toBe(index);
    await del();
  });

  test("WA-03: a lost link is attached again although the API server takes no report of it", async () => {
    const { ip, entry, del } = await watched("unreported", { repair: true });
    const before = await entry();
    const indexOf = (): string => ip("-o link show net1").split(" ")[0] ?? "";
    const index = indexOf();
    proxy.script((request) => (isStatusWrite(request) ? { answer: { status: 403, body: "{}" } } : undefined));
    ip("link set net1 down");
    await expect.poll(() => [indexOf() === index, ip("-o link show net1 up") === ""], soon).toEqual([false, false]);
    expect(await entry()).toEqual(before);
    proxy.script(() => undefined);
    await del();
  });

  test("WA-01: Events of a link that was lost and came back while the API server was away arrive when it is back", async () => {
    const { pod, ip, entry, del } = await watched("outage");
    const before = await entry();
    const eventWrites = (): number =>
      proxy.seen.filter(({ method, path }) => method === "POST" && path.endsWith("/namespaces/shop/events")).length;
    proxy.script(() => ({ reset: true }));
    proxy.cut();
    const earlier = eventWrites();
    ip("link set net1 down");
    await expect.poll(() => daemon.stderr(), soon).toContain("link-watch: shop/outage: net1 was set down");
    await expect.poll(() => eventWrites() - earlier, soon).toBeGreaterThan(2);
    ip("link set net1 up");
    await expect.poll(() => daemon.stderr(), soon).toContain("link-watch: shop/outage: net1 is as its attachment left it again");
    proxy.script(() => undefined);
    const events = async (): Promise<readonly string[]> =>
      (await api.eventsOf(pod)).filter((text) => /Interface(?:Lost|Recovered)/u.test(text));
    await expect
      .poll(events, soon)
      .toEqual(
        expect.arrayContaining(["Warning InterfaceLost net1 was set down", expect.stringContaining("InterfaceRecovered")]),
      );
    await expect.poll(entry, soon).toEqual(before);
    await del();
  });

  test("WA-01: an Event that waits for the API server when the daemon ends is sent by the next daemon", async () => {
    const { pod, ip, entry, del } = await watched("restart");
    const before = await entry();
    proxy.script(() => ({ reset: true }));
    proxy.cut();
    ip("link set net1 down");
    await expect.poll(() => daemon.stderr(), soon).toContain("link-watch: shop/restart: net1 was set down");
    ip("link set net1 up");
    await expect.poll(() => daemon.stderr(), soon).toContain("link-watch: shop/restart: net1 is as its attachment left it again");
    await daemon.stop();
    expect(daemon.stderr()).toMatch(/\d Events wait for the API server: the next daemon of this state directory sends them/u);
    proxy.script(() => undefined);
    daemon = await start();
    // The link is as before, so that no other daemon tells its loss.
    const events = async (): Promise<readonly string[]> =>
      (await api.eventsOf(pod)).filter((text) => text.includes("InterfaceLost"));
    await expect.poll(events, soon).toEqual(["Warning InterfaceLost net1 was set down"]);
    await expect.poll(entry, soon).toEqual(before);
    await del();
  });

  test("WA-05: a link that was mended while the daemon was away has no condition any more", async () => {
    const { ip, entry, del } = await watched("away");
    const before = await entry();
    ip("link set net1 down");
    await expect.poll(entry, soon).toEqual({ ...Object(before), "dev.plexus.condition": condition });
    await daemon.stop();
    ip("link set net1 up");
    daemon = await start();
    await expect.poll(entry, soon).toEqual(before);
    await del();
  });
});
