// The CRI Network API with a client in Go, as a container runtime has it: google.golang.org/grpc, and code generated from deploy/proto. The file needs
// no cluster. It runs here because the client's first build takes half a minute.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missingForMixed } from "../lab/mixed-network.ts";
import { openStage, type Stage } from "../lab/stage.ts";
import { startAgent, type TestAgent } from "../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import type { PodNamespace } from "../lab/namespaces.ts";
import { goClient, type GoClient, startGoClient } from "../lab/network-client/go-client.ts";
import { linkType, missing, referencePlugins } from "../lab/requires.ts";

const codes = { invalidArgument: 3, notFound: 5, alreadyExists: 6, resourceExhausted: 8, failedPrecondition: 9 } as const;

const skip =
  missingForMixed("a client in Go of the CRI Network API") ||
  missing("a client in Go of the CRI Network API", goClient, referencePlugins("ptp"), linkType("veth"));

describe.skipIf(skip)("a client in Go of the CRI Network API", () => {
  let stage: Stage;
  let daemon: TestDaemon | undefined;
  let agent: TestAgent;
  let client: GoClient;
  let pod: PodNamespace;
  const directory = (): string => join(stage.plexus.directory, "daemon");

  beforeAll(async () => {
    stage = openStage({ native: ["ptp", "host-local"] });
    const [state, disk] = [join(stage.plexus.directory, "state", "cni"), join(stage.plexus.directory, "net.d")];
    mkdirSync(disk);
    writeFileSync(
      join(disk, "10-disk.conflist"),
      JSON.stringify({ cniVersion: "1.0.0", name: "disk", plugins: [{ type: "ptp" }] }),
    );
    const [socket, networkSocket] = [join(directory(), "plexus.sock"), join(directory(), "network.sock")];
    daemon = await startDaemon({
      socket,
      args: ["--state-dir", state, "--network-socket", networkSocket, "--network-dir", disk, "--grace-ms", "1000"],
    });
    agent = startAgent({
      command: stage.entrance(),
      env: {
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        CNI_PATH: stage.plexus.cniPath,
        PLEXUS_SOCKET: socket,
      },
    });
    pod = stage.pod();
    client = startGoClient(networkSocket);
  });
  afterAll(async () => {
    await client?.close();
    await agent?.stop();
    await daemon?.stop();
    stage?.dispose();
  });

  /** A network of ptp with addresses of this prefix. */
  const network = (name: string, cidr: string, generation = 1) => ({
    config: {
      metadata: { name, generation },
      ip_ranges: [{ cidr }],
      cniv1_config: {
        cni_version: "1.0.0",
        plugins: [
          { type: "ptp", parameters: { ipam: JSON.stringify({ type: "host-local", dataDir: stage.leases }), mtu: "1400" } },
        ],
      },
    },
  });

  const configuration = (): object => stage.host({ name: "go", clusterNetwork: "blue", hotPlug: true });
  const runtimeCall = (verb: string) =>
    stage.request({
      verb,
      containerId: "go1",
      netns: pod.path,
      ifname: "eth0",
      config: configuration(),
      args: "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=u",
      env: { PLEXUS_SOCKET: join(directory(), "plexus.sock") },
    });
  const refused = async (method: string, request: object) => (await client.call(method, request)).error;

  test("CR-01 CR-02 CR-08: sets, lists and watches networks; a refusal has its kind and remedy as ErrorInfo", async () => {
    client.watch();
    await expect.poll(() => client.events.length).toBe(2);
    expect(await client.call("SetPodNetwork", network("blue", "10.81.0.0/24", 3))).toEqual({ response: { warnings: [] } });
    await client.call("SetPodNetwork", network("red", "10.82.0.0/24"));
    expect(await client.call("ListPodNetwork", { without_status: true })).toMatchObject({
      response: {
        networks: [
          { config: { metadata: { name: "_fallback" }, cniv1_config: { network_name: "disk" } }, status: null },
          {
            config: {
              metadata: { name: "blue", namespace: "", uid: "", generation: 3 },
              ip_ranges: [{ cidr: "10.81.0.0/24" }],
              network_type: "CNIv1",
              cniv1_config: {
                network_name: "blue",
                disable_check: false,
                plugins: [{ type: "ptp", parameters: { mtu: "1400" } }],
              },
            },
          },
          { config: { metadata: { name: "red" } } },
        ],
      },
    });
    const older = await refused("SetPodNetwork", network("blue", "10.81.0.0/24", 2));
    expect(older).toEqual({
      code: codes.failedPrecondition,
      message: "network blue has generation 3; generation 2 is older",
      reason: "NETWORK_OUTDATED",
      domain: "plexus.dev",
      metadata: { cni_code: expect.stringMatching(/^\d+$/), details: expect.stringMatching(/\w/) },
    });
    const taken = network("second", "10.83.0.0/24");
    const named = { config: { ...taken.config, cniv1_config: { ...taken.config.cniv1_config, network_name: "blue" } } };
    expect(await refused("SetPodNetwork", named)).toMatchObject({ code: codes.alreadyExists, reason: "NETWORK_NAME_TAKEN" });
    expect(await refused("SetPodNetwork", {})).toMatchObject({ code: codes.invalidArgument, reason: "NETWORK_CONFIG_INVALID" });
    const unknownType = { config: { ...taken.config, network_type: 9 } };
    expect(await refused("SetPodNetwork", unknownType)).toMatchObject({ code: codes.invalidArgument });
    const long = network("long", "10.83.0.0/24");
    const parameters = { text: "x".repeat(1_000_000) };
    const withText = {
      config: { ...long.config, cniv1_config: { cni_version: "1.0.0", plugins: [{ type: "ptp", parameters }] } },
    };
    expect(await refused("SetPodNetwork", withText)).toMatchObject({ code: codes.resourceExhausted, reason: "BOUND_EXCEEDED" });
  });

  test("CR-09 CR-16 CR-19: has networks' status, and attaches, asks and detaches a network of a running sandbox", async () => {
    const statuses = async (): Promise<unknown> => (await client.call("ListPodNetwork", {})).response?.["networks"];
    await expect.poll(async () => JSON.stringify(await statuses())).not.toContain("no agent");
    expect(await statuses()).toMatchObject([
      { config: { metadata: { name: "_fallback" } } },
      { status: { sandbox_management: true, connectivity: true, reason: "" } },
      { status: { sandbox_management: true, connectivity: true, reason: "" } },
    ]);
    expect(await runtimeCall("ADD")).toMatchObject({ status: 0 });
    const eth0 = { ip: "10.81.0.2", network_name: "blue", interface_name: "eth0" };
    const sandbox = { pod_sandbox_id: "go1" };
    expect(await client.call("PodSandboxNetworkStatus", sandbox)).toEqual({ response: { ips: [eth0] } });
    const attach = {
      ...sandbox,
      network: { network_name: "red", interface_name: "data0", parameters: {} },
    };
    // ptp does not honour a request for a hardware address, so the network is detached again.
    const withMac = { ...attach, network: { ...attach.network, parameters: { mac: "02:00:00:00:00:07" } } };
    await expect
      .poll(() => refused("AttachInterface", withMac))
      .toMatchObject({ code: codes.failedPrecondition, reason: "REQUEST_UNMET" });
    expect(pod.links().map(({ name }) => name)).toEqual(["eth0"]);
    const data0 = { ip: "10.82.0.3", network_name: "red", interface_name: "data0" };
    expect(await client.call("AttachInterface", attach)).toEqual({ response: { interface_name: "data0", ips: [data0] } });
    expect(pod.links().map(({ name }) => name)).toEqual(["eth0", "data0"]);
    expect(await client.call("PodSandboxNetworkStatus", sandbox)).toEqual({ response: { ips: [eth0, data0] } });
    expect(await client.call("DetachInterface", { ...sandbox, interface_name: "data0" })).toEqual({ response: {} });
    expect(await client.call("PodSandboxNetworkStatus", sandbox)).toEqual({ response: { ips: [eth0] } });
    expect(await refused("PodSandboxNetworkStatus", { pod_sandbox_id: "none" })).toMatchObject({
      code: codes.notFound,
      reason: "CONTAINER_UNKNOWN",
    });
  });

  test("CR-07: removes networks twice, sees each change, and learns of the daemon's end", async () => {
    for (const name of ["blue", "red", "blue"])
      expect(await client.call("RemovePodNetwork", { metadata: { name } })).toEqual({ response: {} });
    expect(await runtimeCall("DEL")).toMatchObject({ status: 0 });
    const changes = ["ADDED blue", "ADDED red", "REMOVED blue", "REMOVED red"];
    await expect.poll(() => client.events.map((event) => nameOf(event))).toEqual(["ADDED _fallback", "SYNCED", ...changes]);
    await daemon?.stop();
    daemon = undefined;
    await expect.poll(() => client.events.at(-1)).toMatchObject({ error: { code: 14 } });
    expect(await refused("ListPodNetwork", {})).toMatchObject({ code: 14 });
  });
});

/** An event as its type and the network's name. */
function nameOf(event: unknown): string {
  const { type, config } = event as {
    readonly type: string;
    readonly config: { readonly metadata: { readonly name: string } } | null;
  };
  return config === null ? type : `${type} ${config.metadata.name}`;
}
