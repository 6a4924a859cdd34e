// Policies of further networks, whole: plexus-controller's part, a daemon with an agent, and pods whose packets show what is allowed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { policiesPart } from "../../features/policies/controller/part.ts";
import { slicesPath } from "../../features/policies/rules/address-slice.ts";
import { policiesPath } from "../../features/policies/node/policy-source.ts";
import type { ApiObjects } from "../../host/cluster/kube/api-objects.ts";
import { askDaemon } from "../../host/node/command-line/ask-daemon.ts";
import type { CommandResult } from "../../host/node/command-line/command.ts";
import { runCommandLine } from "../../host/programs/plexusctl/run-command-line.ts";
import { startAgent, type TestAgent } from "../lab/agent.ts";
import { root } from "../lab/compiled.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { selectNetworks } from "../lab/kube/annotate.ts";
import type { ApiServer, CreatedPod } from "../lab/kube/api-server.ts";
import { applyObjects, collectionOf, objectsOf, outcome } from "../lab/kube/apply.ts";
import { type FaultProxy, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { missingForKube, type Node, openNode } from "../lab/kube/node.ts";
import { partContext } from "../lab/kube/part-context.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { multiNetworkPolicy, networkPolicy, policyRequests, policyRights } from "../lab/kube/policy-objects.ts";
import { sharedApiServer } from "../lab/kube/shared-api-server.ts";
import { inHost, type PodNamespace } from "../lab/namespaces.ts";
import type { Answer } from "../lab/plexus.ts";
import { command, missing } from "../lab/requires.ts";
import { type Attaching, nothing } from "../lab/stage.ts";

const patience = { timeout: 60_000, interval: 50 };
const web = { podSelector: { matchLabels: { app: "web" } } };
const fromDb = { ...web, ingress: [{ from: [{ podSelector: { matchLabels: { app: "db" } } }] }] };

const condition = (type: string): object => ({
  type,
  status: "True",
  reason: "Test",
  message: "",
  lastTransitionTime: "2026-01-01T00:00:00Z",
  observedGeneration: 1,
});

type Running = CreatedPod & { readonly call: Attaching & { readonly pod: PodNamespace } };

const addressOf = ({ call }: Running, link = "net1"): string =>
  call.pod
    .addresses()
    .find((each) => each.link === link)
    ?.address.split("/")[0] ?? "";
const tableOf = ({ call }: Running): string => call.pod.exec(["nft", "list", "table", "inet", "plexus-policies"]).stdout;
const reaches = (from: Running, to: Running, link?: string): boolean => from.call.pod.ping(addressOf(to, link));

describe.skipIf(missingForKube("policies of pods") || missing("policies of pods", command("nft", "--version")))(
  "policies of pods",
  () => {
    let api: ApiServer;
    let proxy: FaultProxy;
    let kubeconfig = "";
    let objects: ApiObjects;
    let node: Node;
    let daemon: TestDaemon;
    let agent: TestAgent;
    const term = new AbortController();
    let controller: Promise<void>;
    const socket = (): string => join(node.plexus.directory, "daemon", "plexus.sock");
    const statusSocket = (): string => join(node.plexus.directory, "status.sock");
    const onNode = (...words: readonly string[]): Promise<CommandResult> =>
      runCommandLine([...words, "--status-socket", statusSocket()], false);
    const probe = (from: string): Promise<CommandResult> => onNode("probe", `shop/${from}`, "red", "-o", "wide");

    const metricsText = async (): Promise<string> => {
      const answer = await askDaemon({ socketPath: statusSocket(), method: "GET", path: "/metrics", patienceMs: 60_000 });
      return "body" in answer ? answer.body : "";
    };

    const applied = async (): Promise<number> =>
      Number(/^plexus_policy_applies_total\{outcome="applied"\} (\d+)$/mu.exec(await metricsText())?.[1]);

    const create = async (object: Parameters<typeof collectionOf>[0]): Promise<void> => {
      const made = outcome(await objects.create(collectionOf(object), object as never));
      if (typeof made === "string") throw new Error(made);
    };
    const allow = (name: string, spec: object, networks = "red"): Promise<void> =>
      create(multiNetworkPolicy("shop", name, networks, spec));
    const forbid = async (name: string): Promise<void> => void outcome(await objects.remove(`${policiesPath("shop")}/${name}`));
    const label = async (pod: string, labels: object): Promise<void> => {
      const patched = outcome(await objects.patch(`/api/v1/namespaces/shop/pods/${pod}`, { metadata: { labels } }));
      if (typeof patched === "string") throw new Error(patched);
    };
    const beginAgent = (): TestAgent => {
      const env = { PATH: "/usr/sbin:/usr/bin:/sbin:/bin", CNI_PATH: node.plexus.cniPath, PLEXUS_SOCKET: socket() };
      return startAgent({ command: node.entrance(), env });
    };

    beforeAll(async () => {
      api = await sharedApiServer({
        alsoAllowed: [...policyRequests, "list podnetworkattachments", "watch podnetworkattachments"],
      });
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
      proxy = await startFaultProxy(api);
      kubeconfig = await proxy.kubeconfig();
      node = openNode(api);
      daemon = await startDaemon({
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
      agent = beginAgent();
      for (const [name, subnet] of [
        ["red", "10.20.0.0/24"],
        ["blue", "10.30.0.0/24"],
      ] as const)
        await api.network("shop", name, [node.bridge(name, subnet)]);
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

    const request = (verb: string, { call }: Running): Promise<Answer> => node.requestAt(socket(), verb, call);
    /** A pod of the API whose ADD has not run yet. */
    async function created(name: string, labels: object, selection = "red", config: object = {}): Promise<Running> {
      const pod = await api.pod("shop", name, selection);
      await label(name, labels);
      return { ...pod, call: node.attaching(pod, { kubeconfig, hotPlug: true, policies: {}, ...config }) };
    }
    async function running(...pod: Parameters<typeof created>): Promise<Running> {
      const each = await created(...pod);
      expect(await request("ADD", each)).toMatchObject({ status: 0 });
      return each;
    }
    const removed = async (...pods: readonly Running[]): Promise<void> => {
      for (const pod of pods) {
        expect(await request("DEL", pod)).toMatchObject({ status: 0 });
        await api.deletePod(pod.namespace, pod.name);
      }
    };

    test("PO-11 PO-12 PO-16: an ADD ends with the policies in the kernel; policies and labels are followed; a DEL leaves nothing", async () => {
      await allow("web", fromDb);
      const target = await running("web", { app: "web" });
      // Without a wait: the runtime has just been answered.
      expect(tableOf(target)).toContain("MultiNetworkPolicy web");
      const db = await running("db", { app: "db" });
      const other = await running("other", { app: "other" });
      expect(reaches(other, target)).toBe(false);
      expect(reaches(other, target, "eth0")).toBe(true);
      await expect.poll(() => reaches(db, target), patience).toBe(true);
      expect(reaches(target, other)).toBe(true);
      expect(tableOf(other)).toBe("");
      await label("db", { app: "other" });
      await expect.poll(() => reaches(db, target), patience).toBe(false);
      await label("other", { app: "db" });
      await expect.poll(() => reaches(other, target), patience).toBe(true);
      await label("web", { app: "free" });
      await expect.poll(() => tableOf(target), patience).toBe("");
      await label("web", { app: "web" });
      await expect.poll(() => tableOf(target), patience).not.toBe("");
      await forbid("web");
      await expect.poll(() => reaches(db, target), patience).toBe(true);
      await removed(target, db, other);
      expect(node.left().links).toEqual(nothing.links);
    });

    test("PO-15: an agent that comes back writes tables anew that a pod has changed, and leaves the pod's own", async () => {
      await allow("web", { ...web });
      const target = await running("web", { app: "web" });
      const other = await running("other", {});
      target.call.pod.exec(["nft", "add", "table", "inet", "mine"]);
      target.call.pod.exec(["nft", "flush", "chain", "inet", "plexus-policies", "input"]);
      expect(reaches(other, target)).toBe(true);
      await agent.stop();
      agent = beginAgent();
      await expect.poll(() => reaches(other, target), patience).toBe(false);
      expect(target.call.pod.exec(["nft", "list", "tables"]).stdout).toContain("table inet mine");
      await forbid("web");
      await removed(target, other);
    });

    test("PO-13: a hot-plugged interface has its policies before it is there", async () => {
      await allow("blue", web, "blue");
      const target = await running("web", { app: "web" });
      const other = await running("other", {}, "blue");
      expect(tableOf(target)).toBe("");
      await selectNetworks(api, target, "red,blue");
      await expect.poll(() => target.call.pod.links().some(({ name }) => name === "net2"), patience).toBe(true);
      expect(tableOf(target)).toContain('iifname "net2"');
      await expect.poll(() => addressOf(target, "net2"), patience).not.toBe("");
      expect(reaches(other, target, "net2")).toBe(false);
      expect(reaches(target, other)).toBe(true);
      await forbid("blue");
      await expect.poll(() => reaches(other, target, "net2"), patience).toBe(true);
      await allow("blue", web, "blue");
      await expect.poll(() => tableOf(target), patience).toContain('iifname "net2"');
      await selectNetworks(api, target, "red");
      await expect.poll(() => tableOf(target), patience).toBe("");
      await forbid("blue");
      await removed(target, other);
    });

    test("PO-02 KE-58: a NetworkPolicy holds on a PodNetwork as soon as the network asks for it, and on no other network", async () => {
      await applyObjects(objects, "deploy/helm/plexus/files/networks.yaml", "CustomResourceDefinition");
      const parametersRefs = [
        { group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", namespace: "shop", name: "blue" },
      ];
      const blue = "/apis/plexus.dev/v1alpha1/podnetworks/blue";
      const status = { conditions: ["ParamsReady", "Ready"].map(condition), phase: "Ready" };
      for (const object of [networkObjects.podNetwork("default"), networkObjects.podNetwork("blue", { parametersRefs })]) {
        await vi.waitFor(() => create(object), patience);
        // No controller for PodNetworks runs here.
        outcome(await objects.patch(`${collectionOf(object)}/${object.metadata?.name}/status`, { status }));
      }
      await create(networkPolicy("shop", "closed", web));
      const onBlue = {
        "plexus.dev/networks": JSON.stringify([{ podNetworkName: "default" }, { podNetworkName: "blue", interfaceName: "net1" }]),
      };
      const begin = async (name: string, labels: object): Promise<Running> => {
        const pod = await api.pod("shop", name, undefined, onBlue);
        await label(name, labels);
        const call = node.attaching(pod, { kubeconfig, podNetworks: true, policies: {} });
        const each = { ...pod, call };
        expect((await request("ADD", each)).stdout).not.toContain('"code"');
        return each;
      };
      const target = await begin("web", { app: "web" });
      const other = await begin("other", {});
      expect(tableOf(target)).toBe("");
      expect(reaches(other, target)).toBe(true);
      outcome(await objects.patch(blue, { spec: { policies: "NetworkPolicy" } }));
      await expect.poll(() => reaches(other, target), patience).toBe(false);
      expect(tableOf(target)).toContain("NetworkPolicy closed");
      expect(reaches(other, target, "eth0")).toBe(true);
      outcome(await objects.patch(blue, { spec: { policies: null } }));
      await expect.poll(() => reaches(other, target), patience).toBe(true);
      await removed(target, other);
    });

    test("PO-15: a network namespace that has taken the path of a pod's gets no table", async () => {
      await allow("web", fromDb);
      const [taken, other] = [await running("taken", { app: "web" }), await running("web", { app: "web" })];
      await expect.poll(() => tableOf(other), patience).not.toBe("");
      inHost(["ip", "netns", "delete", taken.call.pod.name]);
      inHost(["ip", "netns", "add", taken.call.pod.name]);
      other.call.pod.exec(["nft", "flush", "ruleset"]);
      const before = await applied();
      await agent.stop();
      agent = beginAgent();
      await expect.poll(() => tableOf(other), patience).not.toBe("");
      await expect.poll(applied, patience).toBeGreaterThanOrEqual(before + 2);
      // A change between two rounds does not write there either.
      await forbid("web");
      await expect.poll(() => tableOf(other), patience).toBe("");
      await allow("web", fromDb);
      await expect.poll(() => tableOf(other), patience).not.toBe("");
      expect(tableOf(taken)).toBe("");
      await forbid("web");
      await removed(taken, other);
    });

    test("PO-20: the node's tables, failures and metrics are shown, and a running pod gets an Event", async () => {
      await allow("web", fromDb);
      const target = await running("web", { app: "web" });
      const other = await running("other", {});
      await expect
        .poll(async () => (await onNode("policies", "tables")).stdout, patience)
        .toMatch(/^POD .*\nshop\/web +net1 +shop\/red +ingress +pod +MultiNetworkPolicy web \(0\)\n$/u);
      await allow("odd", { ...web, ingress: [{ ports: [{ port: 70_000 }] }] });
      await expect.poll(async () => (await onNode("policies", "tables", "shop/web")).status, patience).toBe(1);
      const { stdout } = await onNode("policies", "tables", "shop/web", "shop/none", "-o", "wide");
      expect(stdout).toContain("- shop/web: policies: MultiNetworkPolicy shop/odd for network shop/red: spec.ingress[0].ports");
      expect(stdout).toContain("- shop/none: this node has no attachment of it");
      await expect
        .poll(() => api.eventsOf(target), patience)
        .toContainEqual(expect.stringMatching(/PoliciesNotApplied.*MultiNetworkPolicy shop\/odd/u));
      expect(await metricsText()).toMatch(/^plexus_policy_tables 1$/mu);
      // The other pod of the namespace fails as well: a policy that cannot be read counts as selecting all pods.
      await expect.poll(metricsText, patience).toMatch(/^plexus_policy_failed_pods 2$/mu);
      await forbid("odd");
      await expect.poll(metricsText, patience).toMatch(/^plexus_policy_failed_pods 0$/mu);
      await expect.poll(metricsText, patience).toMatch(/^plexus_policy_reconcile_age_seconds [\d.]+$/mu);
      expect((await onNode("policies", "tables", "-o", "name")).stdout).toBe("shop/web\n");
      await forbid("web");
      await removed(target, other);
    });

    test("PO-18 PO-20: the policy and the commands of the page about isolation work as they stand", async () => {
      const page = readFileSync(join(root, "docs", "how-to", "isolate-a-network.md"), "utf8");
      const [, policy = ""] = /```yaml\n([^`]+)```/u.exec(page) ?? [];
      const commands = [...page.matchAll(/^plexusctl ([^#\n]+)/gmu)].map(([, words = ""]) => words.trim().split(/ +/u));
      expect(commands.map((words) => words.slice(0, 2).join(" "))).toEqual([
        "policies show",
        "policies explain",
        "policies tables",
        "status",
      ]);
      await api.network("shop", "storage", [node.bridge("storage", "10.60.0.0/24")]);
      await create(parse(policy));
      const [db, client] = [await running("db", { app: "db" }, "storage"), await running("web", { app: "web" }, "storage")];
      await expect
        .poll(async () => (await onNode("policies", "tables", "shop/db", "-o", "wide")).stdout, patience)
        .toMatch(/shop\/db +net1 +shop\/storage +ingress +pod +MultiNetworkPolicy database \(\d+\)/u);
      const inCluster = (...words: readonly string[]): Promise<CommandResult> =>
        runCommandLine([...words, "--kubeconfig", api.adminKubeconfig], false);
      const shown = { show: "database", explain: "allow", tables: "MultiNetworkPolicy database", status: "policies" };
      for (const words of commands) {
        const [, verb = "status"] = words;
        const { stdout, status } = await (verb === "show" || verb === "explain" ? inCluster : onNode)(...words);
        const text = Object.entries(shown).find(([name]) => name === verb)?.[1] ?? "";
        expect([words, status, stdout]).toEqual([words, expect.toBeOneOf([0, 1]), expect.stringContaining(text)]);
      }
      await forbid("database");
      await removed(db, client);
    });

    test("PR-06 PO-18: a probe names the policies that forbid it, and warns of an answer that a policy forbids", async () => {
      await allow("web", fromDb);
      await allow("quiet", { podSelector: { matchLabels: { app: "other" } }, policyTypes: ["Egress"] });
      const target = await running("web", { app: "web" }, "red", { probes: true });
      const db = await running("db", { app: "db" }, "red", { probes: true });
      const other = await running("other", { app: "other" }, "red", { probes: true });
      await expect.poll(() => reaches(db, target), patience).toBe(true);
      expect((await probe("db")).stdout).toMatch(/^pod shop\/web .* answers packets of 1500 bytes$/mu);
      const forbidden = await probe("other");
      expect(forbidden.status).toBe(1);
      expect(forbidden.stdout).toMatch(
        /^pod shop\/web .* no answer: forbidden by shop\/quiet \(egress of shop\/other\) and shop\/web \(ingress of shop\/web\)$/mu,
      );
      expect(forbidden.stdout).toMatch(
        /^pod shop\/db .* answers packets of 1500 bytes, although forbidden by shop\/quiet \(egress of shop\/other\)$/mu,
      );
      expect(forbidden.stdout).toContain(`- ${addressOf(db)} answered the probe, whose packets pass the pod's own table.`);
      // The pod undoes its policies.
      await forbid("quiet");
      await expect.poll(() => tableOf(other), patience).toBe("");
      target.call.pod.exec(["nft", "flush", "chain", "inet", "plexus-policies", "input"]);
      const undone = await probe("other");
      expect([undone.status, undone.stdout]).toEqual([
        1,
        expect.stringMatching(
          /^- \S+ answered, although forbidden by shop\/web \(ingress of shop\/web\): the pod's table is missing or old/mu,
        ),
      ]);
      await forbid("web");
      await expect.poll(async () => (await probe("other")).stdout, patience).not.toMatch(/forbidden|not judged/u);
      await removed(target, db, other);
    });

    test("PO-14: a policy that cannot be read fails the ADD, or warns with failure: open; an API without an answer means the last known policies", async () => {
      await allow("odd", { ...web, ingress: [{ ports: [{ port: 70_000 }] }] });
      const refused = await created("refused", { app: "web" });
      expect(await request("ADD", refused)).toMatchObject({
        status: 1,
        json: {
          code: 11,
          msg: expect.stringContaining("MultiNetworkPolicy shop/odd for network shop/red: spec.ingress[0].ports[0].port is"),
        },
      });
      const open = await running("open", { app: "web" }, "red", { policies: { failure: "open" } });
      expect(tableOf(open)).toBe("");
      await forbid("odd");
      await allow("web", web);
      const known = await running("known", { app: "web" });
      expect(tableOf(known)).not.toBe("");
      proxy.script(({ path }) => (path.includes("multi-networkpolicies") ? { answer: { status: 403 } } : undefined));
      proxy.cut();
      const away = await running("away", { app: "web" });
      expect(tableOf(away)).not.toBe("");
      proxy.script(() => undefined);
      await forbid("web");
      await removed(refused, open, known, away);
    });
  },
);
