// Policies at the node's ends of veths, whole: ADDs, a daemon with an agent, and pods that remove their own tables.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { policiesPart } from "../../features/policies/controller/part.ts";
import { selectNetworks } from "../lab/kube/annotate.ts";
import { missingForKube } from "../lab/kube/node.ts";
import { policyRequests } from "../lab/kube/policy-objects.ts";
import { command, linkType, missing, referencePlugins } from "../lab/requires.ts";
import { nothing } from "../lab/stage.ts";
import { addressOf, FollowingNode, type PodOnNode, reaches } from "../lab/kube/following-node.ts";
import { servePolicies } from "../lab/kube/serve-policies.ts";

const patience = { timeout: 60_000, interval: 50 };
const web = { podSelector: { matchLabels: { app: "web" } } };
const toDb = { ...web, policyTypes: ["Egress"], egress: [{ to: [{ podSelector: { matchLabels: { app: "db" } } }] }] };

const rulesOf = ({ call }: PodOnNode): string => call.pod.exec(["nft", "list", "ruleset"]).stdout;

/** Empties the pod's own table by a process of the pod that then owns it: the kernel refuses changes by others. The answer ends the process. */
async function takeTable(pod: PodOnNode): Promise<() => Promise<unknown>> {
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
  let shop: FollowingNode;
  const onHost = (...words: readonly [string, ...string[]]): string => shop.node.node.exec(words).stdout;
  const tables = (): string => onHost("nft", "list", "tables", "netdev");
  const rules = (): string => onHost("nft", "list", "ruleset", "netdev");
  const tableOf = ({ call }: PodOnNode): boolean => tables().includes(call.containerId);

  beforeAll(async () => {
    shop = await FollowingNode.open({
      alsoAllowed: policyRequests,
      prepare: (api, objects) => servePolicies(api, objects, "shop"),
      part: policiesPart(),
      networks: { red: "10.20.0.0/24", blue: "10.30.0.0/24" },
      configuration: { hotPlug: true, policies: { enforceAt: "node" } },
      plugins: ["macvlan", "bandwidth"],
    });
    shop.startAgent();
    for (const [name, subnet, way] of [
      ["slow", "10.50.0.0/24", "egress"],
      ["slow-in", "10.51.0.0/24", "ingress"],
    ] as const)
      await shop.api.network("shop", name, [
        shop.node.bridge(name, subnet),
        { type: "bandwidth", [`${way}Rate`]: 8_000_000, [`${way}Burst`]: 800_000 },
      ]);
    const ipam = { type: "host-local", ranges: [[{ subnet: "10.40.0.0/24" }]] };
    await shop.api.network("shop", "lan", [{ type: "macvlan", master: "lower0", ipam }]);
  });
  afterAll(() => shop?.dispose());

  test("a pod that has removed its own tables stays within its policies, which follow labels and survive a restart of the daemon; a DEL leaves nothing", async () => {
    await shop.allow("web", toDb);
    const [source, db, other] = [
      await shop.runPod("web", { app: "web" }),
      await shop.runPod("db", { app: "db" }),
      await shop.runPod("other", {}),
    ];
    // Without a wait: the runtime has just been answered.
    expect([source, db, other].map(tableOf)).toEqual([true, true, true]);
    expect(source.call.pod.exec(["nft", "flush", "ruleset"]).status).toBe(0);
    expect(await reaches(source, other)).toBe(false);
    await expect
      .poll(() => source.call.pod.exec(["nft", "flush", "ruleset"]).status === 0 && reaches(source, db), patience)
      .toBe(true);
    expect(await reaches(other, source)).toBe(true);
    const shown = await shop.onNode("policies", "tables", "shop/web", "-o", "json");
    expect(JSON.parse(shown.stdout.toString())).toMatchObject({ pods: [{ pod: "shop/web", atNode: ["net1"] }] });
    await shop.label("other", { app: "db" });
    await expect.poll(() => reaches(source, other), patience).toBe(true);
    await shop.label("other", { app: "none" });
    await expect.poll(() => reaches(source, other), patience).toBe(false);
    await shop.stop();
    source.call.pod.exec(["nft", "flush", "ruleset"]);
    expect([await reaches(source, other), await reaches(source, db)]).toEqual([false, true]);
    await shop.startDaemon();
    shop.startAgent();
    await shop.forbid("web");
    await expect.poll(() => reaches(source, other), patience).toBe(true);
    await shop.removePods(source, db, other);
    expect(tables()).not.toContain("plexus");
    expect(shop.node.left().links).toEqual(nothing.links);
  });

  test("PO-20: a pod that owns its table's name keeps its node's end from no change, and Event, status and tables say where its policies hold", async () => {
    await shop.allow("web", toDb);
    const [source, db, other] = [
      await shop.runPod("web", { app: "web" }),
      await shop.runPod("db", { app: "db" }),
      await shop.runPod("other", {}),
    ];
    await expect.poll(() => reaches(source, db), patience).toBe(true);
    const endOwner = await takeTable(source);
    try {
      expect(await reaches(source, other)).toBe(false);
      await shop.label("db", { app: "none" });
      // The proxy before the API server stands still while a client tries to reach a pod, and an Event is given up after 3 s.
      await expectAtNodeOnly(source);
      await expect.poll(() => reaches(source, db), patience).toBe(false);
      await shop.label("other", { app: "db" });
      await expect.poll(() => reaches(source, other), patience).toBe(true);
      await shop.forbid("web");
      await expect
        .poll(() => shop.api.eventsOf(source), patience)
        .toContainEqual(expect.stringContaining("no policy selects the pod. "));
      await expect.poll(() => reaches(source, db), patience).toBe(true);
      expect(rulesOf(source)).toContain("flags owner");
      expect((await shop.api.eventsOf(source)).join("\n")).not.toContain("PoliciesNotApplied");
    } finally {
      await endOwner();
    }
    // The daemon tries again after a growing pause.
    await expect
      .poll(async () => (await shop.onNode("policies", "tables", "shop/web")).stdout, patience)
      .toBe("no table of policies\n");
    expect(await shop.metrics()).toMatch(/^plexus_policy_node_only_pods 0$/mu);
    await shop.removePods(source, db, other);
    expect(tables()).not.toContain("plexus");
  });

  /** The pod's own table is a process' own, and its policies hold at the node's end. */
  async function expectAtNodeOnly(pod: PodOnNode): Promise<void> {
    const owned = "EPERM, operation not permitted: a process of the pod owns the table inet plexus-policies";
    const event = expect.stringMatching(new RegExp(`PoliciesAtNodeOnly.* hold at the node's end of net1\\. .*${owned}`, "u"));
    await expect.poll(() => shop.api.eventsOf(pod), patience).toContainEqual(event);
    const { status, stdout } = await shop.onNode("policies", "tables", "shop/web", "-o", "wide");
    expect(stdout).toMatch(/^shop\/web +net1 +shop\/red +egress +node only +MultiNetworkPolicy web \(\d\)$/mu);
    expect(stdout).toContain("- shop/web: the policies hold at the node's end of net1.");
    expect(status).toBe(0);
    const shown = String((await shop.onNode("status")).stdout).replaceAll(/\s+/gu, " ");
    expect(shown).toContain("the policies of 0 pods could not be applied; those of 1 pods hold at the node's ends");
    const metrics = await shop.metrics();
    for (const line of ["failed_pods 0", "node_only_pods 1"])
      expect(metrics).toMatch(new RegExp(`^plexus_policy_${line}$`, "mu"));
    expect(metrics).toMatch(/^plexus_policy_reconcile_age_seconds [\d.]+$/mu);
  }

  test("a plugged interface has its rules, and an interface whose end the pod has moved keeps its own", async () => {
    await shop.allow("blue", { ...web, policyTypes: ["Ingress"] }, "blue");
    const [source, other] = [await shop.runPod("web", { app: "web" }), await shop.runPod("other", {}, "blue")];
    // In the other namespace the index is taken, so that the kernel gives the link another one.
    const elsewhere = shop.node.pod();
    const shown = source.call.pod.exec(["ip", "-o", "link", "show", "net1"]).stdout;
    const index = shown.slice(0, shown.indexOf(":"));
    const taking = ["ip", "link", "add", "taken0", "index", index, "type", "veth", "peer", "name", "taken1"] as const;
    expect(elsewhere.exec(taking).status).toBe(0);
    expect(source.call.pod.exec(["ip", "link", "set", "net1", "netns", elsewhere.name]).status).toBe(0);
    await selectNetworks(shop.api, source, "red,blue");
    await expect.poll(rules, patience).toContain("from/net2");
    expect(rules().match(/chain from.net1/gu)).toHaveLength(2);
    const [blue = ""] = source.call.pod.addresses().flatMap(({ link, address }) => (link === "net2" ? address.split("/") : []));
    source.call.pod.exec(["nft", "flush", "ruleset"]);
    expect(other.call.pod.ping(blue)).toBe(false);
    expect(source.call.pod.ping(addressOf(other))).toBe(true);
    await selectNetworks(shop.api, source, "red");
    await expect.poll(rules, patience).not.toContain("from/net2");
    expect(rules().match(/chain from.net1/gu)).toHaveLength(2);
    expect(elsewhere.exec(["ip", "link", "set", "net1", "netns", source.call.pod.name]).status).toBe(0);
    await shop.forbid("blue");
    await shop.removePods(source, other);
    expect(tables()).not.toContain("plexus");
  });

  test("a table whose container is gone is removed in the next round, and one of another state directory stays", async () => {
    const name = tables().match(/plexus-policies-\S+/u);
    expect(name).toBeNull();
    const pod = await shop.runPod("web", { app: "web" });
    const [own = ""] = tables().match(/plexus-policies-\S+/u) ?? [];
    const left = own.replace(pod.call.containerId, "gone");
    for (const each of [left, "plexus-policies-00000000-gone"]) onHost("nft", "add", "table", "netdev", each);
    await shop.restartAgent();
    await expect.poll(() => tables().includes(left), patience).toBe(false);
    expect(tables()).toContain("plexus-policies-00000000-gone");
    expect(tableOf(pod)).toBe(true);
    onHost("nft", "delete", "table", "netdev", "plexus-policies-00000000-gone");
    await shop.removePods(pod);
  });

  const ifb = missing("an ADD to a network whose packets are redirected", linkType("ifb"));
  test.skipIf(ifb)(
    "an ADD to a network whose egress bandwidth is bounded by an ifb fails, or warns: its packets would pass the policies",
    async () => {
      const { links } = shop.node.left();
      const refused = await shop.createPod("shaped", { app: "web" }, "slow");
      const answer = await shop.request("ADD", refused);
      expect(answer).toMatchObject({ status: 1 });
      expect(answer.stdout).toContain("interface net1 of network shop/slow: traffic control leads the packets of ");
      expect(answer.stdout).toContain("Remove egressRate of the plugin bandwidth");
      expect(shop.node.left().links).toEqual(links);
      await shop.removePods(refused);
      const open = await shop.runPod("shaped", { app: "web" }, "slow", { policies: { enforceAt: "node", failure: "open" } });
      expect(tableOf(open)).toBe(true);
      await shop.removePods(open);
      const towards = await shop.runPod("towards", { app: "web" }, "slow-in");
      await shop.removePods(towards);
      expect(tables()).not.toContain("plexus");
    },
  );

  const macvlan = missing("an ADD to a network without an end on the node", linkType("macvlan"));
  test.skipIf(macvlan)(
    "an ADD to a network without an end on the node fails if a policy isolates it, or warns; without a policy it succeeds",
    async () => {
      onHost("ip", "link", "add", "lower0", "type", "veth", "peer", "name", "lower1");
      onHost("ip", "link", "set", "lower0", "up");
      const { links } = shop.node.left();
      const free = await shop.runPod("free", {}, "lan");
      await shop.removePods(free);
      await shop.allow("lan", web, "lan");
      const refused = await shop.createPod("web", { app: "web" }, "lan");
      const answer = await shop.request("ADD", refused);
      expect(answer).toMatchObject({ status: 1 });
      expect(answer.stdout).toContain("interface net1 of network shop/lan: its link is of kind macvlan");
      expect(answer.stdout).toContain("set policies.enforceAt to pod");
      expect(shop.node.left().links).toEqual(links);
      await shop.removePods(refused);
      await shop.allow("red", { ...web, policyTypes: ["Ingress"] });
      const open = await shop.runPod("web", { app: "web" }, "lan,red", { policies: { enforceAt: "node", failure: "open" } });
      expect(rules()).toContain("from/net2");
      const inPodOnly =
        /PoliciesInPodOnly.* and at the node's end of net2, and not .*: interface net1 of network shop\/lan: its link/u;
      await expect.poll(() => shop.api.eventsOf(open), patience).toContainEqual(expect.stringMatching(inPodOnly));
      const shown = await shop.onNode("policies", "tables", "shop/web", "-o", "wide");
      expect(shown).toMatchObject({ status: 1, stdout: expect.stringMatching(/net1 .* pod .*\n.*net2 .* node /u) });
      for (const name of ["lan", "red"]) await shop.forbid(name);
      await shop.removePods(open);
      expect(tables()).not.toContain("plexus");
      expect(shop.node.left().links).toEqual(links);
      onHost("ip", "link", "delete", "lower0");
    },
  );
});
