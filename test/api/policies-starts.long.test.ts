// Starts of pods that send before they have an interface: no packet passes that a policy forbids.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { policiesPart } from "../../features/policies/controller/part.ts";
import { slicesPath } from "../../features/policies/rules/address-slice.ts";
import { compiledPlugin } from "../lab/compiled.ts";
import { missingForKube } from "../lab/kube/node.ts";
import { policyRequests } from "../lab/kube/policy-objects.ts";
import { command, missing } from "../lab/requires.ts";
import { addressOf, FollowingNode, type PodOnNode } from "../lab/kube/following-node.ts";
import { servePolicies } from "../lab/kube/serve-policies.ts";

const patience = { timeout: 60_000, interval: 20 };
const starts = 200;
/** Starts of pods whose table comes after the start, as other projects write it. */
const lateStarts = 20;
/** Only ends a hang: a start takes a second and more on a loaded machine. */
const maxMs = 1_800_000;

const received = ({ call }: PodOnNode): number =>
  Number(/packets (\d+)/u.exec(call.pod.exec(["nft", "list", "table", "inet", "count"]).stdout)?.[1] ?? Number.NaN);

describe.skipIf(
  missingForKube("starts of pods with policies") || missing("starts of pods with policies", command("nft", "--version")),
)("starts of pods with policies", () => {
  let shop: FollowingNode;
  beforeAll(async () => {
    shop = await FollowingNode.open({
      alsoAllowed: policyRequests,
      prepare: (api, objects) => servePolicies(api, objects, "shop"),
      part: policiesPart(),
      networks: { red: "10.20.0.0/24" },
      configuration: { policies: {} },
    });
  });
  afterAll(() => shop?.dispose());

  const counter = `table inet count { chain in { type filter hook input priority 0; udp dport 9 counter; }; }`;

  /**
   * Starts a pod whose process sends before the pod has an interface, until the first datagram for `to` arrives. `lateTable`: a file for nft that is loaded
   * once the API has the pod's addresses, in place of Plexus' policies.
   */
  async function sending(
    name: string,
    app: string,
    to: PodOnNode,
    addresses: readonly string[],
    lateTable?: string,
  ): Promise<void> {
    const pod = await shop.createPod(name, { app }, "red", lateTable === undefined ? {} : { policies: undefined });
    const before = received(to);
    const sender = spawn("nsenter", [`--net=${pod.call.pod.path}`, "--", compiledPlugin("datagrams"), ...addresses]);
    for await (const line of createInterface({ input: sender.stdout })) if (line === "ready") break;
    await shop.add(pod);
    if (lateTable !== undefined) {
      const status = JSON.stringify(await shop.api.statusOf("shop", name));
      if (!status.includes(addressOf(pod))) throw new Error(`the API does not have the addresses of ${name}: ${status}`);
      pod.call.pod.exec(["nft", "-f", lateTable]);
    }
    await expect.poll(() => received(to), patience).toBeGreaterThan(before);
    const ended = once(sender, "exit");
    sender.kill("SIGKILL");
    await ended;
    await shop.removePods(pod);
    pod.call.pod.dispose();
  }

  test(
    "PO-22: in 200 starts no packet passes that a policy forbids, and allowed ones do",
    async () => {
      const db = await shop.runPod("db", { app: "db" });
      const other = await shop.runPod("other", { app: "other" });
      for (const { call } of [db, other]) call.pod.exec(["nft", counter]);
      const toDb = [{ to: [{ podSelector: { matchLabels: { app: "db" } } }] }];
      const spec = { podSelector: { matchLabels: { app: "web" } }, policyTypes: ["Egress"], egress: toDb };
      await shop.allow("web", spec);
      await vi.waitFor(
        async () => expect(JSON.stringify(await shop.objects.list(slicesPath("shop")))).toContain(addressOf(db)),
        patience,
      );
      const addresses = [other, db].map((pod) => addressOf(pod));
      for (let start = 0; start < starts; start++) await sending(`web-${start}`, "web", db, addresses);
      expect(received(other)).toBe(0);
      expect(received(db)).toBeGreaterThanOrEqual(starts);
      // The same process without a policy: the datagrams arrive.
      await sending("free", "free", other, addresses);
      // A table that is written once the API has the pod's addresses comes too late: this pod's process has been sending.
      const model = await shop.runPod("model", { app: "web" });
      const table = join(shop.node.plexus.directory, "late.nft");
      writeFileSync(table, model.call.pod.exec(["nft", "list", "table", "inet", "plexus-policies"]).stdout);
      const before = received(other);
      for (let start = 0; start < lateStarts; start++) await sending(`late-${start}`, "web", db, addresses, table);
      const passed = received(other) - before;
      expect(passed).toBeGreaterThan(0);
      if (process.env["PLEXUS_COMPARISON"] === "print")
        process.stdout.write(`${passed} forbidden packets passed in ${lateStarts} starts with a table after the start\n`);
    },
    maxMs,
  );
});
