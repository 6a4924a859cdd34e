// Policies of further networks, whole: plexus-controller's part, a daemon with an agent, and pods whose packets show what is allowed.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { policiesPart } from "../../features/policies/controller/part.ts";
import type { CommandResult } from "../../host/node/command-line/command.ts";
import { root } from "../lab/compiled.ts";
import { selectNetworks } from "../lab/kube/annotate.ts";
import { applyObjects, collectionOf, outcome } from "../lab/kube/apply.ts";
import { missingForKube } from "../lab/kube/node.ts";
import { networkObjects } from "../lab/kube/network-objects.ts";
import { networkPolicy, policyRequests } from "../lab/kube/policy-objects.ts";
import { inHost } from "../lab/namespaces.ts";
import { command, missing, referencePlugins } from "../lab/requires.ts";
import { nothing } from "../lab/stage.ts";
import { addressOf, FollowingNode, type PodOnNode, reaches } from "../lab/kube/following-node.ts";
import { servePolicies } from "../lab/kube/serve-policies.ts";

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

const tableOf = ({ call }: PodOnNode): string => call.pod.exec(["nft", "list", "table", "inet", "plexus-policies"]).stdout;

describe.skipIf(
  missingForKube("policies of pods") || missing("policies of pods", command("nft", "--version"), referencePlugins("ipvlan")),
)("policies of pods", () => {
  let shop: FollowingNode;
  const probe = (from: string): Promise<CommandResult> => shop.onNode("probe", `shop/${from}`, "red", "-o", "wide");
  const metricsText = (): Promise<string> => shop.metrics();
  const applied = async (): Promise<number> =>
    Number(/^plexus_policy_applies_total\{outcome="applied"\} (\d+)$/mu.exec(await metricsText())?.[1]);

  beforeAll(async () => {
    shop = await FollowingNode.open({
      alsoAllowed: [...policyRequests, "list podnetworkattachments", "watch podnetworkattachments"],
      prepare: (api, objects) => servePolicies(api, objects, "shop"),
      part: policiesPart(),
      networks: { red: "10.20.0.0/24", blue: "10.30.0.0/24" },
      configuration: { hotPlug: true, policies: {} },
      plugins: ["ipvlan"],
    });
    shop.startAgent();
  });
  afterAll(() => shop?.dispose());

  test("PO-11 PO-12 PO-16: an ADD ends with the policies in the kernel; policies and labels are followed; a DEL leaves nothing", async () => {
    await shop.allow("web", fromDb);
    const target = await shop.runPod("web", { app: "web" });
    // Without a wait: the runtime has just been answered.
    expect(tableOf(target)).toContain("MultiNetworkPolicy web");
    const db = await shop.runPod("db", { app: "db" });
    const other = await shop.runPod("other", { app: "other" });
    expect(await reaches(other, target)).toBe(false);
    expect(await reaches(other, target, "eth0")).toBe(true);
    await expect.poll(() => reaches(db, target), patience).toBe(true);
    expect(await reaches(target, other)).toBe(true);
    expect(tableOf(other)).toBe("");
    await shop.label("db", { app: "other" });
    await expect.poll(() => reaches(db, target), patience).toBe(false);
    await shop.label("other", { app: "db" });
    await expect.poll(() => reaches(other, target), patience).toBe(true);
    await shop.label("web", { app: "free" });
    await expect.poll(() => tableOf(target), patience).toBe("");
    await shop.label("web", { app: "web" });
    await expect.poll(() => tableOf(target), patience).not.toBe("");
    await shop.forbid("web");
    await expect.poll(() => reaches(db, target), patience).toBe(true);
    await shop.removePods(target, db, other);
    expect(shop.node.left().links).toEqual(nothing.links);
  });

  test("PO-11: an ADD whose pod's annotations come from the runtime has the policies of the pod's labels", async () => {
    await shop.allow("web", fromDb);
    const capability = "io.kubernetes.cri.pod-annotations";
    const target = await shop.runPod("web", { app: "web" }, "red", {
      capabilities: { [capability]: true },
      runtimeConfig: { [capability]: { "k8s.v1.cni.cncf.io/networks": "red" } },
    });
    expect(tableOf(target)).toContain("MultiNetworkPolicy web");
    await shop.forbid("web");
    await shop.removePods(target);
  });

  test("PO-15: an agent that comes back writes tables anew that a pod has changed, and leaves the pod's own", async () => {
    await shop.allow("web", { ...web });
    const target = await shop.runPod("web", { app: "web" });
    const other = await shop.runPod("other", {});
    target.call.pod.exec(["nft", "add", "table", "inet", "mine"]);
    target.call.pod.exec(["nft", "flush", "chain", "inet", "plexus-policies", "input"]);
    expect(await reaches(other, target)).toBe(true);
    await shop.restartAgent();
    await expect.poll(() => reaches(other, target), patience).toBe(false);
    expect(target.call.pod.exec(["nft", "list", "tables"]).stdout).toContain("table inet mine");
    await shop.forbid("web");
    await shop.removePods(target, other);
  });

  test("PO-13: a hot-plugged interface has its policies before it is there", async () => {
    await shop.allow("blue", web, "blue");
    const target = await shop.runPod("web", { app: "web" });
    const other = await shop.runPod("other", {}, "blue");
    expect(tableOf(target)).toBe("");
    await selectNetworks(shop.api, target, "red,blue");
    await expect.poll(() => target.call.pod.links().some(({ name }) => name === "net2"), patience).toBe(true);
    expect(tableOf(target)).toContain('iifname "net2"');
    await expect.poll(() => addressOf(target, "net2"), patience).not.toBe("");
    expect(await reaches(other, target, "net2")).toBe(false);
    expect(await reaches(target, other)).toBe(true);
    await shop.forbid("blue");
    await expect.poll(() => reaches(other, target, "net2"), patience).toBe(true);
    await shop.allow("blue", web, "blue");
    await expect.poll(() => tableOf(target), patience).toContain('iifname "net2"');
    await selectNetworks(shop.api, target, "red");
    await expect.poll(() => tableOf(target), patience).toBe("");
    await shop.forbid("blue");
    await shop.removePods(target, other);
  });

  test("PO-02 KE-58: a NetworkPolicy holds on a PodNetwork as soon as the network asks for it, and on no other network", async () => {
    await applyObjects(shop.objects, "deploy/helm/plexus/files/networks.yaml", "CustomResourceDefinition");
    const parametersRefs = [
      { group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", namespace: "shop", name: "blue" },
    ];
    const blue = "/apis/plexus.dev/v1alpha1/podnetworks/blue";
    const status = { conditions: ["ParamsReady", "Ready"].map(condition), phase: "Ready" };
    for (const object of [networkObjects.podNetwork("default"), networkObjects.podNetwork("blue", { parametersRefs })]) {
      await vi.waitFor(() => shop.create(object), patience);
      // No controller for PodNetworks runs here.
      outcome(await shop.objects.patch(`${collectionOf(object)}/${object.metadata?.name}/status`, { status }));
    }
    await shop.create(networkPolicy("shop", "closed", web));
    const onBlue = {
      "plexus.dev/networks": JSON.stringify([{ podNetworkName: "default" }, { podNetworkName: "blue", interfaceName: "net1" }]),
    };
    const begin = async (name: string, labels: object): Promise<PodOnNode> => {
      const pod = await shop.api.pod("shop", name, undefined, onBlue);
      await shop.label(name, labels);
      const call = shop.node.attaching(pod, { kubeconfig: shop.kubeconfig, podNetworks: true, policies: {} });
      const each = { ...pod, call };
      expect((await shop.request("ADD", each)).stdout).not.toContain('"code"');
      return each;
    };
    const target = await begin("web", { app: "web" });
    const other = await begin("other", {});
    expect(tableOf(target)).toBe("");
    expect(await reaches(other, target)).toBe(true);
    outcome(await shop.objects.patch(blue, { spec: { policies: "NetworkPolicy" } }));
    await expect.poll(() => reaches(other, target), patience).toBe(false);
    expect(tableOf(target)).toContain("NetworkPolicy closed");
    expect(await reaches(other, target, "eth0")).toBe(true);
    outcome(await shop.objects.patch(blue, { spec: { policies: null } }));
    await expect.poll(() => reaches(other, target), patience).toBe(true);
    await shop.removePods(target, other);
  });

  test("PO-15: a network namespace that has taken the path of a pod's gets no table", async () => {
    await shop.allow("web", fromDb);
    const [taken, other] = [await shop.runPod("taken", { app: "web" }), await shop.runPod("web", { app: "web" })];
    await expect.poll(() => tableOf(other), patience).not.toBe("");
    inHost(["ip", "netns", "delete", taken.call.pod.name]);
    inHost(["ip", "netns", "add", taken.call.pod.name]);
    other.call.pod.exec(["nft", "flush", "ruleset"]);
    const before = await applied();
    await shop.restartAgent();
    await expect.poll(() => tableOf(other), patience).not.toBe("");
    await expect.poll(applied, patience).toBeGreaterThanOrEqual(before + 2);
    // A change between two rounds does not write there either.
    await shop.forbid("web");
    await expect.poll(() => tableOf(other), patience).toBe("");
    await shop.allow("web", fromDb);
    await expect.poll(() => tableOf(other), patience).not.toBe("");
    expect(tableOf(taken)).toBe("");
    await shop.forbid("web");
    await shop.removePods(taken, other);
  });

  test("PO-15: a pod whose sandbox has ended before its DEL is no failure", async () => {
    await shop.allow("web", fromDb);
    const [ended, other] = [await shop.runPod("ended", { app: "web" }), await shop.runPod("web", { app: "web" })];
    await expect.poll(() => tableOf(other), patience).not.toBe("");
    inHost(["ip", "netns", "delete", ended.call.pod.name]);
    const before = await applied();
    await shop.forbid("web");
    await expect.poll(() => tableOf(other), patience).toBe("");
    await expect.poll(applied, patience).toBeGreaterThanOrEqual(before + 2);
    expect(await metricsText()).toMatch(/^plexus_policy_failed_pods 0$/mu);
    expect((await shop.api.eventsOf(ended)).filter((text) => text.includes("PoliciesNotApplied"))).toEqual([]);
    inHost(["ip", "netns", "add", ended.call.pod.name]);
    await shop.removePods(ended, other);
  });

  test("PO-20: the node's tables, failures and metrics are shown, and a running pod gets an Event", async () => {
    await shop.allow("web", fromDb);
    const target = await shop.runPod("web", { app: "web" });
    const other = await shop.runPod("other", {});
    await expect
      .poll(async () => (await shop.onNode("policies", "tables")).stdout, patience)
      .toMatch(/^POD .*\nshop\/web +net1 +shop\/red +ingress +pod +MultiNetworkPolicy web \(0\)\n$/u);
    await shop.allow("odd", { ...web, ingress: [{ ports: [{ port: 70_000 }] }] });
    await expect.poll(async () => (await shop.onNode("policies", "tables", "shop/web")).status, patience).toBe(1);
    const { stdout } = await shop.onNode("policies", "tables", "shop/web", "shop/none", "-o", "wide");
    expect(stdout).toContain("- shop/web: policies: MultiNetworkPolicy shop/odd for network shop/red: spec.ingress[0].ports");
    expect(stdout).toContain("- shop/none: this node has no attachment of it");
    await expect
      .poll(() => shop.api.eventsOf(target), patience)
      .toContainEqual(expect.stringMatching(/PoliciesNotApplied.*MultiNetworkPolicy shop\/odd/u));
    expect(await metricsText()).toMatch(/^plexus_policy_tables 1$/mu);
    // The other pod of the namespace fails as well: a policy that cannot be read counts as selecting all pods.
    await expect.poll(metricsText, patience).toMatch(/^plexus_policy_failed_pods 2$/mu);
    await shop.forbid("odd");
    await expect.poll(metricsText, patience).toMatch(/^plexus_policy_failed_pods 0$/mu);
    await expect.poll(metricsText, patience).toMatch(/^plexus_policy_reconcile_age_seconds [\d.]+$/mu);
    expect((await shop.onNode("policies", "tables", "-o", "name")).stdout).toBe("shop/web\n");
    await shop.forbid("web");
    await shop.removePods(target, other);
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
    await shop.api.network("shop", "storage", [shop.node.bridge("storage", "10.60.0.0/24")]);
    await shop.create(parse(policy));
    const [db, client] = [await shop.runPod("db", { app: "db" }, "storage"), await shop.runPod("web", { app: "web" }, "storage")];
    await expect
      .poll(async () => (await shop.onNode("policies", "tables", "shop/db", "-o", "wide")).stdout, patience)
      .toMatch(/shop\/db +net1 +shop\/storage +ingress +pod +MultiNetworkPolicy database \(\d+\)/u);
    const shown = { show: "database", explain: "allow", tables: "MultiNetworkPolicy database", status: "policies" };
    for (const words of commands) {
      const [, verb = "status"] = words;
      const { stdout, status } = await (verb === "show" || verb === "explain" ? shop.inCluster(...words) : shop.onNode(...words));
      const text = Object.entries(shown).find(([name]) => name === verb)?.[1] ?? "";
      expect([words, status, stdout]).toEqual([words, expect.toBeOneOf([0, 1]), expect.stringContaining(text)]);
    }
    await shop.forbid("database");
    await shop.removePods(db, client);
  });

  test("PR-06 PO-18: a probe names the policies that forbid it, and warns of an answer that a policy forbids", async () => {
    await shop.allow("web", fromDb);
    await shop.allow("quiet", { podSelector: { matchLabels: { app: "other" } }, policyTypes: ["Egress"] });
    const target = await shop.runPod("web", { app: "web" }, "red", { probes: true });
    const db = await shop.runPod("db", { app: "db" }, "red", { probes: true });
    const other = await shop.runPod("other", { app: "other" }, "red", { probes: true });
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
    await shop.forbid("quiet");
    await expect.poll(() => tableOf(other), patience).toBe("");
    target.call.pod.exec(["nft", "flush", "chain", "inet", "plexus-policies", "input"]);
    const undone = await probe("other");
    expect([undone.status, undone.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^- \S+ answered, although forbidden by shop\/web \(ingress of shop\/web\): the pod's table is missing or old/mu,
      ),
    ]);
    await shop.forbid("web");
    await expect.poll(async () => (await probe("other")).stdout, patience).not.toMatch(/forbidden|not judged/u);
    await shop.removePods(target, db, other);
  });

  test("PO-14: an ingress policy on an ipvlan in the mode l3s, whose packets pass no hook of the pod, fails the ADD", async () => {
    const ipam = { type: "host-local", subnet: "10.50.0.0/24" };
    await shop.api.network("shop", "passing", [{ type: "ipvlan", master: "none", mode: "l3s", ipam }]);
    await shop.allow("passing", web, "passing");
    const refused = await shop.createPod("passing", { app: "web" }, "passing");
    expect(await shop.request("ADD", refused)).toMatchObject({
      status: 1,
      json: {
        code: 11,
        msg: expect.stringContaining("interface net1 of network shop/passing: packets to an ipvlan in the mode l3s"),
      },
    });
    await shop.forbid("passing");
    await shop.removePods(refused);
  });

  test("PO-14: a policy that cannot be read fails the ADD, or warns with failure: open; an API without an answer means the last known policies", async () => {
    await shop.allow("odd", { ...web, ingress: [{ ports: [{ port: 70_000 }] }] });
    const refused = await shop.createPod("refused", { app: "web" });
    expect(await shop.request("ADD", refused)).toMatchObject({
      status: 1,
      json: {
        code: 11,
        msg: expect.stringContaining("MultiNetworkPolicy shop/odd for network shop/red: spec.ingress[0].ports[0].port is"),
      },
    });
    const open = await shop.runPod("open", { app: "web" }, "red", { policies: { failure: "open" } });
    expect(tableOf(open)).toBe("");
    await shop.forbid("odd");
    await shop.allow("web", web);
    const known = await shop.runPod("known", { app: "web" });
    expect(tableOf(known)).not.toBe("");
    shop.proxy.script(({ path }) => (path.includes("multi-networkpolicies") ? { answer: { status: 403 } } : undefined));
    shop.proxy.cut();
    const away = await shop.runPod("away", { app: "web" });
    expect(tableOf(away)).not.toBe("");
    shop.proxy.script(() => undefined);
    await shop.forbid("web");
    await shop.removePods(refused, open, known, away);
  });
});
