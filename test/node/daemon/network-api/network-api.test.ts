// The CRI Network API of a real daemon: networks that a gRPC client sets are attached to pods by the calls of a runtime.

import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runCommandLine } from "../../../../host/programs/plexusctl/run-command-line.ts";
import { startAgent, type TestAgent } from "../../../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../../../lab/daemon.ts";
import type { PodNamespace } from "../../../lab/namespaces.ts";
import { dist } from "../../../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../../../lab/recorder.ts";
import { linkType, mappedId, missing, referencePlugins } from "../../../lab/requires.ts";
import { missingForMixed } from "../../../lab/mixed-network.ts";
import { nothing, openStage, type Stage } from "../../../lab/stage.ts";
import { connectRaw, type RawClient } from "./raw-client.ts";

const invalidArgument = 3;
const notFound = 5;
const alreadyExists = 6;
const failedPrecondition = 9;

/** A network of the plugin `recorded`, which records its stdin. */
function network(name: string, more: { readonly generation?: number; readonly parameters?: object; readonly uid?: string } = {}) {
  const { generation = 1, parameters = {}, uid = "" } = more;
  return {
    config: {
      metadata: { name, namespace: "", uid, generation },
      ip_ranges: [] as { readonly cidr: string }[],
      network_type: "CNIv1" as string | number,
      cniv1_config: {
        cni_version: "1.0.0",
        network_name: "",
        disable_check: false,
        plugins: [{ type: "recorded", capabilities: [] as string[], parameters }],
      },
    },
  };
}

/** A network of version 1.1.0, which has STATUS, with one plugin. */
function versioned(name: string, type: string) {
  const { config } = network(name);
  const plugins = [{ type, capabilities: [], parameters: {} }];
  return { config: { ...config, cniv1_config: { ...config.cniv1_config, cni_version: "1.1.0", plugins } } };
}

const attach = (parameters: object) =>
  ({ pod_sandbox_id: "running", network: { network_name: "more", interface_name: "data0", parameters } }) as const;

const result = (address: string): string =>
  JSON.stringify({
    cniVersion: "1.0.0",
    interfaces: [{ name: "eth0", sandbox: "/ns" }],
    ips: [{ address, interface: 0 }],
  });

describe.skipIf(
  missingForMixed("the CRI Network API") || missing("the CRI Network API", referencePlugins("ptp"), linkType("veth")),
)("the CRI Network API", () => {
  let stage: Stage;
  let daemon: TestDaemon;
  let agent: TestAgent;
  let client: RawClient;
  let recorded: RecorderPlugin;
  let pod: PodNamespace;
  const directory = (): string => join(stage.plexus.directory, "daemon");
  const socket = (): string => join(directory(), "network.sock");
  const state = (): string => join(stage.plexus.directory, "state", "cni");
  const netDirectory = (): string => join(stage.plexus.directory, "net.d");

  async function start(): Promise<void> {
    daemon = await startDaemon({
      socket: join(directory(), "plexus.sock"),
      args: ["--state-dir", state(), "--network-socket", socket(), "--network-dir", netDirectory(), "--grace-ms", "1000"],
    });
    client = connectRaw(socket());
  }
  beforeAll(async () => {
    stage = openStage({ native: ["ptp", "host-local"] });
    mkdirSync(netDirectory());
    recorded = installRecorder(stage.plexus.cniPath, "recorded");
    recorded.script("ADD", { stdout: result("10.5.0.7/24") });
    pod = stage.pod();
    await start();
    agent = startAgent({
      command: stage.entrance(),
      env: {
        PATH: "/usr/sbin:/usr/bin:/sbin:/bin",
        CNI_PATH: stage.plexus.cniPath,
        PLEXUS_SOCKET: join(directory(), "plexus.sock"),
      },
    });
  });
  afterAll(async () => {
    client.close();
    await agent.stop();
    await daemon.stop();
    stage.dispose();
  });

  const call = (verb: string, containerId: string, config: object, args?: string) =>
    stage.request({
      verb,
      containerId,
      netns: pod.path,
      ifname: "eth0",
      config,
      ...(args === undefined ? {} : { args }),
      env: { PLEXUS_SOCKET: join(directory(), "plexus.sock") },
    });
  const withDefault = (name: string): object => stage.host({ clusterNetwork: name });
  const listed = async (withoutStatus = true): Promise<readonly Record<string, unknown>[]> => {
    const { networks } = await client.call("ListPodNetwork", { without_status: withoutStatus });
    return networks as readonly Record<string, unknown>[];
  };
  const names = async (): Promise<readonly unknown[]> =>
    (await listed()).map(({ config }) => (config as { readonly metadata: { readonly name: string } }).metadata.name);
  const refusal = async (method: string, request: object): Promise<{ readonly code: number; readonly details: string }> => {
    const refused = await client.call(method, request).then(
      () => undefined,
      (error: { readonly code: number; readonly details: string }) => error,
    );
    if (refused === undefined) throw new Error(`${method} was not refused`);
    return refused;
  };

  test("CR-01 CR-05 CR-06 CR-18: without a Kubernetes API a network that a client sets is the default network of the next sandbox, and its parameters are JSON", async () => {
    const parameters = { vlan: "5", text: '"5"', mode: "l2", deep: '{"a":[1,{"b":true}]}' };
    expect(await client.call("SetPodNetwork", network("blue", { parameters }))).toEqual({ warnings: [] });
    const added = await call("ADD", "one", withDefault("blue"));
    expect(added).toMatchObject({ status: 0, json: { ips: [{ address: "10.5.0.7/24" }] } });
    const [step] = recorded.calls();
    expect(JSON.parse(step?.stdin ?? "")).toMatchObject({
      name: "blue",
      cniVersion: "1.0.0",
      type: "recorded",
      vlan: 5,
      text: "5",
      mode: "l2",
      deep: { a: [1, { b: true }] },
    });
  });

  test("CR-16 KE-50: the status of a running sandbox has its addresses with their networks", async () => {
    expect(await client.call("PodSandboxNetworkStatus", { pod_sandbox_id: "one" })).toEqual({
      ips: [{ ip: "10.5.0.7", network_name: "blue", interface_name: "eth0" }],
    });
    expect(await refusal("PodSandboxNetworkStatus", { pod_sandbox_id: "nobody" })).toMatchObject({ code: notFound });
    expect(await refusal("PodSandboxNetworkStatus", { pod_sandbox_id: "../x" })).toMatchObject({ code: invalidArgument });
  });

  test("CR-07: a network is removed while a sandbox uses it; the sandbox's DEL works, and a second removal succeeds", async () => {
    recorded.clear();
    expect(await client.call("RemovePodNetwork", { metadata: { name: "blue" } })).toEqual({});
    expect(await client.call("RemovePodNetwork", { metadata: { name: "blue" } })).toEqual({});
    expect(readdirSync(join(state(), "networks"))).toEqual([]);
    expect(await call("ADD", "two", withDefault("blue"))).toMatchObject({ status: 1, json: { code: 7 } });
    expect(await call("DEL", "one", withDefault("blue"))).toMatchObject({ status: 0 });
    expect(recorded.calls().map(({ env, stdin }) => [env["CNI_COMMAND"], JSON.parse(stdin).vlan])).toEqual([["DEL", 5]]);
  });

  test("CR-02 CR-03: an older generation is refused, an equal one must have equal content, and another uid begins anew", async () => {
    await client.call("SetPodNetwork", network("gens", { generation: 7, uid: "a" }));
    await client.call("SetPodNetwork", network("gens", { generation: 7, uid: "a" }));
    const older = await refusal("SetPodNetwork", network("gens", { generation: 6, uid: "a" }));
    expect(older).toMatchObject({ code: failedPrecondition, details: "network gens has generation 7; generation 6 is older" });
    const other = network("gens", { generation: 7, uid: "a", parameters: { x: "1" } });
    expect(await refusal("SetPodNetwork", other)).toMatchObject({ code: failedPrecondition });
    await client.call("SetPodNetwork", network("gens", { generation: 4_294_967_295, uid: "b" }));
    expect(await refusal("RemovePodNetwork", { metadata: { name: "gens", uid: "a" } })).toMatchObject({
      code: failedPrecondition,
    });
    const found = (await listed()).find(({ config }) => JSON.stringify(config).includes('"gens"'));
    expect(found).toMatchObject({ config: { metadata: { name: "gens", uid: "b", generation: 4_294_967_295 } } });
    await client.call("RemovePodNetwork", { metadata: { name: "gens", uid: "b" } });
  });

  test("CR-04 CR-13: unknown types, the reserved name, Plexus itself, hostile names and sizes are refused with the kind in the details", async () => {
    const base = network("bad");
    const [plugin] = base.config.cniv1_config.plugins;
    const withPlugins = (plugins: readonly object[]) => ({
      config: { ...base.config, cniv1_config: { ...base.config.cniv1_config, plugins } },
    });
    const withParameters = (parameters: object) => withPlugins([{ ...plugin, parameters }]);
    const hostile: readonly object[] = [
      { config: { ...base.config, network_type: 7 } },
      network("_fallback"),
      network("../escape"),
      network("a".repeat(254)),
      { config: { ...base.config, metadata: { name: "x", namespace: "A/b" } } },
      {},
      withPlugins([]),
      withPlugins(Array.from({ length: 33 }, () => plugin ?? {})),
      withPlugins([{ type: "plexus" }]),
      withPlugins([{ type: "../sh" }]),
      withParameters({ delegate: '{"TYPE":"multus"}' }),
      withParameters({ Type: "bridge" }),
      withParameters({ a: "1", A: "2" }),
      withParameters({ x: "[".repeat(40) + "]".repeat(40) }),
      withParameters({ x: '{"a":1,"a":2}' }),
      withParameters({ x: "y".repeat(17_000) }),
      withParameters(Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`k${index}`, "v"]))),
      withParameters(Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`k${index}`, "v".repeat(4096)]))),
      { config: { ...base.config, ip_ranges: [{ cidr: "10.0.0.0/99" }] } },
      { config: { ...base.config, cniv1_config: { ...base.config.cniv1_config, cni_version: "9.0.0" } } },
      { config: { ...base.config, cniv1_config: { ...base.config.cniv1_config, network_name: "-bad" } } },
    ];
    for (const request of hostile) {
      const refused = await refusal("SetPodNetwork", request);
      expect({ request, refused }).toMatchObject({ refused: { code: invalidArgument, details: expect.stringMatching(/\w/) } });
      expect(JSON.stringify(refused)).toContain("metadata");
    }
    // 1 MiB does not even reach the rules.
    expect(await refusal("SetPodNetwork", withParameters({ x: "y".repeat(1_000_000) }))).toMatchObject({ code: 8 });
    const refused = await client.call("SetPodNetwork", network("_fallback")).catch((error: unknown) => error);
    const [trailer] = (refused as { readonly metadata: { get(key: string): Buffer[] } }).metadata.get("grpc-status-details-bin");
    expect(trailer?.toString("latin1")).toContain("NETWORK_CONFIG_INVALID");
    expect(await names()).toEqual([]);
  });

  test("two networks of a node never share their name for CNI, and the name never changes", async () => {
    await client.call("SetPodNetwork", network("first"));
    const second = network("second");
    second.config.cniv1_config.network_name = "first";
    expect(await refusal("SetPodNetwork", second)).toMatchObject({ code: alreadyExists });
    const renamed = network("first", { generation: 2 });
    renamed.config.cniv1_config.network_name = "other";
    expect(await refusal("SetPodNetwork", renamed)).toMatchObject({ code: alreadyExists });
    await client.call("RemovePodNetwork", { metadata: { name: "first" } });
  });

  test("CR-12: the first network on the disk is listed as _fallback, there and gone with its file, also for a client that watches", async () => {
    const events: { readonly type?: string; readonly config?: { readonly metadata: { readonly name: string } } }[] = [];
    const cancel = client.stream("WatchPodNetwork", events);
    const seen = (): readonly string[] => events.map(({ type, config }) => `${type} ${config?.metadata.name ?? ""}`.trim());
    await expect.poll(seen).toEqual(["SYNCED"]);
    const file = join(netDirectory(), "10-disk.conflist");
    const plexus = { cniVersion: "1.1.0", name: "mine", plugins: [{ type: "plexus", clusterNetwork: "disk" }] };
    writeFileSync(join(netDirectory(), "00-plexus.conflist"), JSON.stringify(plexus));
    writeFileSync(file, JSON.stringify({ cniVersion: "1.0.0", name: "disk", plugins: [{ type: "recorded", mtu: 1400 }] }));
    expect(await listed()).toMatchObject([
      {
        config: {
          metadata: { name: "_fallback" },
          cniv1_config: { network_name: "disk", plugins: [{ type: "recorded", parameters: { mtu: "1400" } }] },
        },
      },
    ]);
    await expect.poll(seen).toContain("ADDED _fallback");
    await client.call("SetPodNetwork", network("seen"));
    await client.call("SetPodNetwork", network("seen", { generation: 2 }));
    await client.call("RemovePodNetwork", { metadata: { name: "seen" } });
    rmSync(file);
    expect(await names()).toEqual([]);
    await expect.poll(seen).toContain("REMOVED _fallback");
    expect(seen()).toEqual(["SYNCED", "ADDED _fallback", "ADDED seen", "MODIFIED seen", "REMOVED seen", "REMOVED _fallback"]);
    cancel();
  });

  test("CR-08 CR-09: each network has the status of its plugins' STATUS: success, code 50 and code 51", async () => {
    for (const [type, code] of [
      ["well", 0],
      ["closed", 50],
      ["broken", 51],
    ] as const) {
      const plugin = installRecorder(stage.plexus.cniPath, type);
      const error = JSON.stringify({ cniVersion: "1.1.0", code, msg: `the ${type} switch` });
      plugin.script("STATUS", code === 0 ? { stdout: "" } : { stdout: error, exit: 1 });
      await client.call("SetPodNetwork", versioned(`net-${type}`, type));
    }
    await expect.poll(async () => JSON.stringify(await listed(false))).not.toContain("no agent");
    const before = readFileSync(join(state(), "configurations", "cluster"), "utf8");
    expect(await listed(false)).toMatchObject([
      { config: { metadata: { name: "net-broken" } }, status: { sandbox_management: false, connectivity: false } },
      {
        config: { metadata: { name: "net-closed" } },
        status: { sandbox_management: false, connectivity: true, reason: expect.stringContaining("the closed switch") },
      },
      { config: { metadata: { name: "net-well" } }, status: { sandbox_management: true, connectivity: true, reason: "" } },
    ]);
    // STATUS ran with a configuration of its own, which does not become the node's.
    expect(readdirSync(join(state(), "configurations"))).toEqual(["cluster"]);
    expect(readFileSync(join(state(), "configurations", "cluster"), "utf8")).toBe(before);
    for (const type of ["well", "closed", "broken"]) await client.call("RemovePodNetwork", { metadata: { name: `net-${type}` } });
  });

  test("CR-10 CR-11: a runtime that passes annotations attaches the listed networks in their order, and none without a list", async () => {
    const ptp = (subnet: string) => ({
      type: "ptp",
      capabilities: [],
      parameters: { ipam: JSON.stringify({ type: "host-local", dataDir: stage.leases }), mtu: "1400", subnet },
    });
    for (const [name, cidr] of [
      ["fast", "10.61.0.0/24"],
      ["slow", "10.62.0.0/24"],
    ] as const) {
      const { config } = network(name);
      const set = { ...config, ip_ranges: [{ cidr }], cniv1_config: { ...config.cniv1_config, plugins: [ptp(cidr)] } };
      expect(await client.call("SetPodNetwork", { config: set })).toEqual({ warnings: [] });
    }
    const config = (networks?: string): object =>
      stage.host({
        clusterNetwork: "fast",
        runtimeConfig: {
          "io.kubernetes.cri.pod-annotations": networks === undefined ? {} : { "k8s.v1.cni.cncf.io/networks": networks },
        },
      });
    const args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=u";
    const selection = JSON.stringify([{ name: "slow", interface: "data0" }]);
    expect(await call("ADD", "listed", config(selection), args)).toMatchObject({ status: 0 });
    expect(pod.links().map(({ name }) => name)).toEqual(["eth0", "data0"]);
    expect(await client.call("PodSandboxNetworkStatus", { pod_sandbox_id: "listed" })).toEqual({
      ips: [
        { ip: "10.61.0.2", network_name: "fast", interface_name: "eth0" },
        { ip: "10.62.0.2", network_name: "slow", interface_name: "data0" },
      ],
    });
    await client.call("RemovePodNetwork", { metadata: { name: "slow" } });
    expect(await call("DEL", "listed", config(selection), args)).toMatchObject({ status: 0 });
    expect(await call("ADD", "plain", config(), args)).toMatchObject({ status: 0 });
    expect(pod.links().map(({ name }) => name)).toEqual(["eth0"]);
    expect(await call("DEL", "plain", config(), args)).toMatchObject({ status: 0 });
    expect(stage.left()).toMatchObject({ leases: nothing.leases, links: nothing.links });
    await client.call("RemovePodNetwork", { metadata: { name: "fast" } });
  });

  test("CR-19: a network is attached to a running sandbox and detached; its status has the addresses, and a DEL removes the rest", async () => {
    const ptp = {
      type: "ptp",
      capabilities: [],
      parameters: { ipam: JSON.stringify({ type: "host-local", dataDir: stage.leases }) },
    };
    for (const [name, cidr] of [
      ["base", "10.63.0.0/24"],
      ["more", "10.64.0.0/24"],
    ] as const) {
      const { config } = network(name);
      await client.call("SetPodNetwork", {
        config: { ...config, ip_ranges: [{ cidr }], cniv1_config: { ...config.cniv1_config, plugins: [ptp] } },
      });
    }
    const config = stage.host({ name: "hot", clusterNetwork: "base", hotPlug: true });
    const args = "IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web;K8S_POD_UID=u";
    expect(await call("ADD", "running", config, args)).toMatchObject({ status: 0 });
    const data0 = { interface_name: "data0", ips: [{ ip: "10.64.0.2", network_name: "more", interface_name: "data0" }] };
    await expect.poll(() => client.call("AttachInterface", attach({})).catch((error: Error) => error.message)).toEqual(data0);
    expect(await client.call("AttachInterface", attach({}))).toEqual(data0);
    expect(pod.links().map(({ name }) => name)).toEqual(["eth0", "data0"]);
    const { ips } = await client.call("PodSandboxNetworkStatus", { pod_sandbox_id: "running" });
    expect(ips).toMatchObject([{ network_name: "base" }, { network_name: "more", ip: "10.64.0.2" }]);
    expect(await refusal("AttachInterface", attach({ ips: '"no list"' }))).toMatchObject({ code: invalidArgument });
    for (const parameters of [{ name: "x" }, { interfaceRequest: "x0" }, { mac: "[".repeat(30_000) + "]".repeat(30_000) }])
      expect(await refusal("AttachInterface", attach(parameters))).toMatchObject({ code: invalidArgument });
    expect(await refusal("AttachInterface", { pod_sandbox_id: "nobody" })).toMatchObject({ code: notFound });
    const absent = { pod_sandbox_id: "running", network: { network_name: "absent", interface_name: "data1" } };
    expect(await refusal("AttachInterface", absent)).toMatchObject({ code: notFound });
    expect(await refusal("DetachInterface", { pod_sandbox_id: "running", interface_name: "eth0" })).toMatchObject({
      code: failedPrecondition,
    });
    for (let times = 0; times < 2; times += 1)
      expect(await client.call("DetachInterface", { pod_sandbox_id: "running", interface_name: "data0" })).toEqual({});
    expect(pod.links().map(({ name }) => name)).toEqual(["eth0"]);
    expect(await client.call("AttachInterface", attach({}))).toMatchObject({ interface_name: "data0" });
    for (const name of ["base", "more"]) await client.call("RemovePodNetwork", { metadata: { name } });
    expect(await call("DEL", "running", config, args)).toMatchObject({ status: 0 });
    expect(stage.left()).toMatchObject({ leases: nothing.leases, links: nothing.links });
  });

  test("CR-06: a daemon that was killed after the answer has the network; the next sandbox uses it, also without a daemon", async () => {
    await client.call("SetPodNetwork", network("kept", { generation: 3 }));
    daemon.signal("SIGKILL");
    await daemon.ended;
    expect(await call("ADD", "alone", withDefault("kept"))).toMatchObject({ status: 0 });
    client.close();
    await start();
    expect(await listed()).toMatchObject([{ config: { metadata: { name: "kept", generation: 3 } } }]);
    expect(await call("DEL", "alone", withDefault("kept"))).toMatchObject({ status: 0 });
    await client.call("RemovePodNetwork", { metadata: { name: "kept" } });
  });

  test("a daemon that is killed while clients set networks has each generation that it answered, or a later one, whole", async () => {
    const answered: number[] = [];
    const asked = Array.from({ length: 60 }, async (_, index) => {
      const generation = index + 1;
      const parameters = { text: "x".repeat(8000), generation: String(generation) };
      await client.call("SetPodNetwork", network("pulled", { generation, parameters })).then(
        () => void answered.push(generation),
        () => undefined,
      );
      if (generation === 20) daemon.signal("SIGKILL");
    });
    await daemon.ended;
    client.close();
    await Promise.all(asked);
    await start();
    const [kept] = await listed();
    const plugin = { parameters: { text: "x".repeat(8000), generation: expect.any(String) } };
    expect(kept).toMatchObject({ config: { cniv1_config: { plugins: [plugin] } } });
    const generation = Number(/"generation":"(\d+)"/.exec(JSON.stringify(kept))?.[1]);
    expect(kept).toMatchObject({ config: { metadata: { generation } } });
    expect(generation).toBeGreaterThanOrEqual(Math.max(...answered));
    expect(readdirSync(join(state(), "networks"))).toEqual(["pulled.json"]);
    await client.call("RemovePodNetwork", { metadata: { name: "pulled" } });
  });

  test("a damaged file is not passed over: its network fails until the network is set again", async () => {
    await client.call("SetPodNetwork", network("torn"));
    writeFileSync(join(state(), "networks", "torn.json"), '{"form":1');
    writeFileSync(
      join(netDirectory(), "torn.conflist"),
      JSON.stringify({ cniVersion: "1.0.0", name: "torn", plugins: [{ type: "recorded" }] }),
    );
    const config = stage.host({ clusterNetwork: "torn", confDir: netDirectory() });
    expect(await call("ADD", "torn", config)).toMatchObject({ status: 1, json: { msg: expect.stringContaining("torn.json") } });
    await client.call("SetPodNetwork", network("torn", { generation: 2 }));
    expect(await call("ADD", "torn", config)).toMatchObject({ status: 0 });
    expect(await call("DEL", "torn", config)).toMatchObject({ status: 0 });
    await client.call("RemovePodNetwork", { metadata: { name: "torn" } });
    rmSync(join(netDirectory(), "torn.conflist"));
  });

  test("CR-15: while the default network is not set, STATUS answers code 50, from which a runtime takes its condition", async () => {
    const config = { ...withDefault("late"), cniVersion: "1.1.0" };
    expect(await call("STATUS", "", config)).toMatchObject({
      status: 1,
      json: { code: 50, msg: expect.stringContaining("late") },
    });
    await client.call("SetPodNetwork", network("late"));
    expect(await call("STATUS", "", config)).toMatchObject({ status: 0 });
    await client.call("RemovePodNetwork", { metadata: { name: "late" } });
  });

  const plexusctl = (...args: readonly string[]) => {
    const [group = "network", name = "", ...rest] = args;
    return runCommandLine([group, name, "--network-socket", socket(), ...rest], false);
  };
  const watch = (seconds: string): ChildProcess => {
    const args = ["network", "watch", "--for", seconds, "--network-socket", socket()];
    const program = ["--disable-warning=ExperimentalWarning", join(dist, "plexusctl.cjs"), ...args];
    return spawn(process.execPath, program, { stdio: ["ignore", "pipe", "inherit"] });
  };
  test("CR-14: plexusctl sets, lists, watches and removes networks, and an empty list is a success", async () => {
    expect(await plexusctl("network", "ls")).toEqual({ stdout: "no networks\n", status: 0 });
    const file = join(stage.plexus.directory, "lan.yaml");
    writeFileSync(
      file,
      "# the office\ncniVersion: 1.0.0\nname: lan\nplugins:\n- {type: recorded, mtu: 1400, ipam: {type: host-local}}\n",
    );
    const set = (...more: readonly string[]) => plexusctl("network", "set", "--namespace", "shop", ...more, file);
    expect(await set("--range", "10.3.0.0/16")).toEqual({ stdout: "network shop/lan is set, generation 1\n", status: 0 });
    expect(await set("--range", "10.3.0.0/16")).toEqual({ stdout: "network shop/lan is unchanged\n", status: 0 });
    expect(await set("--range", "10.4.0.0/16")).toEqual({ stdout: "network shop/lan is set, generation 2\n", status: 0 });
    // The agent connects to the restarted daemon within a second.
    await expect.poll(async () => (await plexusctl("network", "ls")).status, { interval: 200 }).toBe(0);
    const { stdout, status } = await plexusctl("network", "ls");
    expect([stdout.split("\n").map((line) => line.split(/ {2,}/)), status]).toEqual([
      [
        ["NAME", "CNI NAME", "GENERATION", "PLUGINS", "SANDBOXES", "CONNECTIVITY"],
        ["shop/lan", "lan", "2", "recorded", "yes", "yes"],
        [""],
      ],
      0,
    ]);
    const stored: unknown = JSON.parse(readFileSync(join(state(), "networks", "lan.json"), "utf8"));
    expect(stored).toMatchObject({
      conflist: expect.stringContaining('"ipam":{"type":"host-local","ranges":[[{"subnet":"10.4.0.0/16"}]]}'),
    });
    const endless = watch("3600");
    let printed = "";
    endless.stdout?.on("data", (data: Buffer) => {
      printed += data.toString();
    });
    await expect.poll(() => printed).toBe("ADDED shop/lan (network lan, generation 2)\nSYNCED\n");
    endless.kill();
    expect(await once(watch("1"), "exit")).toEqual([0, null]);
    expect(await plexusctl("network", "rm", "shop/lan", "absent")).toEqual({ stdout: "2 of 2 networks removed\n", status: 0 });
    expect(await plexusctl("network", "ls", "-o", "name")).toEqual({ stdout: "", status: 0 });
    expect(await plexusctl("network", "rm", "_fallback")).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/_fallback is reserved.*To do: .*\[NETWORK_CONFIG_INVALID\]/),
    });
    const gone = await runCommandLine(["network", "ls", "--network-socket", "/nowhere/network.sock"], false);
    expect(gone).toMatchObject({ status: 1, stderr: expect.stringContaining("--network-socket") });
  });

  test("the socket has mode 0600", () => {
    expect(statSync(socket()).mode & 0o777).toBe(0o600);
  });

  test.skipIf(missing("another uid's call of the CRI Network API", mappedId(65_534)))(
    "a client of another uid is refused, also where the socket's mode lets it connect",
    async () => {
      for (const path of [stage.plexus.directory, directory()]) chmodSync(path, 0o755);
      chmodSync(socket(), 0o666);
      // The shim connects to any socket, and needs no file that other users cannot read.
      const asNobody = ["--reuid=65534", "--regid=65534", "--clear-groups", join(stage.plexus.cniPath, "plexus")];
      spawnSync("setpriv", asNobody, { env: { CNI_COMMAND: "VERSION", PLEXUS_SOCKET: socket() }, timeout: 120_000 });
      await expect.poll(() => daemon.stderr()).toContain("refused uid 65534");
      chmodSync(socket(), 0o600);
      expect(await names()).toEqual([]);
    },
  );

  test("a daemon without the option serves no such socket", () => {
    const { status, stderr } = spawnSync(process.execPath, ["dist/plexusd.cjs", "--network-dir", "/x"], { encoding: "utf8" });
    expect([status, stderr]).toEqual([2, expect.stringContaining("--network-dir needs --network-socket")]);
  });
});
