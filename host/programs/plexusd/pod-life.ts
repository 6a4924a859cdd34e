// The daemon's life as a pod: it writes the node's network configuration, keeps credentials for one-shot engines, and decides when it is
// stopped whether the configuration stays.

import type { NodeCredentials } from "../../cluster/kube/node-credentials.ts";
import type { OwnDaemonSet } from "../../cluster/kube/own-daemon-set.ts";
import { ConfigurationWriter, type ConfigurationWriterInit } from "../../node/cni-configuration/configuration-writer.ts";
import { podsOfPlexus } from "../../node/uninstall/pods-of-plexus.ts";
import type { RetireReport, RetireStep } from "../../node/uninstall/retire-report.ts";
import type { ReadinessCheck } from "../../telemetry/readiness.ts";
import type { Metrics } from "../../telemetry/metrics/metrics.ts";
import type { OwnApi } from "./daemon-clusters.ts";

/** The settings of a daemon that writes the network configuration. */
export interface PodLifeInit {
  readonly writer: ConfigurationWriterInit;
  readonly nodeName: string | undefined;
  /** Directory of the kubeconfig for one-shot engines; undefined: none is written. */
  readonly nodeCredentials: string | undefined;
  /** The DaemonSet of the daemon's pod; undefined outside of one. */
  readonly daemonSet: { readonly namespace: string; readonly name: string } | undefined;
}

/** The rest of the daemon. */
export interface PodLifeDeps {
  readonly metrics: Metrics;
  readonly listening: () => boolean;
  /** Whether every watch of the cluster is up to date. */
  readonly watchesAreLive: () => boolean;
  readonly ownApi: () => Promise<OwnApi | undefined>;
  readonly stateDirectories: () => readonly string[];
  readonly log: (level: "info" | "warn", text: string) => void;
}

/** Time after the start from which an API that gives no answer no longer delays the configuration, in ms. */
const syncMs = 5_000;
/** Maximum time of the decision whether the configuration stays, in ms. */
const fateMs = 3_000;

/** The life of one daemon. */
export class PodLife {
  readonly #init: PodLifeInit;
  readonly #deps: PodLifeDeps;
  readonly #writer: ConfigurationWriter;
  #startedMs = 0;
  #credentials: NodeCredentials | undefined;
  #daemonSet: OwnDaemonSet | undefined;
  #removed = false;

  constructor(init: PodLifeInit, deps: PodLifeDeps) {
    this.#init = init;
    this.#deps = deps;
    const { metrics, listening, watchesAreLive, log } = deps;
    this.#writer = new ConfigurationWriter(init.writer, {
      canServe: () => listening() && (watchesAreLive() || performance.now() - this.#startedMs > syncMs),
      log,
      onChange: (outcome) => metrics.add("plexus_cni_configuration_writes_total", { outcome }),
    });
    metrics.onScrape(() => this.#collect());
  }

  /** Begins; call it when the daemon listens. */
  async start(): Promise<void> {
    this.#startedMs = performance.now();
    const { nodeName, nodeCredentials, daemonSet } = this.#init;
    const { metrics, log } = this.#deps;
    const warn = (text: string): void => log("warn", text);
    const api = await this.#deps.ownApi();
    if (api !== undefined && nodeCredentials !== undefined && nodeName !== undefined) {
      const { NodeCredentials } = await import("../../cluster/kube/node-credentials.ts");
      const onOutcome = (outcome: "renewed" | "failed"): void =>
        metrics.add("plexus_node_credentials_renewals_total", { outcome });
      this.#credentials = new NodeCredentials({ ...api, directory: nodeCredentials, nodeName, warn, onOutcome });
      void this.#credentials.start();
    }
    if (api !== undefined && daemonSet !== undefined) {
      const { OwnDaemonSet } = await import("../../cluster/kube/own-daemon-set.ts");
      this.#daemonSet = new OwnDaemonSet({ ...api, ...daemonSet, nodeName, warn });
      void this.#daemonSet.learn();
    }
    await this.#writer.start();
  }

  /** Decides whether the configuration stays, and removes it if not. Call it while calls are still served. */
  async stop(): Promise<void> {
    this.#credentials?.stop();
    const fate = await this.#daemonSet?.fate(fateMs);
    if (fate === undefined || fate.stays) {
      if (fate !== undefined) this.#deps.log("info", `${this.#writer.path} stays: ${fate.why}`);
      await this.#writer.stop();
      return;
    }
    this.#deps.log("info", `Plexus is being removed from this node: ${fate.why}`);
    await this.#leave();
  }

  /** Takes a step of Plexus' removal. */
  async retire(step: RetireStep): Promise<RetireReport> {
    const problem = step === "finish" ? await this.#leave() : await this.#setRetired(step === "begin");
    const { pods, problems } = podsOfPlexus(this.#deps.stateDirectories());
    const retired = this.#removed || this.#writer.state.retired;
    return {
      configuration: this.#writer.path,
      retired,
      pods,
      problems: problem === undefined ? problems : [problem, ...problems],
    };
  }

  /** The readiness check of the configuration. */
  check(): Pick<ReadinessCheck, "ok" | "message"> {
    const { path } = this.#writer;
    const { written, clusterNetwork, retired, problem } = this.#writer.state;
    if (this.#removed) return { ok: true, message: `${path}: removed, because Plexus is being removed` };
    if (problem !== undefined) return { ok: false, message: `${problem.msg} [${problem.kind}]` };
    if (!written) return { ok: false, message: `${path}: not written yet` };
    const only = retired ? "; new pods get no other network, because Plexus is being removed" : "";
    return { ok: true, message: `${path}: the default network is that of ${clusterNetwork}${only}` };
  }

  /** The sentence for the status document. */
  get credentialsSentence(): string {
    const { expiresMs, problem } = this.#credentials?.state ?? { expiresMs: undefined, problem: undefined };
    const token =
      expiresMs === undefined ? "no token for one-shot engines" : `a token until ${new Date(expiresMs).toISOString()}`;
    return problem === undefined ? token : `${token}; ${problem}`;
  }

  async #setRetired(retired: boolean): Promise<string | undefined> {
    if (this.#removed) return `${this.#writer.path} is removed already; restart the daemon to write it again`;
    return (await this.#writer.retire(retired))?.msg;
  }

  async #leave(): Promise<string | undefined> {
    const removed = await this.#writer.leave();
    this.#removed = removed.ok;
    if (!removed.ok) this.#deps.log("warn", removed.fault.msg);
    return removed.ok ? undefined : removed.fault.msg;
  }

  #collect(): void {
    const { metrics } = this.#deps;
    const { written, problem } = this.#writer.state;
    metrics.set("plexus_cni_configuration_written", {}, written ? 1 : 0);
    metrics.replace(
      "plexus_cni_configuration_problem",
      problem === undefined ? [] : [{ labels: { fault: problem.kind }, value: 1 }],
    );
    const expiresMs = this.#credentials?.state.expiresMs;
    if (expiresMs !== undefined) metrics.set("plexus_node_credentials_expiry_timestamp_seconds", {}, expiresMs / 1000);
  }
}
