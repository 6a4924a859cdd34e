// Policies at the node's ends of veths, whole: ADDs, a daemon with an agent, and pods that remove their own tables.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { policiesPart } from "../../features/policies/controller/part.ts";
import { policiesPath } from "../../features/policies/node/policy-source.ts";
import { slicesPath } from "../../features/policies/rules/address-slice.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { askDaemon } from "../../host/node/command-line/ask-daemon.ts";
import type { CommandResult } from "../../host/node/command-line/command.ts";
import { runCommandLine } from "../../host/programs/plexusctl/run-command-line.ts";
import { startAgent, type TestAgent } from "../lab/agent.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { selectNetworks } from "../lab/kube/annotate.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import { type FaultProxy, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { multiNetworkPolicy, policyRequests, policyRights } from "../lab/kube/policy-objects.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import type { PodNamespace } from "../lab/namespaces.ts";
import { command, linkType, missing, referencePlugins } from "../lab/requires.ts";
import { type Attaching, nothing } from "../lab/stage.ts";

const patience = { timeout: 60_000, interval: 50 };
const web = { podSelector: { matchLabels: { app: "web" } } };
const toDb = { ...web, policyTypes: ["Egress"], egress: [{ to: [{ podSelector: { matchLabels: { app: "db" } } }] }] };

type Running = CreatedPod & { readonly call: Attaching & { readonly pod: PodNamespace } };

const addressOf = ({ call }: Running): string =>
  call.pod
    .addresses()
    .find(({ link }) => link === "net1")
    ?.address.split("/")[0] ?? "";
const reaches = (from: Running, to: Running): boolean => from.call.pod.ping(addressOf(to));
const rulesOf = ({ call }: Running): string => call.pod.exec(["nft", "list", "ruleset"]).stdout;

/** Empties the pod's own table by a process of the pod that then owns it: the kernel refuses changes by others. The answer ends the process. */
async function takeTable(pod: Running): Promise<() => Promise<unknown>> {
  const owner = spawn("nsenter", [`--net=${pod.call.pod.path}`, "--", "nft", "-i"], { stdio: ["pipe", "ignore", "ignore"] });
  const ended = once(owner, "exit");
  owner.stdin.write("delete table inet plexus-policies; add table inet plexus-policies { flags owner; }\n");
  await expect.poll(() => rulesOf(pod), patience).toContain("flags owner");
  return () => {
    owner.stdin.end();
    return ended;
  };
}

describe.skipIf(
  missingForKube("policies at the node's ends") ||
    missing("policies at the node's ends", command("nft", "--version"), referencePlugins("macvlan")),
)("policies at the node's ends", () => {
  let api: ApiServer;
  let proxy: FaultProxy;
  let kubeconfig = "";
  let objects: ApiObjects;
  let node: Node;
  const onHost = (...words: readonly [string, ...string[]]): string => node.node.exec(words).stdout;
  const tables = (): string => onHost("nft", "list", "tables", "netdev");
  const rules = (): string => onHost("nft", "list", "ruleset", "netdev");
  const tableOf = ({ call }: Running): boolean => tables().includes(call.containerId);
  let daemon: TestDaemon;
  let agent: TestAgent;
  const term = new AbortController();
  let controller: Promise<void>;
  const socket = (): string => join(node.plexus.directory, "daemon", "plexus.sock");
  const statusSocket = (): string => join(node.plexus.directory, "status.sock");
  const onNode = (...words: readonly string[]): Promise<CommandResult> =>
    runCommandLine([...words, "--status-socket", statusSocket()], false);

  const metricsText = async (): Promise<string> => {
    const answer = await askDaemon({ socketPath: statusSocket(), method: "GET", path: "/metrics", patienceMs: 60_000 });
    return "why" in answer ? answer.why : answer.body;
  };

  const beginDaemon = (): Promise<TestDaemon> =>
    startDaemon({
      socket: socket(),
      args: [
        "--state-dir",
        node.plexus.state("cni"),
        "--node-name",
        "node",
        "--kubeconfig",
        kubeconfig,
        "--status-socket",
        statusSocket(),
      ],
    });
  const beginAgent = (): TestAgent => {
    const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: node.plexus.cniPath, PLEXUS_SOCKET: socket() };
    return startAgent({ command: node.entrance(), env });
  };
  const label = async (pod: string, labels: object): Promise<void> => {
    const patched = outcome(await objects.patch(`/api/v1/namespaces/shop/pods/${pod}`, { metadata: { labels } }));
    if (typeof patched === "string") throw new Error(patched);
  };
  const allow = async (name: string, spec: object, networks = "red"): Promise<void> => {
    const object = multiNetworkPolicy("shop", name, networks, spec);
    const made = outcome(await objects.create(collectionOf(object), object as never));
    if (typeof made === "string") throw new Error(made);
  };
  const forbid = async (name: string): Promise<void> => void outcome(await objects.remove(`${policiesPath("shop")}/${name}`));

  beforeAll(async () => {
    api = await sharedApiServer({ alsoAllowed: policyRequests });
    objects = objectsOf(api.adminKubeconfig);
    await applyObjects(objects, "deploy/helm/plexus/files/policies.yaml");
    await applyObjects(objects, "deploy/helm/plexus/files/multi-network-policies.yaml");
    for (const object of policyRights) await api.admin.create(object);
    await api.namespace("shop");
    const served = async (): Promise<void> => {
      for (const path of [policiesPath("shop"), slicesPath("shop")])
        expect(await objects.list(path)).toMatchObject({ kind: "list" });
    };
    await vi.waitFor(served, patience);
    node = openNode(api, undefined, ["macvlan", "bandwidth"]);
    proxy = await startFaultProxy(api);
    kubeconfig = await proxy.kubeconfig();
    daemon = await beginDaemon();
    agent = beginAgent();
    await api.network("shop", "red", [node.bridge("red", "10.20.0.0/24")]);
    await api.network("shop", "blue", [node.bridge("blue", "10.30.0.0/24")]);
    for (const [name, subnet, way] of [
      ["slow", "10.50.0.0/24", "egress"],
      ["slow-in", "10.51.0.0/24", "ingress"],
    ] as const)
      await api.network("shop", name, [
        node.bridge(name, subnet),
        { type: "bandwidth", [`${way}Rate`]: 8_000_000, [`${way}Burst`]: 800_000 },
      ]);
    const ipam = { type: "host-local", ranges: [[{ subnet: "10.40.0.0/24" }]] };
    await api.network("shop", "lan", [{ type: "macvlan", master: "lower0", ipam }]);
    controller = policiesPart()(partContext(objects)).run(term.signal);
  });
  afterAll(async () => {
    term.abort();
    await controller;
    await agent?.stop();
    await daemon?.stop();
    await proxy?.dispose();
    node?.dispose();
    objects?.close();
    await api?.dispose();
  });

  async function created(name: string, labels: object, selection = "red", policies: object = {}): Promise<Running> {
    const pod = await api.pod("shop", name, selection);
    await label(name, labels);
    return { ...pod, call: node.attaching(pod, { kubeconfig, hotPlug: true, policies: { enforceAt: "node", ...policies } }) };
  }
  async function running(...pod: Parameters<typeof created>): Promise<Running> {
    const each = await created(...pod);
    expect(await node.requestAt(socket(), "ADD", each.call)).toMatchObject({ status: 0 });
    return each;
  }
  const removed = async (...pods: readonly Running[]): Promise<void> => {
    for (const pod of pods) {
      expect(await node.requestAt(socket(), "DEL", pod.call)).toMatchObject({ status: 0 });
      await api.deletePod(pod.namespace, pod.name);
    }
  };

  test("a pod that has removed its own tables stays within its policies, which follow labels and survive a restart of the daemon; a DEL leaves nothing", async () => {
    await allow("web", toDb);
    const [source, db, other] = [
      await running("web", { app: "web" }),
      await running("db", { app: "db" }),
      await running("other", {}),
    ];
    // Without a wait: the runtime has just been answered.
    expect([source, db, other].map(tableOf)).toEqual([true, true, true]);
    expect(source.call.pod.exec(["nft", "flush", "ruleset"]).status).toBe(0);
    expect(reaches(source, other)).toBe(false);
    await expect
      .poll(() => source.call.pod.exec(["nft", "flush", "ruleset"]).status === 0 && reaches(source, db), patience)
      .toBe(true);
    expect(reaches(other, source)).toBe(true);
    const shown = await onNode("policies", "tables", "shop/web", "-o", "json");
    expect(JSON.parse(shown.stdout.toString())).toMatchObject({ pods: [{ pod: "shop/web", atNode: ["net1"] }] });
    await label("other", { app: "db" });
    await expect.poll(() => reaches(source, other), patience).toBe(true);
    await label("other", { app: "none" });
    await expect.poll(() => reaches(source, other), patience).toBe(false);
    await agent.stop();
    await daemon.stop();
    source.call.pod.exec(["nft", "flush", "ruleset"]);
    expect([reaches(source, other), reaches(source, db)]).toEqual([false, true]);
    daemon = await beginDaemon();
    agent = beginAgent();
    await forbid("web");
    await expect.poll(() => reaches(source, other), patience).toBe(true);
    await removed(source, db, other);
    expect(tables()).not.toContain("plexus");
    expect(node.left().links).toEqual(nothing.links);
  });

  test("PO-20: a pod that owns its table's name keeps its node's end from no change, and Event, status and tables say where its policies hold", async () => {
    await allow("web", toDb);
    const [source, db, other] = [
      await running("web", { app: "web" }),
      await running("db", { app: "db" }),
      await running("other", {}),
    ];
    await expect.poll(() => reaches(source, db), patience).toBe(true);
    const endOwner = await takeTable(source);
    try {
      expect(reaches(source, other)).toBe(false);
      await label("db", { app: "none" });
      await expect.poll(() => reaches(source, db), patience).toBe(false);
      await label("other", { app: "db" });
      await expect.poll(() => reaches(source, other), patience).toBe(true);
      await expectAtNodeOnly(source);
      await forbid("web");
      await expect.poll(() => reaches(source, db), patience).toBe(true);
      expect(rulesOf(source)).toContain("flags owner");
      await expect
        .poll(() => api.eventsOf(source), patience)
        .toContainEqual(expect.stringContaining("no policy selects the pod. "));
      expect((await api.eventsOf(source)).join("\n")).not.toContain("PoliciesNotApplied");
    } finally {
      await endOwner();
    }
    // The daemon tries again after a growing pause.
    await expect
      .poll(async () => (await onNode("policies", "tables", "shop/web")).stdout, patience)
      .toBe("no table of policies\n");
    expect(await metricsText()).toMatch(/^plexus_policy_node_only_pods 0$/mu);
    await removed(source, db, other);
    expect(tables()).not.toContain("plexus");
  });

  /** The pod's own table is a process' own, and its policies hold at the node's end. */
  async function expectAtNodeOnly(pod: Running): Promise<void> {
    const owned = "EPERM, operation not permitted: a process of the pod owns the table inet plexus-policies";
    const event = expect.stringMatching(new RegExp(`PoliciesAtNodeOnly.* hold at the node's end of net1\\. .*${owned}`, "u"));
    await expect.poll(() => api.eventsOf(pod), patience).toContainEqual(event);
    const { status, stdout } = await onNode("policies", "tables", "shop/web", "-o", "wide");
    expect(stdout).toMatch(/^shop\/web +net1 +shop\/red +egress +node only +MultiNetworkPolicy web \(\d\)$/mu);
    expect(stdout).toContain("- shop/web: the policies hold at the node's end of net1.");
    expect(status).toBe(0);
    expect((await onNode("status")).stdout).toContain("the policies of 0 pods could not be applied; those of 1 pods hold at");
    const metrics = await metricsText();
    for (const line of ["failed_pods 0", "node_only_pods 1"])
      expect(metrics).toMatch(new RegExp(`^plexus_policy_${line}$`, "mu"));
    expect(metrics).toMatch(/^plexus_policy_reconcile_age_seconds [\d.]+$/mu);
  }

  test("a plugged interface has its rules, and an interface whose end the pod has moved keeps its own", async () => {
    await allow("blue", { ...web, policyTypes: ["Ingress"] }, "blue");
    const [source, other] = [await running("web", { app: "web" }), await running("other", {}, "blue")];
    // In the other namespace the index is taken, so that the kernel gives the link another one.
    const elsewhere = node.pod();
    const shown = source.call.pod.exec(["ip", "-o", "link", "show", "net1"]).stdout;
    const index = shown.slice(0, shown.indexOf(":"));
    const taking = ["ip", "link", "add", "taken0", "index", index, "type", "veth", "peer", "name", "taken1"] as const;
    expect(elsewhere.exec(taking).status).toBe(0);
    expect(source.call.pod.exec(["ip", "link", "set", "net1", "netns", elsewhere.name]).status).toBe(0);
    await selectNetworks(api, source, "red,blue");
    await expect.poll(rules, patience).toContain("from/net2");
    expect(rules().match(/chain from.net1/gu)).toHaveLength(2);
    const [blue = ""] = source.call.pod.addresses().flatMap(({ link, address }) => (link === "net2" ? address.split("/") : []));
    source.call.pod.exec(["nft", "flush", "ruleset"]);
    expect(other.call.pod.ping(blue)).toBe(false);
    expect(source.call.pod.ping(addressOf(other))).toBe(true);
    await selectNetworks(api, source, "red");
    await expect.poll(rules, patience).not.toContain("from/net2");
    expect(rules().match(/chain from.net1/gu)).toHaveLength(2);
    expect(elsewhere.exec(["ip", "link", "set", "net1", "netns", source.call.pod.name]).status).toBe(0);
    await forbid("blue");
    await removed(source, other);
    expect(tables()).not.toContain("plexus");
  });

  test("a table whose container is gone is removed in the next round, and one of another state directory stays", async () => {
    const name = tables().match(/plexus-policies-\S+/u);
    expect(name).toBeNull();
    const pod = await running("web", { app: "web" });
    const [own = ""] = tables().match(/plexus-policies-\S+/u) ?? [];
    const left = own.replace(pod.call.containerId, "gone");
    for (const each of [left, "plexus-policies-00000000-gone"]) onHost("nft", "add", "table", "netdev", each);
    await agent.stop();
    agent = beginAgent();
    await expect.poll(() => tables().includes(left), patience).toBe(false);
    expect(tables()).toContain("plexus-policies-00000000-gone");
    expect(tableOf(pod)).toBe(true);
    onHost("nft", "delete", "table", "netdev", "plexus-policies-00000000-gone");
    await removed(pod);
  });

  const ifb = missing("an ADD to a network whose packets are redirected", linkType("ifb"));
  test.skipIf(ifb)(
    "an ADD to a network whose egress bandwidth is bounded by an ifb fails, or warns: its packets would pass the policies",
    async () => {
      const { links } = node.left();
      const refused = await created("shaped", { app: "web" }, "slow");
      const answer = await node.requestAt(socket(), "ADD", refused.call);
      expect(answer).toMatchObject({ status: 1 });
      expect(answer.stdout).toContain("interface net1 of network shop/slow: traffic control leads the packets of ");
      expect(answer.stdout).toContain("Remove egressRate of the plugin bandwidth");
      expect(node.left().links).toEqual(links);
      await removed(refused);
      const open = await running("shaped", { app: "web" }, "slow", { failure: "open" });
      expect(tableOf(open)).toBe(true);
      await removed(open);
      const towards = await running("towards", { app: "web" }, "slow-in");
      await removed(towards);
      expect(tables()).not.toContain("plexus");
    },
  );

  const macvlan = missing("an ADD to a network without an end on the node", linkType("macvlan"));
  test.skipIf(macvlan)(
    "an ADD to a network without an end on the node fails if a policy isolates it, or warns; without a policy it succeeds",
    async () => {
      onHost("ip", "link", "add", "lower0", "type", "veth", "peer", "name", "lower1");
      onHost("ip", "link", "set", "lower0", "up");
      const { links } = node.left();
      const free = await running("free", {}, "lan");
      await removed(free);
      await allow("lan", web, "lan");
      const refused = await created("web", { app: "web" }, "lan");
      const answer = await node.requestAt(socket(), "ADD", refused.call);
      expect(answer).toMatchObject({ status: 1 });
      expect(answer.stdout).toContain("interface net1 of network shop/lan: its link is of kind macvlan");
      expect(answer.stdout).toContain("set policies.enforceAt to pod");
      expect(node.left().links).toEqual(links);
      await removed(refused);
      await allow("red", { ...web, policyTypes: ["Ingress"] });
      const open = await running("web", { app: "web" }, "lan,red", { failure: "open" });
      expect(rules()).toContain("from/net2");
      const inPodOnly =
        /PoliciesInPodOnly.* and at the node's end of net2, and not .*: interface net1 of network shop\/lan: its link/u;
      await expect.poll(() => api.eventsOf(open), patience).toContainEqual(expect.stringMatching(inPodOnly));
      const shown = await onNode("policies", "tables", "shop/web", "-o", "wide");
      expect(shown).toMatchObject({ status: 1, stdout: expect.stringMatching(/net1 .* pod .*\n.*net2 .* node /u) });
      for (const name of ["lan", "red"]) await forbid(name);
      await removed(open);
      expect(tables()).not.toContain("plexus");
      expect(node.left().links).toEqual(links);
      onHost("ip", "link", "delete", "lower0");
    },
  );
});
