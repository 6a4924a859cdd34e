// The cost of a reading of counters and of a look at links, in effects and in CPU time of the daemon and the agent together.

import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readCounters } from "../../../features/link-counters/node/read-counters.ts";
import { lookIntoPod } from "../../../features/link-watch/follow/look-into-pod.ts";
import type { NetlinkSender } from "../../../host/system/netlink/exchange.ts";
import type { TestAgent } from "../../lab/agent.ts";
import { cpuMs, cpuMsOf } from "../../lab/cpu-ms.ts";
import { missingForMixed } from "../../lab/mixed-network.ts";
import { createPodNamespace, inHost, type PodNamespace } from "../../lab/namespaces.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";

/** Pods of a node. They are one network namespace here, which is read as often. */
const pods = 500;
/** The links of each pod. */
const links = ["net1", "net2", "net3", "net4"];

describe.skipIf(missingForMixed("costs of looks"))("the cost of 500 pods with four further links", () => {
  let node: ReconcileNode;
  let agent: TestAgent;
  let pod: PodNamespace;
  let indexes: readonly number[];
  beforeAll(async () => {
    node = new ReconcileNode();
    await node.start();
    agent = await node.startAgent();
    pod = createPodNamespace("costs");
    const script = links.map((name, index) => `ip -n ${pod.name} link add ${name} type veth peer name p${index}`).join("; ");
    inHost(["sh", "-ec", script]);
    const listed: { readonly ifindex: number; readonly ifname: string }[] = JSON.parse(pod.exec(["ip", "-j", "link"]).stdout);
    indexes = links.map((name) => listed.find(({ ifname }) => ifname === name)?.ifindex ?? 0);
  });
  afterAll(async () => {
    pod?.dispose();
    await node?.dispose();
  });

  /** The effects and the CPU time in ms of so many calls, after a first one. */
  async function costOf(
    call: (shim: NetlinkSender) => Promise<void>,
  ): Promise<{ readonly effects: number; readonly ms: number }> {
    const shim = node.daemon.calls.agent?.shim;
    if (shim === undefined) throw new Error("no agent is connected");
    await call(shim);
    let effects = 0;
    const counting: NetlinkSender = { netlink: (...args) => ((effects += 1), shim.netlink(...args)) };
    const before = cpuMs() + cpuMsOf(agent.pid);
    for (let count = 0; count < pods; count++) await call(counting);
    return { effects, ms: cpuMs() + cpuMsOf(agent.pid) - before };
  }

  test("WA-05 WA-06: a reading of counters is one effect for a pod, and at most 1 ms of CPU time", async () => {
    const { effects, ms } = await costOf(async (shim) => {
      expect(await readCounters(shim, { netns: pod.path, cookie: undefined, indexes })).toHaveLength(links.length);
    });
    expect(effects).toBe(pods);
    expect(ms).toBeLessThan(pods);
  });

  test("WA-05: a look at all pods once a minute is one effect for each, and at most 1 % of a processor", async () => {
    const watched = links.map((ifname, index) => ({ ifname, made: { index: indexes[index] ?? 0 } }));
    const { effects, ms } = await costOf(async (shim) => {
      const seen = await lookIntoPod(shim, { netns: pod.path, cookie: undefined, links: watched }, () => undefined);
      expect(seen).toMatchObject({ ok: true });
    });
    expect(effects).toBe(pods);
    expect(ms).toBeLessThan(60_000 / 100);
  });
});
