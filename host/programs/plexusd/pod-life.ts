// The daemon's life as a pod: it writes the node's network configuration, keeps credentials for one-shot engines, and decides when it is
// stopped whether the configuration stays.

import { resolve } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Fault } from "../../../src/fault/fault.ts";
import { involvedNode } from "../../../src/kube/event.ts";
import type { NodeCredentials } from "../../cluster/kube/node-credentials.ts";
import type { OwnDaemonSet } from "../../cluster/kube/own-daemon-set.ts";
import { ConfigurationWriter } from "../../node/cni-configuration/configuration-writer.ts";
import type { WriterSettings } from "../../node/cni-configuration/writer-settings.ts";
import { Removal } from "../../node/uninstall/removal.ts";
import type { RemovalReport, RemovalStep } from "../../node/uninstall/removal-report.ts";
import type { CheckResult } from "../../telemetry/status-document.ts";
import type { Metrics } from "../../telemetry/metrics/metrics.ts";
import type { Clock } from "../../system/clock.ts";
import type { OwnApi } from "./daemon-clusters.ts";

/** The settings of a daemon that writes the network configuration. */
export interface PodLifeSettings {
  readonly writer: WriterSettings;
  readonly nodeName: string | undefined;
  /** Directory of the kubeconfig for one-shot engines; undefined: none is written. */
  readonly nodeCredentials: string | undefined;
  /** The DaemonSet of the daemon's pod; undefined outside of one. */
  readonly daemonSet: { readonly namespace: string; readonly name: string; readonly podName: string | undefined } | undefined;
}

/** The rest of the daemon. */
export interface PodLifeDeps {
  readonly metrics: Metrics;
  readonly listening: () => boolean;
  /** Whether every watch of the cluster is up to date. */
  readonly watchesAreLive: () => boolean;
  readonly ownApi: () => Promise<OwnApi | undefined>;
  readonly stateDirectories: () => readonly string[];
  /** See `RemovalDeps.callsBefore`. */
  readonly callsBefore: (ms: number) => number;
  readonly clock: Clock;
  readonly log: (level: "info" | "warn", text: string) => void;
  /** Stops the daemon, so that the kubelet starts its container anew, with new mounts. */
  readonly restart: () => void;
}

/** Time after the start from which an API that gives no answer no longer delays the configuration, in ms. */
const syncMs = 5_000;
/**
 * Time for which calls are served after the configuration was removed, in ms. A runtime reads its directory anew when inotify reports a
 * change, and executes the plugins of a sandbox some time after it has read.
 */
const lateCallsMs = 2_000;
/** Maximum time of the decision whether the configuration stays, in ms. */
const fateMs = 3_000;

/** The life of one daemon. */
export class PodLife {
  readonly #settings: PodLifeSettings;
  readonly #deps: PodLifeDeps;
  readonly #writer: ConfigurationWriter;
  readonly #removal: Removal;
  #startedAt = Infinity;
  #credentials: NodeCredentials | undefined;
  #daemonSet: OwnDaemonSet | undefined;

  constructor(settings: PodLifeSettings, deps: PodLifeDeps) {
    this.#settings = settings;
    this.#deps = deps;
    const { metrics, listening, watchesAreLive, callsBefore, clock, log } = deps;
    this.#writer = new ConfigurationWriter(settings.writer, {
      canServe: () => listening() && (watchesAreLive() || clock.now() - this.#startedAt > syncMs),
      clock,
      log,
      onProblem: (problem) => void this.#tell(problem),
      onLostMount: (directory) => this.#remount(directory),
      onChange: (outcome) => metrics.add("plexus_cni_configuration_writes_total", { outcome }),
    });
    this.#removal = new Removal({
      writer: this.#writer,
      stateDirectories: () => this.#stateDirectories,
      callsBefore,
      runtime: async () => this.#daemonSet?.runtime(),
      clock,
      log,
    });
    metrics.onScrape(() => this.#collect());
  }

  /** Begins; call it when the daemon listens. */
  async start(): Promise<void> {
    this.#startedAt = this.#deps.clock.now();
    const { nodeName, nodeCredentials, daemonSet } = this.#settings;
    const { metrics, log } = this.#deps;
    const warn = (text: string): void => log("warn", text);
    const api = await this.#deps.ownApi();
    if (api !== undefined && nodeCredentials !== undefined && nodeName !== undefined) {
      const { NodeCredentials } = await import("../../cluster/kube/node-credentials.ts");
      const onOutcome = (outcome: "renewed" | "failed"): void =>
        metrics.add("plexus_node_credentials_renewals_total", { outcome });
      this.#credentials = new NodeCredentials({
        ...api,
        sleep: (ms) => setTimeout(ms),
        directory: nodeCredentials,
        nodeName,
        warn,
        onOutcome,
      });
      void this.#credentials.start();
    }
    if (api !== undefined && daemonSet !== undefined) {
      const { OwnDaemonSet } = await import("../../cluster/kube/own-daemon-set.ts");
      this.#daemonSet = new OwnDaemonSet({
        ...api,
        ...daemonSet,
        nodeName,
        warn,
        sleep: (ms) => setTimeout(ms, undefined, { ref: false }),
      });
      // Calls and the file do not wait for the API.
      const learnt = this.#daemonSet.learn();
      await this.#startWriter();
      const identity = await learnt;
      if (identity !== undefined) await this.#removal.belongTo(identity);
      return;
    }
    await this.#startWriter();
  }

  /** A removed directory stays mounted in a container until the container starts anew. Outside of a pod nothing is mounted. */
  #remount(directory: string): void {
    if (this.#settings.daemonSet === undefined) return;
    this.#deps.log(
      "warn",
      `${directory} was removed on the node: the daemon ends, so that its next container sees the successor`,
    );
    this.#deps.restart();
  }

  async #startWriter(): Promise<void> {
    await this.#writer.start();
    this.#removal.start();
  }

  /**
   * Decides whether the configuration stays, and removes it if not. Call it while calls are still served. Answers for how many milliseconds
   * they must still be served, because runtimes may have read the configuration just before its removal.
   */
  async stop(): Promise<number> {
    this.#credentials?.stop();
    this.#removal.stop();
    const fate = await this.#daemonSet?.fate(fateMs);
    if (fate === undefined || fate.stays) {
      if (fate !== undefined) this.#deps.log("info", `${this.#writer.path} stays: ${fate.why}`);
      await this.#writer.stop();
      return 0;
    }
    this.#deps.log("info", `Plexus is being removed from this node: ${fate.why}`);
    const { written } = this.#writer.state;
    const removed = await this.#writer.leave();
    if (!removed.ok) this.#deps.log("warn", removed.fault.msg);
    return written ? lateCallsMs : 0;
  }

  /** Takes a step of Plexus' removal. See `Removal.step`. */
  removalStep(step: RemovalStep, held: boolean): Promise<RemovalReport> {
    return this.#removal.step(step, held);
  }

  /** The template's state directory counts although no call has named it yet. */
  get #stateDirectories(): readonly string[] {
    const { stateDirectory } = this.#writer;
    const own = stateDirectory === undefined ? [] : [resolve(stateDirectory)];
    return [...new Set([...this.#deps.stateDirectories(), ...own])];
  }

  /** The readiness check of the configuration. */
  check(): CheckResult {
    const { path } = this.#writer;
    const { written, clusterNetwork, steps, omitted, standing, problem } = this.#writer.state;
    if (problem !== undefined) return { ok: false, message: `${problem.msg} [${problem.kind}]` };
    if (standing === "withdrawn") return { ok: true, message: `${path}: removed, because Plexus is being removed` };
    if (!written) return { ok: false, message: `${path}: not written yet` };
    const only = standing === "retired" ? "; new pods get no other network, because Plexus is being removed" : "";
    const foreign = steps.length === 0 ? "" : `; then another program's ${steps.join(", ")}`;
    const without = omitted.length === 0 ? "" : `; without ${omitted.join(", ")} of that file`;
    return { ok: true, message: `${path}: the default network is that of ${clusterNetwork}${foreign}${without}${only}` };
  }

  /** The sentence for the status document. */
  get credentialsSentence(): string {
    const { expiresAt, problem } = this.#credentials?.state ?? { expiresAt: undefined, problem: undefined };
    const token =
      expiresAt === undefined ? "no token for one-shot engines" : `a token until ${new Date(expiresAt).toISOString()}`;
    return problem === undefined ? token : `${token}; ${problem}`;
  }

  /** Sends an Event about the node. An Event may be lost: log, metrics and readiness say the same. */
  async #tell({ kind, msg, details = "" }: Fault): Promise<void> {
    const { nodeName } = this.#settings;
    const api = await this.#deps.ownApi();
    if (nodeName === undefined) return;
    const content = { reason: "PlexusConfiguration", message: `${kind}: ${msg}. To do: ${details}`, type: "Warning" } as const;
    api?.events.add(involvedNode(nodeName), content, this.#deps.clock.date());
  }

  #collect(): void {
    const { metrics } = this.#deps;
    const { written, steps, standing, problem } = this.#writer.state;
    metrics.set("plexus_cni_configuration_written", {}, written ? 1 : 0);
    metrics.set("plexus_cni_configuration_retired", {}, standing === "in-force" ? 0 : 1);
    metrics.replace(
      "plexus_cni_configuration_foreign_steps",
      steps.map((plugin) => ({ labels: { plugin }, value: 1 })),
    );
    metrics.replace(
      "plexus_cni_configuration_problem",
      problem === undefined ? [] : [{ labels: { fault: problem.kind }, value: 1 }],
    );
    const expiresAt = this.#credentials?.state.expiresAt;
    if (expiresAt !== undefined) metrics.set("plexus_node_credentials_expiry_timestamp_seconds", {}, expiresAt / 1000);
  }
}
