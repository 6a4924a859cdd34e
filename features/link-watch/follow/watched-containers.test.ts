// Looks at the journal that overlap: a look that began earlier may end later.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { ok } from "../../../src/fault/result.ts";
import type { JournalPlan } from "../../../host/store/journal/entry.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import { bootId } from "../../../host/system/boot-id.ts";
import { WatchedContainers } from "./watched-containers.ts";

let state: string;
let journal: Journal;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), "plexus-watched-"));
  journal = new Journal(state);
});
afterEach(() => rmSync(state, { recursive: true }));

const planOf = (containerId: string): JournalPlan => ({
  kind: "plexusJournalV1",
  containerId,
  network: "pods",
  ifname: "eth0",
  netns: `/run/netns/${containerId}`,
  cniArgs: "",
  cniPath: "/opt/cni/bin",
  bootId: bootId(),
  attachments: ["eth0", "net1"].map((ifname) => ({
    network: "pods",
    ifname,
    source: "a/red",
    conflist: "{}",
    capabilityArgs: {},
  })),
});

function attach(containerId: string): void {
  const plan = planOf(containerId);
  journal.begin(plan);
  for (const [index, name] of ["eth0", "net1"].entries()) {
    const interfaces = [{ name, mac: "02:00:00:00:00:01", sandbox: plan.netns }];
    journal.append(plan, { attached: index, result: JSON.stringify({ cniVersion: "1.1.0", interfaces }) });
  }
  journal.append(plan, { pod: { made: [{ name: "net1", index: 3, kind: "veth", mac: "", peer: 7 }] } });
  journal.append(plan, { closed: true });
}

test("WA-01: a look that ends after a later one leaves what the later one has seen", async () => {
  const parts = { takeLock: () => Promise.reject(new Error("no lock")), look: async () => ok("gone" as const), log: () => {} };
  const containers = new WatchedContainers([state], parts);
  const settings = { cniDir: state, name: "pods", linkWatch: { repair: false }, retired: false };
  containers.noteConfiguration(settings as HostConfiguration);
  const all = Array.from({ length: 80 }, (_, index) => `c${index}`);
  for (const each of all) attach(each);
  const earlier = containers.refresh();
  for (const each of all.slice(1)) rmSync(journal.pathOf(planOf(each)));
  attach("new");
  const order: string[] = [];
  const ends = [earlier.then(() => order.push("earlier")), containers.refresh().then(() => order.push("later"))];
  await Promise.all(ends);
  expect(order).toEqual(["later", "earlier"]);
  expect([...containers.all.values()].map(({ container }) => container.pod).toSorted()).toEqual(["c0", "new"]);
  expect(await earlier).toEqual(ok({ gone: [], changed: [] }));
});
