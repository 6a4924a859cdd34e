// Networks of running pods follow the annotation at a real API server: a confined daemon that watches its node's pods, and an agent on the node.

import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { startAgent, type TestAgent } from "../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { selectNetworks } from "../lab/kube/annotate.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { type FaultProxy, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import type { PodNamespace } from "../lab/namespaces.ts";
import type { Answer } from "../lab/plexus.ts";
import { type Attaching, nothing } from "../lab/stage.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";

/** The daemon keeps the configuration of the last call for its own calls. */
const nothingButConfiguration = { ...nothing, state: ["configurations/cluster"] };

const soon = { timeout: 60_000, interval: 20 };

describe.skipIf(missingForKube("hot-plug with a Kubernetes API"))("networks of a running pod of the API", () => {
  let api: ApiServer;
  let proxy: FaultProxy;
  let kubeconfig = "";
  let node: Node;
  let daemon: TestDaemon;
  let agent: TestAgent;
  const socket = (): string => join(node.plexus.directory, "daemon", "plexus.sock");
  beforeAll(async () => {
    api = await sharedApiServer();
    proxy = await startFaultProxy(api);
    node = openNode(api);
    kubeconfig = await proxy.kubeconfig();
    daemon = await startDaemon({
      socket: socket(),
      args: ["--state-dir", node.plexus.state("cni"), "--node-name", "node", "--kubeconfig", kubeconfig],
    });
    const { cniPath } = node.plexus;
    const env = {
      PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
      CNI_PATH: cniPath,
      PLEXUS_SOCKET: socket(),
    };
    agent = startAgent({ command: node.entrance(), env });
    for (const name of ["storage", "fast"]) {
      await api.network("shop", name, [node.bridge(name, `10.${name === "fast" ? 30 : 20}.0.0/24`)]);
    }
  });
  afterAll(async () => {
    await agent?.stop();
    await daemon?.stop();
    await proxy?.dispose();
    node?.dispose();
    await api?.dispose();
  });

  type Running = CreatedPod & { readonly call: Attaching & { readonly pod: PodNamespace } };
  const request = (verb: string, { call }: Running): Promise<Answer> => node.requestAt(socket(), verb, call);
  async function running(name: string, selection?: string, hotPlug = true): Promise<Running> {
    const pod = await api.pod("shop", name, selection);
    const each = { ...pod, call: node.attaching(pod, { hotPlug, kubeconfig }) };
    expect(await request("ADD", each)).toMatchObject({ status: 0 });
    return each;
  }
  const expectLinks = ({ call }: Running, ...names: readonly string[]): Promise<void> =>
    expect
      .poll(
        () =>
          call.pod
            .links()
            .map((link) => link.name)
            .toSorted(),
        soon,
      )
      .toEqual(["eth0", ...names].toSorted());
  const expectStatus = ({ namespace, name }: Running, ...names: readonly string[]): Promise<void> =>
    expect
      .poll(async () => {
        const status = await api.statusOf(namespace, name);
        return Array.isArray(status) ? status.map((entry: unknown) => Reflect.get(Object(entry), "interface")) : status;
      }, soon)
      .toEqual(["eth0", ...names]);

  test("the first change of a pod that was attached before the key was on is refused by an Event", async () => {
    // The daemon keeps the configuration of this call, with the key, for its own calls.
    const on = await running("on");
    const pods = [await running("quiet", "storage", false), await running("more", "storage", false)] as const;
    const fewer = await running("fewer", "storage", false);
    const refused = async (pod: Running): Promise<readonly string[]> =>
      (await api.eventsOf(pod)).filter((text) => text.includes("attached before the key hotPlug was switched on"));
    const [quiet, more] = pods;
    await selectNetworks(api, more, "storage,fast");
    // Deselecting all is a change, too.
    await selectNetworks(api, fewer, undefined);
    await expect.poll(() => refused(more), soon).toEqual([expect.stringMatching(/^Warning InterfaceAddFailed /u)]);
    await expect.poll(() => refused(fewer), soon).toEqual([expect.stringMatching(/^Warning InterfaceRemoveFailed /u)]);
    expect(await refused(quiet)).toEqual([]);
    for (const pod of [...pods, fewer]) {
      await expectLinks(pod, "net1");
      expect(await request("DEL", pod)).toMatchObject({ status: 0 });
    }
    expect(await request("DEL", on)).toMatchObject({ status: 0 });
  });

  test("MO-17 N13-03: the annotation's change is followed, with Multus' Events and one new status", async () => {
    const pod = await running("web");
    await selectNetworks(api, pod, "storage,fast");
    await expectLinks(pod, "net1", "net2");
    await expectStatus(pod, "net1", "net2");
    await selectNetworks(api, pod, "fast,absent");
    await expectLinks(pod, "net2");
    await expectStatus(pod, "net2");
    const events = async (): Promise<readonly string[]> =>
      (await api.eventsOf(pod)).map((text) => text.split(" ").slice(0, 3).join(" "));
    await expect
      .poll(events, soon)
      .toEqual(
        expect.arrayContaining([
          "Normal AddedInterface Add",
          "Normal RemovedInterface Remove",
          "Warning InterfaceAddFailed NetworkAttachmentDefinition",
        ]),
      );
    // A pod that the API has forgotten keeps its networks until the runtime's DEL.
    await api.deletePod(pod.namespace, pod.name);
    expect(await request("DEL", pod)).toMatchObject({ status: 0 });
    expect(node.left()).toEqual(nothingButConfiguration);
  });

  test("while the API is away nothing is detached; what changed meanwhile and the status follow when it is back", async () => {
    const pod = await running("api");
    await selectNetworks(api, pod, "storage");
    await expectStatus(pod, "net1");
    // Writes of the status fail, then everything.
    proxy.script(({ method }) => (method === "PATCH" ? { answer: { status: 503 } } : undefined));
    await selectNetworks(api, pod, "storage,fast");
    await expectLinks(pod, "net1", "net2");
    proxy.script(() => ({ reset: true }));
    proxy.cut();
    await selectNetworks(api, pod, "fast");
    await new Promise((resolve) => setTimeout(resolve, 300));
    proxy.script(() => undefined);
    await expectLinks(pod, "net2");
    await expectStatus(pod, "net2");
    await selectNetworks(api, pod, undefined);
    await expectLinks(pod);
    expect(await request("DEL", pod)).toMatchObject({ status: 0 });
    expect(node.left()).toEqual(nothingButConfiguration);
  });
});
