// Rounds of the reconciler over one state directory, with a scripted shim as the agent.

import { existsSync, mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { CallSession } from "../../engine/session/call-session.ts";
import { CallStage } from "../../engine/testing/call-stage.ts";
import { failing } from "../../engine/testing/scripted-shim.ts";
import type { Agent } from "../agent-call.ts";
import { StateRounds } from "./state-round.ts";

let stage: CallStage;
let rounds: StateRounds;
let agent: Agent;
beforeEach(() => {
  stage = new CallStage();
  stage.shim.install("bridge", ({ verb }) =>
    verb === "ADD" ? { stdout: '{"cniVersion":"1.1.0","ips":[{"address":"10.0.0.2/24"}]}' } : {},
  );
  stage.delegates = [{ name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] }];
  rounds = new StateRounds(stage.stateDirectory, 0);
  const { shim } = stage;
  const environment = new Map([["CNI_PATH", "/opt/cni/bin"]]);
  agent = {
    shim,
    environment,
    runsPlugins: true,
    openCall: () => new CallSession({ ...stage.node(), openCluster: async () => undefined }, shim),
    requestOf: (variables, stdin) => ({
      kind: "request",
      name: "plexus",
      environment: new Map([...environment, ...variables]),
      stdin,
      under: 0,
    }),
  };
});
afterEach(() => stage.dispose());

/** Runs one round; answers kind, reason and handling of each finding. */
async function round(more: Partial<Parameters<StateRounds["round"]>[0]> = {}): Promise<readonly (readonly string[])[]> {
  const { findings } = await rounds.round({
    agent,
    dryRun: false,
    impatient: false,
    takeLock: stage.takeLock,
    hasTime: () => true,
    worked: () => {},
    log: () => {},
    now: () => stage.aheadMs,
    date: () => new Date(Date.now() + stage.aheadMs),
    ...more,
  });
  return findings.map(({ kind, why, handling }) => [kind, why, handling]);
}

/** Makes an attachment whose network namespace the agent saw, and removes the namespace. */
async function stale(): Promise<void> {
  await stage.succeed({ verb: "ADD" });
  rounds.configurations.keep("cluster", JSON.stringify(stage.configuration()));
  expect(await round()).toEqual([]);
  stage.shim.namespaces.clear();
  stage.aheadMs += 120_000;
  await round({ dryRun: true });
  stage.aheadMs += 120_000;
}

test("a live attachment is no finding; an attachment whose namespace is gone is undone with an empty CNI_NETNS", async () => {
  await stale();
  expect(await round()).toEqual([["attachment", "namespace-gone", "cleaned"]]);
  expect(stage.shim.calls.map(({ verb, netns }) => [verb, netns])).toEqual([
    ["ADD", "/run/netns/a"],
    ["DEL", ""],
  ]);
  expect(stage.stateFiles().filter((name) => !name.startsWith("configurations"))).toEqual([]);
  expect(await round()).toEqual([]);
});

test("a dry run, a round without time and one without an agent run no plugin", async () => {
  await stale();
  expect(await round({ dryRun: true })).toEqual([["attachment", "namespace-gone", "dry-run"]]);
  expect(await round({ hasTime: () => false })).toEqual([["attachment", "namespace-gone", "postponed"]]);
  expect(await round({ agent: undefined })).toEqual([]);
  expect(stage.shim.calls.map(({ verb }) => verb)).toEqual(["ADD"]);
});

test("a failed undoing is paused, unless an administrator asks for the round", async () => {
  await stale();
  stage.shim.on("bridge", "DEL", failing(105, "the backend is gone"));
  expect(await round()).toEqual([["attachment", "namespace-gone", "failed"]]);
  expect(await round()).toEqual([["attachment", expect.any(String), "paused"]]);
  stage.shim.removeScript("bridge", "DEL");
  stage.aheadMs += 120_000;
  expect(await round({ impatient: true })).toEqual([["attachment", "namespace-gone", "cleaned"]]);
});

test("an attachment whose configuration the daemon does not know is reported only", async () => {
  await stage.succeed({ verb: "ADD" });
  await round();
  stage.shim.namespaces.clear();
  stage.aheadMs += 120_000;
  await round();
  stage.aheadMs += 120_000;
  expect(await round()).toEqual([["attachment", "namespace-gone", "reported"]]);
  expect(stage.shim.calls.map(({ verb }) => verb)).toEqual(["ADD"]);
});

test.each([
  ["whose entry is damaged", "journal/", ["damaged", "unreadable", "reported"]],
  ["with an abandoned attachment", "abandoned/1@", ["abandoned", "given-up", "reported"]],
])("a lease of a container %s stays in its boot, and is freed in a later one", async (_, place, finding) => {
  const container = "4f5e".repeat(16);
  stage.edit(`${place}${container}@cluster@eth0`, () => "");
  const leases = join(stage.directory, "networks", "pods");
  const lease = join(leases, "10.0.0.7");
  mkdirSync(leases, { recursive: true });
  writeFileSync(lease, `${container}\r\neth0`);
  utimesSync(lease, 1_000, 1_000);
  stage.edit("lease-directories", () => `${leases}\n`);
  for (let count = 0; count < 3; count++) expect(await round()).toEqual([finding]);
  expect(existsSync(lease)).toBe(true);

  // As the record of the last boot is.
  stage.edit("unknown-leases", (text) => text.replaceAll(/^\S+/gmu, "earlier-boot"));
  rounds = new StateRounds(stage.stateDirectory, 0);
  expect(await round()).toEqual([finding, ["lease", "earlier-boot", "cleaned"]]);
  expect(existsSync(lease)).toBe(false);
  expect(await round()).toEqual([finding]);
});
