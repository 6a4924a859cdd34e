// 200 pods through ADD and DEL, with 1 to 4 attachments, 16 at once, while plugins fail, the cluster's objects come late, and brains
// and hands are killed. At the end nothing is out of place. PLEXUS_TEST_SEED repeats a run, PLEXUS_TEST_PODS makes it smaller.

import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import type { Answer } from "../harness/plexus.ts";
import { missing, type Requirement } from "../harness/requires.ts";
import { addFaults, type AddFault, type DelFault, delFaults, type PodPlan, podPlan } from "./fault-plan.ts";
import { killStep } from "./kill-step.ts";
import { manifestsIn, type Manifests } from "./manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "./mixed-network.ts";
import { processesNaming } from "./processes.ts";
import { nothing, openStage, type Attaching, type Stage } from "./stage.ts";

const pods = Number(process.env["PLEXUS_TEST_PODS"] ?? 200);
const seed = Number(process.env["PLEXUS_TEST_SEED"] ?? Math.floor(Math.random() * 1e6));
const lanes = 16;
/** Of all ADDs and of all DELs. */
const faulty = 0.3;
/** Tries of a runtime until it gives a pod up. */
const mostTries = 8;

const childLists: Requirement = () =>
  existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
    ? undefined
    : "the kernel lists no children (CONFIG_PROC_CHILDREN)";

const further = {
  storage: [{ type: "bridge", bridge: "br-storage", ipam: { type: "host-local", subnet: "10.20.0.0/16" } }, { type: "fault-1" }],
  uplink: [{ type: "fault-2" }, { type: "ptp", ipam: { type: "ipam-host-local", subnet: "10.30.0.0/16" } }],
  labels: [{ type: "ipam-host-local", ipam: { subnet: "10.40.0.0/16" } }, { type: "fault-3" }, shaperStep],
} as const;
const names = Object.keys(further);

/** One pod as a kubelet sees it: sandboxes come and go until one stands. */
interface CrowdPod {
  readonly plan: PodPlan;
  readonly name: string;
  sandbox: (Attaching & { readonly pod: ReturnType<Stage["pod"]> }) | undefined;
}

function percentile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
}

/** The steps that a pod's networks have for faults: the default one's, and one for each further network. */
function placeOf({ plan }: CrowdPod): number {
  const name = plan.networks[plan.place - 1];
  return name === undefined ? 0 : names.indexOf(name) + 1;
}

/** Runs one pod after the other in each lane. */
async function inLanes(crowd: readonly CrowdPod[], act: (pod: CrowdPod) => Promise<void>): Promise<void> {
  const queue = [...crowd];
  const lane = async (): Promise<void> => {
    for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) await act(pod);
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

describe.skipIf(missingForMixed("a crowd of pods") || missing("a crowd of pods", childLists))("a crowd of pods", () => {
  let stage: Stage;
  let manifests: Manifests;
  const wrong: string[] = [];
  const counts = new Map<string, number>();
  const times: Record<"ADD" | "DEL", number[]> = { ADD: [], DEL: [] };

  beforeAll(() => {
    stage = openStage(mixedInstallation);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    mkdirSync(join(manifests.directory, "status"));
    for (const index of [0, 1, 2, 3]) copyFileSync(killStep(), faultStep(index));
    for (const [name, plugins] of Object.entries(further)) manifests.network(name, sharingLeases(plugins));
  });
  afterAll(() => stage.dispose());

  const faultStep = (index: number): string => join(stage.plexus.cniPath, `fault-${index}`);
  /** Native host-local keeps its leases where the component does, so that all of them are seen. */
  const sharingLeases = (plugins: readonly object[]): readonly object[] =>
    plugins.map((plugin) =>
      "ipam" in plugin && typeof plugin.ipam === "object" && JSON.stringify(plugin.ipam).includes('"host-local"')
        ? { ...plugin, ipam: { ...plugin.ipam, dataDir: stage.leases } }
        : plugin,
    );
  const config = (): object =>
    stage.network([bridgeStep({ ipam: { type: "ipam-host-local", subnet: "10.10.0.0/16" } }), { type: "fault-0" }], {
      manifests: manifests.directory,
    });
  const count = (what: string): void => void counts.set(what, (counts.get(what) ?? 0) + 1);
  const complain = (pod: CrowdPod, what: string): void => void wrong.push(`${pod.name} (${JSON.stringify(pod.plan)}): ${what}`);

  async function call(
    pod: CrowdPod,
    verb: "ADD" | "DEL",
    sandbox: Attaching,
    fault: AddFault | DelFault | undefined,
  ): Promise<Answer> {
    const onOrder = fault !== undefined && ["brain", "hands", "both", "fail"].includes(fault);
    const order = `${faultStep(placeOf(pod))}.${verb}.${sandbox.containerId}`;
    if (onOrder) writeFileSync(order, fault);
    const answer = await stage.call(verb, sandbox);
    if (fault === undefined) times[verb].push(answer.ms);
    else count(`${verb} ${fault}`);
    if (onOrder && existsSync(order)) {
      rmSync(order);
      complain(pod, `${verb}: ${fault} did not happen: ${answer.stdout}`);
    }
    if (fault !== undefined && answer.status === 0) complain(pod, `${verb} succeeded in spite of: ${fault}`);
    return answer;
  }

  /** DEL as a runtime repeats it: with faults first, until it succeeds; then once more, without a namespace. */
  async function remove(pod: CrowdPod, sandbox: Attaching, faults: readonly DelFault[]): Promise<void> {
    for (const fault of faults) await call(pod, "DEL", sandbox, fault);
    const deleted = await call(pod, "DEL", sandbox, undefined);
    if (deleted.status !== 0) complain(pod, `DEL failed: ${deleted.stdout}${deleted.stderr}`);
    // containerd does; every other pod has to do, for the time that it takes.
    if (pod.plan.number % 2 === 0) return;
    const again = await call(pod, "DEL", { ...sandbox, pod: "" }, undefined);
    if (again.status !== 0 || again.stderr !== "") complain(pod, `the second DEL failed: ${again.stdout}${again.stderr}`);
  }

  /** Makes the cluster wrong for one ADD; answers how to put it right. */
  function disturbCluster(pod: CrowdPod, fault: AddFault | undefined): () => void {
    const manifest = join(manifests.directory, `pod-${pod.name}.json`);
    const status = join(manifests.directory, "status", `shop.${pod.name}.json`);
    if (fault === "no pod yet") {
      renameSync(manifest, `${manifest}.later`);
      return () => renameSync(`${manifest}.later`, manifest);
    }
    if (fault !== "status refused") return () => undefined;
    mkdirSync(status);
    return () => rmSync(status, { recursive: true });
  }

  async function start(pod: CrowdPod): Promise<void> {
    manifests.pod(pod.name, pod.plan.networks.length === 0 ? undefined : pod.plan.networks.join(","));
    const faults = [...pod.plan.add, undefined];
    for (let tries = 0; tries < mostTries; tries++) {
      const fault = faults[tries];
      const sandbox = {
        config: config(),
        containerId: `${pod.name}-${tries}`,
        pod: stage.pod(),
        args: manifests.argsOf(pod.name),
      };
      const recover = disturbCluster(pod, fault);
      const added = await call(pod, "ADD", sandbox, fault);
      recover();
      if (added.status === 0) {
        pod.sandbox = sandbox;
        return;
      }
      if (fault === undefined) complain(pod, `ADD failed: ${added.stdout}${added.stderr}`);
      await remove(pod, sandbox, []);
      const links = sandbox.pod.links();
      if (links.length > 0) complain(pod, `a failed ADD's DEL left ${JSON.stringify(links)}`);
      sandbox.pod.dispose();
    }
  }

  /** What a standing pod has, beside what its status says. */
  function compareStatus(pod: CrowdPod): void {
    const status = manifests.statusOf(pod.name);
    const linked = pod.plan.networks.filter((name) => name !== "labels");
    const addresses = pod.sandbox?.pod.addresses().map(({ address }) => address.replace(/\/.*/u, "")) ?? [];
    const told = Array.isArray(status)
      ? status.flatMap((each: { ips?: unknown }) => (Array.isArray(each.ips) ? each.ips : []))
      : [];
    if (!Array.isArray(status) || status.length !== pod.plan.networks.length + 1)
      complain(pod, `status ${JSON.stringify(status)}`);
    const unseen = addresses.filter((address) => !told.includes(address));
    if (addresses.length !== linked.length + 1 || unseen.length > 0)
      complain(pod, `has ${addresses.join()}, is told to have ${told.join()}`);
  }

  test(`${pods} pods come and go, and nothing is out of place`, { timeout: 600_000 }, async () => {
    process.stderr.write(`crowd: PLEXUS_TEST_SEED=${seed}\n`);
    const started = performance.now();
    const crowd = Array.from({ length: pods }, (_, number): CrowdPod => {
      const plan = podPlan(seed, number, names, faulty);
      return { plan, name: `pod${number}`, sandbox: undefined };
    });
    await inLanes(crowd, start);
    for (const pod of crowd) compareStatus(pod);
    const attachments = crowd.reduce((sum, { plan }) => sum + plan.networks.length + 1, 0);
    expect([wrong, stage.files().leases.length, stage.files().run]).toEqual([[], attachments, []]);
    expect(stage.files().state.filter((path) => path.startsWith("journal/"))).toHaveLength(pods);
    expect(stage.files().state.filter((path) => path.startsWith("results/"))).toHaveLength(attachments);
    expect(stage.files().state.filter((path) => !/^(journal|results)\//u.test(path))).toEqual([]);

    // The cluster forgets everything before the pods go.
    rmSync(manifests.directory, { recursive: true });
    await inLanes(crowd, async (pod) => {
      if (pod.sandbox === undefined) return;
      await remove(pod, pod.sandbox, pod.plan.del);
      const links = pod.sandbox.pod.links();
      if (links.length > 0) complain(pod, `still has ${JSON.stringify(links)}`);
    });
    expect(wrong).toEqual([]);
    await expect.poll(() => stage.left(), { timeout: 10_000 }).toEqual(nothing);
    await expect.poll(() => processesNaming(stage.plexus.directory), { timeout: 10_000 }).toEqual([]);

    const seconds = (performance.now() - started) / 1000;
    const faults = [...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([what, times_]) => `${times_} ${what}`);
    process.stderr.write(
      `crowd: ${pods} pods, ${attachments} attachments, ${lanes} at once, in ${seconds.toFixed(1)} s; ` +
        `ADD p50 ${percentile(times.ADD, 0.5)} ms, p95 ${percentile(times.ADD, 0.95)} ms; ` +
        `DEL p50 ${percentile(times.DEL, 0.5)} ms, p95 ${percentile(times.DEL, 0.95)} ms; faults: ${faults.join(", ")}\n`,
    );
    // Every kind of fault has happened, or the run has shown less than it says.
    const kinds = [...addFaults.map((fault) => `ADD ${fault}`), ...delFaults.map((fault) => `DEL ${fault}`)];
    expect(pods < 200 ? [] : kinds.filter((kind) => !counts.has(kind))).toEqual([]);
  });
});
