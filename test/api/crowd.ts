// Attaches and detaches many pods as a kubelet does: a failed ADD is followed by DEL and by a new sandbox.

import { copyFileSync, existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import type { Answer } from "../lab/plexus.ts";
import type { CrowdCluster } from "./crowd-cluster.ts";
import { type AddFault, type DelFault, type PodPlan, podPlan, stepFaults } from "./fault-plan.ts";
import { killStep } from "../lab/kill-step.ts";
import { bridgeStep, shaperStep } from "../lab/mixed-network.ts";
import type { Attaching, Stage } from "../lab/stage.ts";

const lanes = 16;
/** The share of pods with a fault in ADD, and in DEL. Half of the pods, because an undisturbed pod finds little and takes as long. */
const faultShare = 0.5;
/** Attempts of the runtime before it gives a pod up. */
const maxAttempts = 8;

const secondaryNetworks = {
  storage: [{ type: "bridge", bridge: "br-storage", ipam: { type: "host-local", subnet: "10.20.0.0/16" } }, { type: "fault-1" }],
  uplink: [{ type: "fault-2" }, { type: "ptp", ipam: { type: "ipam-host-local", subnet: "10.30.0.0/16" } }],
  labels: [{ type: "ipam-host-local", ipam: { subnet: "10.40.0.0/16" } }, { type: "fault-3" }, shaperStep],
} as const;
const names = Object.keys(secondaryNetworks);

interface CrowdPod {
  readonly plan: PodPlan;
  readonly name: string;
  sandbox: (Attaching & { readonly pod: ReturnType<Stage["pod"]> }) | undefined;
}

function percentile(values: readonly number[], share: number): string {
  const sorted = values.toSorted((a, b) => a - b);
  return (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(0);
}

/** The index of the fault step that a pod's plan selects: 0 is the default network's, others are those of secondary networks. */
function faultStepOf({ plan }: CrowdPod): number {
  const name = plan.networks[plan.faultNetwork - 1];
  return name === undefined ? 0 : names.indexOf(name) + 1;
}

export class Crowd {
  /** Descriptions of unexpected answers and remains. */
  readonly problems: string[] = [];
  /** The number of occurrences of each fault. */
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
      plan: podPlan(seed, number, names, faultShare),
      name: `pod${number}`,
      sandbox: undefined,
    }));
  }

  /** The number of attachments when all pods are attached. */
  get attachments(): number {
    return this.#pods.reduce((sum, { plan }) => sum + plan.networks.length + 1, 0);
  }

  async prepare(): Promise<void> {
    for (let index = 0; index <= names.length; index++) copyFileSync(killStep(), this.#faultStep(index));
    for (const [name, plugins] of Object.entries(secondaryNetworks))
      await this.#cluster.network(name, this.#withSharedLeases(plugins));
  }

  /** Attaches all pods, then compares each pod's addresses with its status. */
  async attachAll(): Promise<void> {
    await this.#inLanes((pod) => this.#start(pod));
    for (const pod of this.#pods) await this.#compareStatus(pod);
  }

  /** Detaches all pods. The cluster is unreachable at this time. */
  async detachAll(): Promise<void> {
    await this.#inLanes(async (pod) => {
      if (pod.sandbox === undefined) return;
      await this.#remove(pod, pod.sandbox, pod.plan.del);
      const links = pod.sandbox.pod.links();
      if (links.length > 0) this.#report(pod, `still has ${JSON.stringify(links)}`);
    });
  }

  figures(): string {
    const { ADD, DEL } = this.#times;
    const seconds = (performance.now() - this.#started) / 1000;
    const faults = [...this.counts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([fault, count]) => `${count} ${fault}`);
    return (
      `${this.#pods.length} pods, ${this.attachments} attachments, ${lanes} at once, in ${seconds.toFixed(1)} s; ` +
      `ADD p50 ${percentile(ADD, 0.5)} ms, p95 ${percentile(ADD, 0.95)} ms; ` +
      `DEL p50 ${percentile(DEL, 0.5)} ms, p95 ${percentile(DEL, 0.95)} ms; faults: ${faults.join(", ")}`
    );
  }

  #faultStep(index: number): string {
    return join(this.#stage.plexus.cniPath, `fault-${index}`);
  }

  /** Sets dataDir of native host-local to the component's lease directory, so that one directory has all leases. */
  #withSharedLeases(plugins: readonly object[]): readonly object[] {
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

  #count(fault: string): void {
    this.counts.set(fault, (this.counts.get(fault) ?? 0) + 1);
  }

  #report(pod: CrowdPod, problem: string): void {
    this.problems.push(`${pod.name} (${JSON.stringify(pod.plan)}): ${problem}`);
  }

  async #call(pod: CrowdPod, verb: "ADD" | "DEL", sandbox: Attaching, fault: AddFault | DelFault | undefined): Promise<Answer> {
    const isStepFault = fault !== undefined && stepFaults.some((each) => each === fault);
    const order = `${this.#faultStep(faultStepOf(pod))}.${verb}.${sandbox.containerId}`;
    if (isStepFault) writeFileSync(order, fault);
    let answer = await this.#stage.call(verb, sandbox);
    // As the kubelet does: more calls at once than one-shot engines may wait in vain on a busy machine.
    while (answer.json?.["code"] === 11 && answer.stdout.includes("one-shot engines run already")) {
      this.#count(`${verb} repeated`);
      answer = await this.#stage.call(verb, sandbox);
    }
    if (fault === undefined) this.#times[verb].push(answer.ms);
    else this.#count(`${verb} ${fault}`);
    if (isStepFault && existsSync(order)) {
      rmSync(order);
      this.#report(pod, `${verb}: ${fault} was not executed: ${answer.stdout}`);
    }
    if (fault !== undefined && answer.status === 0) this.#report(pod, `${verb} succeeded in spite of the fault ${fault}`);
    return answer;
  }

  /** Repeats DEL as a runtime does: first with faults, then without. Every third pod gets one more DEL without a namespace. */
  async #remove(pod: CrowdPod, sandbox: Attaching, faults: readonly DelFault[]): Promise<void> {
    for (const fault of faults) await this.#call(pod, "DEL", sandbox, fault);
    const deleted = await this.#call(pod, "DEL", sandbox, undefined);
    if (deleted.status !== 0) this.#report(pod, `DEL failed: ${deleted.stdout}${deleted.stderr}`);
    // containerd repeats DEL for every pod; here every third pod saves time.
    if (pod.plan.number % 3 !== 0) return;
    const again = await this.#call(pod, "DEL", { ...sandbox, pod: "" }, undefined);
    if (again.status !== 0 || again.stderr !== "") {
      this.#report(pod, `the second DEL failed: ${again.stdout}${again.stderr}`);
    }
  }

  async #start(pod: CrowdPod): Promise<void> {
    const { plan, name } = pod;
    for (let attempt = 0; attempt < maxAttempts; attempt++) {
      const fault = plan.add[attempt];
      const transient =
        fault === undefined && plan.hasTransientFailure && this.#cluster.faults.includes("transient failure")
          ? "transient failure"
          : undefined;
      if (transient !== undefined) this.#count("ADD transient failure");
      const clusterFault = fault === "no pod yet" || fault === "status refused" ? fault : transient;
      const networks = plan.networks.length === 0 ? undefined : plan.networks.join(",");
      const { config, args, recover } = await this.#cluster.adding(name, networks, clusterFault);
      const sandbox = { config: this.#config(config), containerId: `${name}-${attempt}`, pod: this.#stage.pod(), args };
      const added = await this.#call(pod, "ADD", sandbox, fault);
      await recover();
      if (added.status === 0) {
        pod.sandbox = sandbox;
        return;
      }
      if (fault === undefined) this.#report(pod, `ADD failed: ${added.stdout}${added.stderr}`);
      await this.#remove(pod, sandbox, []);
      const links = sandbox.pod.links();
      if (links.length > 0) this.#report(pod, `a failed ADD's DEL left ${JSON.stringify(links)}`);
      sandbox.pod.dispose();
    }
  }

  /** Compares an attached pod's addresses with its network status. */
  async #compareStatus(pod: CrowdPod): Promise<void> {
    const status = await this.#cluster.statusOf(pod.name);
    const all = Array.isArray(status) ? status : [];
    if (all.length !== pod.plan.networks.length + 1) this.#report(pod, `status ${JSON.stringify(status)}`);
    const published = all.flatMap(({ ips }: { ips?: unknown }) => (Array.isArray(ips) ? ips : []));
    const linked = pod.plan.networks.filter((name) => name !== "labels");
    const addresses = pod.sandbox?.pod.addresses().map(({ address }) => address.replace(/\/.*/u, "")) ?? [];
    const unpublished = addresses.filter((address) => !published.includes(address));
    if (addresses.length !== linked.length + 1 || unpublished.length > 0) {
      this.#report(pod, `has addresses ${addresses.join()}, but its status has ${published.join()}`);
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
