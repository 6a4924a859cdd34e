import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readHostConfiguration } from "../../../src/configuration/read-host-configuration.ts";
import { ok } from "../../../src/fault/result.ts";
import type { Pod } from "../../../src/npwg/pod.ts";
import { systemClock } from "../../system/clock.ts";
import { FollowPods, type FollowedWork } from "./follow-pods.ts";

const work: FollowedWork = {
  name: "test",
  isOn: () => true,
  noAgent: "POLICY_FAILED",
  failureReason: "PoliciesNotApplied",
  apply: async () => ok(undefined),
  onChange: () => () => undefined,
  isConcerned: () => false,
  followsLabels: true,
};
const labelled = (mode: string): Pod => ({
  namespace: "shop",
  name: "web",
  labels: new Map([["mode", mode]]),
  annotations: new Map(),
});

test("labels that the watch tells only after a pod's work are worked on, and equal ones later are not", async () => {
  const directory = mkdtempSync(join(tmpdir(), "follow-pods-"));
  const read = readHostConfiguration({ cniVersion: "1.0.0", name: "n", type: "plexus", clusterNetwork: "n", kubeconfig: "/k" });
  if (!read.ok) throw new Error(read.fault.msg);
  const follow = new FollowPods(
    {
      directories: [directory],
      agent: () => undefined,
      takeLock: () => Promise.reject(new Error("the directory has no container")),
      clock: systemClock,
      watch: async () => undefined,
      log: () => undefined,
    },
    work,
  );
  const applied = (): number => follow.totals.applied;
  try {
    await follow.noteConfiguration(read.value);
    follow.noteAdded("K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web");
    await expect.poll(applied, { timeout: 60_000 }).toBe(1);
    follow.podChanged("shop", "web", labelled("closed"));
    await expect.poll(applied, { timeout: 60_000 }).toBe(2);
    follow.podChanged("shop", "web", labelled("closed"));
    follow.podChanged("shop", "web", labelled("open"));
    await expect.poll(applied, { timeout: 60_000 }).toBe(3);
  } finally {
    await follow.stop(0);
    rmSync(directory, { recursive: true });
  }
});
