// A crowd of pods, each as a kubelet sees it: sandboxes come and go until one stands; later it goes, too.

import { copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Answer } from "../harness/plexus.ts";
import type { CrowdCluster } from "./crowd-cluster.ts";
import { type AddFault, type DelFault, type PodPlan, podPlan, stepFaults } from "./fault-plan.ts";
import { killStep } from "./kill-step.ts";
import { bridgeStep, shaperStep } from "./mixed-network.ts";
import type { Attaching, Stage } from "./stage.ts";

const lanes = 16;
/** Of all ADDs and of all DELs. */
const faulty = 0.3;
/** Tries of a runtime until it gives a pod up. */
const mostTries = 8;

const further = {
  storage: [{ type: "bridge", bridge: "br-storage", ipam: { type: "host-local", subnet: "10.20.0.0/16" } }, { type: "fault-1" }],
  uplink: [{ type: "fault-2" }, { type: "ptp", ipam: { type: "ipam-host-local", subnet: "10.30.0.0/16" } }],
  labels: [{ type: "ipam-host-local", ipam: { subnet: "10.40.0.0/16" } }, { type: "fault-3" }, shaperStep],
} as const;
const names = Object.keys(further);

interface CrowdPod {
  readonly plan: PodPlan;
  readonly name: string;
  sandbox: (Attaching & { readonly pod: ReturnType<Stage["pod"]> }) | undefined;
}

function percentile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
}

/** The step for faults that a pod's plan means: the default network's, or that of one of its further networks. */
function placeOf({ plan }: CrowdPod): number {
  const name = plan.networks[plan.place - 1];
  return name === undefined ? 0 : names.indexOf(name) + 1;
}

export class Crowd {
  /** What was not as it should be. */
  readonly wrong: string[] = [];
  /** How often each fault happened. */
  readonly counts = new Map<string, number>();
  readonly #times: Record<"ADD" | "DEL", number[]> = { ADD: [], DEL: [] };
  readonly #stage: Stage;
  readonly #cluster: CrowdCluster;
  readonly #pods: readonly CrowdPod[];
  readonly #started = performance.now();

  constructor(stage: Stage, cluster: CrowdCluster, seed: number, count: number) {
    this.#stage = stage;
    this.#cluster = cluster;
    this.#pods = Array.from({ length: count }, (_, number) => ({
      plan: podPlan(seed, number, names, faulty),
      name: `pod${number}`,
      sandbox: undefined,
    }));
  }

  /** Of the whole crowd, once all stand. */
  get attachments(): number {
    return this.#pods.reduce((sum, { plan }) => sum + plan.networks.length + 1, 0);
  }

  async prepare(): Promise<void> {
    for (let index = 0; index <= names.length; index++) copyFileSync(killStep(), this.#faultStep(index));
    for (const [name, plugins] of Object.entries(further)) await this.#cluster.network(name, this.#sharingLeases(plugins));
  }

  /** All pods come; then each has what its status says. */
  async come(): Promise<void> {
    await this.#inLanes((pod) => this.#start(pod));
    for (const pod of this.#pods) await this.#compareStatus(pod);
  }

  /** All pods go, with their cluster gone. */
  async go(): Promise<void> {
    await this.#inLanes(async (pod) => {
      if (pod.sandbox === undefined) return;
      await this.#remove(pod, pod.sandbox, pod.plan.del);
      const links = pod.sandbox.pod.links();
      if (links.length > 0) this.#complain(pod, `still has ${JSON.stringify(links)}`);
    });
  }

  figures(): string {
    const { ADD, DEL } = this.#times;
    const seconds = (performance.now() - this.#started) / 1000;
    const faults = [...this.counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([what, count]) => `${count} ${what}`);
    return (
      `${this.#pods.length} pods, ${this.attachments} attachments, ${lanes} at once, in ${seconds.toFixed(1)} s; ` +
      `ADD p50 ${percentile(ADD, 0.5)} ms, p95 ${percentile(ADD, 0.95)} ms; ` +
      `DEL p50 ${percentile(DEL, 0.5)} ms, p95 ${percentile(DEL, 0.95)} ms; faults: ${faults.join(", ")}`
    );
  }

  #faultStep(index: number): string {
    return join(this.#stage.plexus.cniPath, `fault-${index}`);
  }

  /** Native host-local keeps its leases where the component does, so that all of them are seen. */
  #sharingLeases(plugins: readonly object[]): readonly object[] {
    return plugins.map((plugin) =>
      "ipam" in plugin && typeof plugin.ipam === "object" && JSON.stringify(plugin.ipam).includes('"host-local"')
        ? { ...plugin, ipam: { ...plugin.ipam, dataDir: this.#stage.leases } }
        : plugin,
    );
  }

  #config(more: object): object {
    const main = bridgeStep({ ipam: { type: "ipam-host-local", subnet: "10.10.0.0/16" } });
    return this.#stage.network([main, { type: "fault-0" }], more);
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  #complain(pod: CrowdPod, what: string): void {
    this.wrong.push(`${pod.name} (${JSON.stringify(pod.plan)}): ${what}`);
  }

  async #call(pod: CrowdPod, verb: "ADD" | "DEL", sandbox: Attaching, fault: AddFault | DelFault | undefined): Promise<Answer> {
    const onOrder = fault !== undefined && stepFaults.some((each) => each === fault);
    const order = `${this.#faultStep(placeOf(pod))}.${verb}.${sandbox.containerId}`;
    if (onOrder) writeFileSync(order, fault);
    const answer = await this.#stage.call(verb, sandbox);
    if (fault === undefined) this.#times[verb].push(answer.ms);
    else this.#count(`${verb} ${fault}`);
    if (onOrder && existsSync(order)) {
      rmSync(order);
      this.#complain(pod, `${verb}: ${fault} did not happen: ${answer.stdout}`);
    }
    if (fault !== undefined && answer.status === 0) this.#complain(pod, `${verb} succeeded in spite of: ${fault}`);
    return answer;
  }

  /** DEL as a runtime repeats it: with faults first, until it succeeds; then once more, without a namespace. */
  async #remove(pod: CrowdPod, sandbox: Attaching, faults: readonly DelFault[]): Promise<void> {
    for (const fault of faults) await this.#call(pod, "DEL", sandbox, fault);
    const deleted = await this.#call(pod, "DEL", sandbox, undefined);
    if (deleted.status !== 0) this.#complain(pod, `DEL failed: ${deleted.stdout}${deleted.stderr}`);
    // containerd does; every third pod has to do, for the time that it takes.
    if (pod.plan.number % 3 !== 0) return;
    const again = await this.#call(pod, "DEL", { ...sandbox, pod: "" }, undefined);
    if (again.status !== 0 || again.stderr !== "") {
      this.#complain(pod, `the second DEL failed: ${again.stdout}${again.stderr}`);
    }
  }

  async #start(pod: CrowdPod): Promise<void> {
    const { plan, name } = pod;
    for (let tries = 0; tries < mostTries; tries++) {
      const fault = plan.add[tries];
      const passing = fault === undefined && plan.hiccup && this.#cluster.faults.includes("hiccup") ? "hiccup" : undefined;
      if (passing !== undefined) this.#count("ADD hiccup");
      const clusterFault = fault === "no pod yet" || fault === "status refused" ? fault : passing;
      const networks = plan.networks.length === 0 ? undefined : plan.networks.join(",");
      const { config, args, recover } = await this.#cluster.adding(name, networks, clusterFault);
      const sandbox = { config: this.#config(config), containerId: `${name}-${tries}`, pod: this.#stage.pod(), args };
      const added = await this.#call(pod, "ADD", sandbox, fault);
      await recover();
      if (added.status === 0) {
        pod.sandbox = sandbox;
        return;
      }
      if (fault === undefined) this.#complain(pod, `ADD failed: ${added.stdout}${added.stderr}`);
      await this.#remove(pod, sandbox, []);
      const links = sandbox.pod.links();
      if (links.length > 0) this.#complain(pod, `a failed ADD's DEL left ${JSON.stringify(links)}`);
      sandbox.pod.dispose();
    }
  }

  /** What a standing pod has, beside what its status says. */
  async #compareStatus(pod: CrowdPod): Promise<void> {
    const status = await this.#cluster.statusOf(pod.name);
    const all = Array.isArray(status) ? status : [];
    if (all.length !== pod.plan.networks.length + 1) this.#complain(pod, `status ${JSON.stringify(status)}`);
    const told = all.flatMap(({ ips }: { ips?: unknown }) => (Array.isArray(ips) ? ips : []));
    const linked = pod.plan.networks.filter((name) => name !== "labels");
    const addresses = pod.sandbox?.pod.addresses().map(({ address }) => address.replace(/\/.*/u, "")) ?? [];
    const unseen = addresses.filter((address) => !told.includes(address));
    if (addresses.length !== linked.length + 1 || unseen.length > 0) {
      this.#complain(pod, `has ${addresses.join()}, is told to have ${told.join()}`);
    }
  }

  async #inLanes(act: (pod: CrowdPod) => Promise<void>): Promise<void> {
    const queue = [...this.#pods];
    const lane = async (): Promise<void> => {
      for (let pod = queue.shift(); pod !== undefined; pod = queue.shift()) await act(pod);
    };
    await Promise.all(Array.from({ length: lanes }, lane));
  }
}
