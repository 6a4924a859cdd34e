// A lost link of a pod of the API: Events, and the condition in the pod's network status, by a confined daemon and an agent on the node.

import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startAgent, type TestAgent } from "../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";

const soon = { timeout: 60_000, interval: 100 };

describe.skipIf(missingForKube("lost links with a Kubernetes API"))("a lost link", () => {
  let api: ApiServer;
  let node: Node;
  let daemon: TestDaemon;
  let agent: TestAgent;
  const socket = (): string => join(node.plexus.directory, "daemon", "plexus.sock");
  beforeAll(async () => {
    api = await sharedApiServer();
    node = openNode(api);
    daemon = await startDaemon({
      socket: socket(),
      args: ["--state-dir", node.plexus.state("cni"), "--node-name", "node", "--kubeconfig", api.plexus],
    });
    const { cniPath } = node.plexus;
    const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: cniPath, PLEXUS_SOCKET: socket() };
    agent = startAgent({ command: node.entrance(), env });
    await api.network("shop", "storage", [node.bridge("storage", "10.20.0.0/24")]);
  });
  afterAll(async () => {
    await agent?.stop();
    await daemon?.stop();
    node?.dispose();
    await api?.dispose();
  });

  test("WA-01: the pod gets Events and a condition in its network status' own key, which go when the link is mended", async () => {
    const pod = await api.pod("shop", "watched", "storage");
    const call = node.attaching(pod, { linkWatch: {} });
    expect(await node.requestAt(socket(), "ADD", call)).toMatchObject({ status: 0 });
    const entry = async (): Promise<unknown> => {
      const status = await api.statusOf("shop", "watched");
      return Array.isArray(status)
        ? status.find((each: unknown) => Reflect.get(Object(each), "interface") === "net1")
        : undefined;
    };
    const events = async (): Promise<readonly string[]> =>
      (await api.eventsOf(pod)).filter((text) => /Interface(?:Lost|Recovered)/u.test(text));
    const before = await entry();
    call.pod.exec(["ip", "link", "set", "net1", "down"]);
    const why = "net1 was set down";
    await expect.poll(entry, soon).toEqual({
      ...Object(before),
      "dev.plexus.condition": {
        type: "LinkLost",
        status: "True",
        reason: "down",
        message: why,
        lastTransitionTime: expect.any(String),
      },
    });
    await expect.poll(events, soon).toEqual([`Warning InterfaceLost ${why}`]);
    call.pod.exec(["ip", "link", "set", "net1", "up"]);
    await expect.poll(entry, soon).toEqual(before);
    await expect.poll(events, soon).toHaveLength(2);
    expect(await node.requestAt(socket(), "DEL", call)).toMatchObject({ status: 0 });
  });
});
