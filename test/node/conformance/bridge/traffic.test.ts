// Traffic of pods that bridge-adapter attached, with real sockets: between pods, between pod and node, and masqueraded to an outside host.

import { spawn, type ChildProcess } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../../lab/daemon.ts";
import type { PodNamespace } from "../../../lab/namespaces.ts";
import { installPlexus, missingBuild, type Installation } from "../../../lab/plexus.ts";
import {
  command,
  iproute2,
  linkType,
  missing,
  privateNamespaces,
  referencePlugin,
  referencePlugins,
} from "../../../lab/requires.ts";
import type { Probe } from "../portmap/sockets.ts";
import type { Scenario } from "./configurations.ts";
import { installPlugins, Lane } from "./lane.ts";

const build = (): string | undefined => missingBuild({ components: ["bridge-adapter", "ipam-host-local"] });
const wanted = [
  privateNamespaces,
  iproute2,
  linkType("veth"),
  linkType("bridge"),
  referencePlugins("bridge", "host-local"),
  build,
];
const program = fileURLToPath(new URL("../portmap/sockets.ts", import.meta.url));

const pods = { a: ["10.1.0.2", "fd00:1::2"], b: ["10.1.0.3", "fd00:1::3"] } as const;
const node = ["10.1.0.1", "fd00:1::1"] as const;
const outside = ["192.0.2.2", "2001:db8::2"] as const;
const nodeOutside = ["192.0.2.1", "2001:db8::1"] as const;
const port = 7777;

/** The configuration of all pods, which share one lease directory. */
const scenario = (backend: "iptables" | "nftables", dataDir: string): Scenario => ({
  bridge: { bridge: "br7", isDefaultGateway: true, ipMasq: true, ipMasqBackend: backend },
  ipam: { dataDir, ranges: [[{ subnet: "10.1.0.0/24" }], [{ subnet: "fd00:1::/64" }]] },
  cniVersion: "1.0.0",
  args: undefined,
  before: "",
  inPod: "",
});

function run(at: PodNamespace, ...args: readonly string[]): ChildProcess {
  return spawn("nsenter", [`--net=${at.path}`, process.execPath, program, ...args], { stdio: ["pipe", "pipe", "inherit"] });
}

/** Sends probes by TCP and UDP. Each answer has the source address that the server sees, and its port; empty without an answer. */
async function probe(from: PodNamespace, addresses: readonly string[]): Promise<readonly string[]> {
  const probes = addresses.flatMap((address): Probe[] => [
    { protocol: "tcp", address, port },
    { protocol: "udp", address, port },
  ]);
  const child = run(from, "probe", "60000");
  child.stdin?.end(JSON.stringify(probes));
  return JSON.parse(child.stdout === null ? "[]" : await text(child.stdout));
}

/** The expected answers by TCP and by UDP for each source address. */
const answersWith = (sources: readonly string[]): readonly string[] =>
  sources.flatMap((source) => [`${source} ${port}`, `${source} ${port}`]);

describe.skipIf(missing("traffic of bridge-adapter", ...wanted))("pods that bridge-adapter attached", () => {
  let plexus: Installation;
  let daemon: TestDaemon;
  let lane: Lane;
  let otherPod: PodNamespace;
  let outsideHost: PodNamespace;
  const servers: ChildProcess[] = [];
  const leases = (): string => join(plexus.directory, "leases", "traffic");
  const attached = (): readonly (readonly [string, PodNamespace])[] => [
    ["a", lane.pod],
    ["b", otherPod],
  ];
  beforeAll(async () => {
    plexus = installPlexus();
    installPlugins(plexus, dirname(referencePlugin("bridge") ?? "/bridge"));
    const socket = join(plexus.directory, "run", "plexus.sock");
    mkdirSync(dirname(socket));
    daemon = await startDaemon({ socket });
    lane = new Lane(plexus, "traffic", socket);
    otherPod = lane.other();
    outsideHost = lane.other();
    await lane.atNode.output(
      [
        `ip link add far0 type veth peer name eth0 netns ${outsideHost.name} && ip link set far0 up && ip -n ${outsideHost.name} link set eth0 up`,
        ...nodeOutside.map((address) => `ip address add ${address}/${address.includes(":") ? "64 nodad" : "24"} dev far0`),
        ...outside.map(
          (address) => `ip -n ${outsideHost.name} address add ${address}/${address.includes(":") ? "64 nodad" : "24"} dev eth0`,
        ),
      ].join(" && "),
    );
    for (const [containerId, pod] of attached()) {
      const added = await lane.call("ADD", { scenario: scenario("nftables", leases()), containerId, netns: pod.path }, "wasm");
      if (added.status !== 0) throw new Error(added.stdout);
    }
    for (const at of [lane.pod, otherPod, lane.node, outsideHost]) {
      const child = run(at, "serve", JSON.stringify({ tcp: [port], udp: [port] }));
      servers.push(child);
      await new Promise<void>((ready) => child.stdout?.once("data", () => ready()));
    }
  });
  afterAll(async () => {
    for (const server of servers) server.kill("SIGKILL");
    await lane?.clear();
    lane?.close();
    await daemon?.stop();
    plexus?.dispose();
  });

  test("reach each other without address translation: TCP and UDP, IPv4 and IPv6", async () => {
    expect(await probe(lane.pod, pods.b)).toEqual(answersWith(pods.a));
    expect(await probe(otherPod, pods.a)).toEqual(answersWith(pods.b));
  });

  test("reach the node, and the node reaches them", async () => {
    expect(await probe(lane.pod, node)).toEqual(answersWith(pods.a));
    expect(await probe(lane.node, pods.a)).toEqual(answersWith(node));
  });

  test("reach the outside with the node's address", async () => {
    expect(await probe(lane.pod, outside)).toEqual(answersWith(nodeOutside));
  });

  test.skipIf(missing("nft rules of ipMasq", command("nft", "--version"))).each(["iptables", "nftables"] as const)(
    "with ipMasqBackend %s CHECK finds the rules of ipMasq, and DEL removes them",
    async (backend) => {
      const one = { scenario: scenario(backend, leases()), containerId: `c-${backend}`, netns: lane.other().path };
      const rules = async (): Promise<boolean> => (await lane.atNode.output("nft list ruleset")).includes(`/c-${backend}/eth0`);
      for (const verb of ["ADD", "CHECK"]) expect(await lane.call(verb, one, "wasm")).toMatchObject({ status: 0 });
      expect(await rules()).toBe(true);
      expect(await lane.call("DEL", one, "wasm")).toMatchObject({ status: 0 });
      expect(await rules()).toBe(false);
    },
  );

  test.skipIf(missing("removed nft rules of ipMasq", command("nft", "--version")))(
    "CHECK fails after the masquerade rules were removed",
    async () => {
      const one = { scenario: scenario("nftables", leases()), containerId: "c-removed", netns: lane.other().path };
      expect(await lane.call("ADD", one, "wasm")).toMatchObject({ status: 0 });
      await lane.atNode.output("nft flush ruleset");
      expect(await lane.call("CHECK", one, "wasm")).toMatchObject({
        status: 1,
        json: { msg: expect.stringContaining("masquerade") },
      });
      expect(await lane.call("DEL", one, "wasm")).toMatchObject({ status: 0 });
    },
  );
});
