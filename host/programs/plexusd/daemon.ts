// The daemon, which serves all calls of a node. A call's configuration comes only from the call itself (MO-32).

import { join } from "node:path";
import type { ResidentSettings } from "../../../features/resident-part.ts";
import type { Result } from "../../../src/fault/result.ts";
import { KeptEvents } from "../../cluster/events/kept-events.ts";
import { Reconciler, type ReconcilerDeps, type RoundSettings } from "../../node/reconcile/reconciler.ts";
import { systemClock } from "../../system/clock.ts";
import { Endpoint, type TcpAddress } from "../../telemetry/endpoint.ts";
import { countRound, countUndone } from "../../telemetry/metrics/count-round.ts";
import { Metrics } from "../../telemetry/metrics/metrics.ts";
import { type Observed, Telemetry, type TelemetrySettings } from "../../telemetry/telemetry.ts";
import type { DaemonSocket } from "../../store/files/unix-socket.ts";
import type { QueueBounds } from "./call-queue.ts";
import { CallServer } from "./call-server.ts";
import { DaemonCalls } from "./daemon-calls.ts";
import { DaemonClusters, type SourceSettings } from "./daemon-clusters.ts";
import { DaemonDelegates, type SandboxSettings } from "./daemon-delegates.ts";
import { DaemonNode } from "./daemon-node.ts";
import { PodLife, type PodLifeDeps, type PodLifeSettings } from "./pod-life.ts";
import { ResidentParts } from "./resident-parts.ts";
import { checkSockets } from "./unsafe-socket.ts";
import { collectWatches, watchSentence, watchesAreLive } from "./watch-metrics.ts";

/** The settings of the daemon's parts. */
export interface DaemonSettings {
  /** The socket of the shim and the agent. */
  readonly calls: DaemonSocket;
  readonly queue: QueueBounds;
  /** The socket of plexusctl. */
  readonly status: DaemonSocket;
  /** The address for metrics; undefined: no TCP. */
  readonly metricsListen: TcpAddress | undefined;
  readonly delegates: SandboxSettings;
  readonly clusters: SourceSettings;
  readonly telemetry: TelemetrySettings;
  /** Undefined: nothing is reconciled. */
  readonly reconcile?: RoundSettings;
  /** Undefined: the daemon writes no network configuration. */
  readonly podLife?: PodLifeSettings | undefined;
  /** The parts of features that are on. */
  readonly residents: readonly ResidentSettings[];
}

/** Time limit for sending the remaining spans when the daemon stops, in ms. */
const flushMs = 2000;
const noRounds: RoundSettings = { directories: [], intervalMs: 0, graceMs: 0, dryRun: true };

/** One daemon. */
export class Daemon {
  /** The metrics of all parts of the daemon (see host/telemetry/metrics/definitions.ts). */
  readonly metrics = new Metrics();
  readonly telemetry: Telemetry;
  /** Removes stale attachments. */
  readonly reconciler: Reconciler;
  readonly calls: DaemonCalls;
  /** The features' parts beside the calls. */
  readonly residents: ResidentParts;
  readonly #settings: DaemonSettings;
  readonly #clusters: DaemonClusters;
  readonly #delegates: DaemonDelegates;
  readonly #node: DaemonNode;
  readonly #server: CallServer;
  readonly #endpoint: Endpoint;
  readonly #podLife: PodLife | undefined;

  constructor(settings: DaemonSettings) {
    this.#settings = settings;
    const clock = systemClock;
    this.telemetry = new Telemetry(clock, settings.telemetry, this.#observed());
    const warn = (text: string): void => this.telemetry.warn(text);
    this.residents = new ResidentParts(settings.residents);
    this.#clusters = new DaemonClusters(settings.clusters, clock, warn, {
      onPod: (...changed) => this.residents.podChanged(...changed),
      eventEnded: (outcome) => this.metrics.add("plexus_events_total", { outcome }),
      keptEvents: new KeptEvents(join(settings.telemetry.stateDirectory, "events.json"), warn),
    });
    this.#delegates = new DaemonDelegates(settings.delegates, clock);
    this.#node = new DaemonNode(clock, this.#clusters, this.#delegates, this.residents, this.telemetry);
    this.reconciler = new Reconciler(settings.reconcile ?? noRounds, this.#roundDeps());
    this.calls = new DaemonCalls(this.#node, this.reconciler, this.residents);
    this.#server = new CallServer(settings.calls, settings.queue, {
      serve: (...call) => this.calls.serve(...call),
      agent: (connection) => this.calls.connected(connection),
      waited: (ms) => this.telemetry.waited(ms),
      clock,
      warn,
    });
    this.#podLife = settings.podLife && new PodLife(settings.podLife, this.#podLifeDeps());
    this.#endpoint = new Endpoint(settings.status, settings.metricsListen, clock, this.telemetry, this.metrics, {
      reconcile: (dryRun) => this.reconciler.round(dryRun, true),
      pages: () => this.residents.pages,
      removal: async (step, held) => this.#podLife?.removalStep(step, held),
    });
    this.metrics.onScrape(() => {
      collectWatches(this.metrics, this.#clusters.informers);
      this.metrics.set("plexus_events_waiting", {}, this.#clusters.waitingEvents);
    });
    this.#inform();
  }

  /** The parts that telemetry reads. They are made after it, because they warn by it. */
  #observed(): Observed {
    const { calls, queue } = this.#settings;
    return {
      metrics: this.metrics,
      socket: calls.socket,
      listening: () => this.#server.listening,
      queue: () => {
        const { active, waiting } = this.#server.queue;
        return { active, waiting, mostActive: queue.active, mostWaiting: queue.waiting };
      },
      sandboxes: () => this.#delegates.counts,
      isolation: () => this.#delegates.isolation,
      warmUp: () => this.#delegates.warmUp(),
      agents: () => this.calls.agents.count,
      configuration: () => this.#podLife?.check(),
    };
  }

  /** The parts that a round of the reconciler uses. */
  #roundDeps(): ReconcilerDeps {
    return {
      agent: () => this.calls.agent,
      takeLock: (wanted) => this.#node.locks.take(wanted),
      clock: this.#node.clock,
      isBusy: () => this.#server.queue.waiting > 0,
      warn: (text) => this.telemetry.warn(text),
      onRound: (report) => countRound(this.metrics, report),
      onUndone: (undone) => countUndone(this.metrics, undone),
    };
  }

  /** The parts on which the configuration for the runtime depends. */
  #podLifeDeps(): PodLifeDeps {
    return {
      metrics: this.metrics,
      listening: () => this.#server.listening,
      watchesAreLive: () => watchesAreLive(this.#clusters.informers),
      ownApi: () => this.#clusters.ownApi(),
      stateDirectories: () => this.telemetry.stateDirectories,
      callsBefore: (ms) => this.#server.callsBefore(ms),
      clock: this.#node.clock,
      log: (level, text) => this.telemetry.log(level, text),
      // As the kubelet stops a container: running calls end first.
      restart: () => process.kill(process.pid, "SIGTERM"),
    };
  }

  /** The lines of the status document. */
  #inform(): void {
    this.telemetry.inform("watches", () => watchSentence(this.#clusters.informers));
    this.telemetry.inform("reconciler", () => this.reconciler.sentence);
    for (const { name, sentence } of [...this.residents.sentences, ...this.calls.configurations.sentences])
      this.telemetry.inform(name, sentence);
    if (this.#settings.podLife?.nodeCredentials !== undefined)
      this.telemetry.inform("credentials", () => this.#podLife?.credentialsSentence ?? "");
  }

  /** Starts the daemon; answers the TCP port for metrics, if there is one. Fault DAEMON_SOCKET. */
  async start(): Promise<Result<number | undefined>> {
    const { calls, status, delegates } = this.#settings;
    await this.#makeResidents();
    // Calls do not wait for the clusters.
    void this.#clusters.start();
    this.#delegates.start();
    const safe = checkSockets([calls.socket, status.socket, ...this.residents.sockets], delegates.jail);
    if (!safe.ok) return safe;
    // The call server starts last, so that a daemon that cannot start begins no call.
    const endpoint = await this.#endpoint.listen();
    const residents = endpoint.ok ? await this.residents.listen() : endpoint;
    const listens = residents.ok ? await this.#server.listen() : residents;
    if (listens.ok) {
      this.reconciler.wake();
      this.residents.start();
      const pools = this.#node.resumePools(this.telemetry.stateDirectories);
      pools.catch((error: unknown) => this.telemetry.warn(`pools: ${error instanceof Error ? error.message : String(error)}`));
    } else {
      this.#endpoint.close();
      this.residents.close();
    }
    // The configuration comes last: from then on the runtime calls Plexus.
    if (listens.ok) void this.#podLife?.start();
    return listens.ok ? endpoint : listens;
  }

  #makeResidents(): Promise<void> {
    const { telemetry, status, reconcile = noRounds } = this.#settings;
    return this.residents.make({
      nodeName: this.#clusters.nodeName,
      stateDirectory: telemetry.stateDirectory,
      directories: reconcile.directories,
      uids: status.uids,
      agent: () => this.calls.agent,
      takeLock: (wanted) => this.#node.locks.take(wanted),
      clock: this.#node.clock,
      metrics: this.metrics,
      watch: (configuration, onManifests) => this.#clusters.watch(configuration, onManifests),
      apiFromStart: () => this.#clusters.apiFromStart(),
      serveStatus: (stdin) => this.calls.serveStatus(stdin),
      changes: () => this.residents.changes,
      judge: () => this.residents.judge,
      endpoints: () => this.residents.endpoints,
      log: (level, text) => this.telemetry.log(level, text),
    });
  }

  /** Stops after the running calls have ended, or after `maxMs`; answers how many calls were aborted. */
  async stop(maxMs: number): Promise<number> {
    // Whether Plexus stays on the node is decided first: a call that comes meanwhile is still served.
    const lateMs = (await this.#podLife?.stop()) ?? 0;
    if (lateMs > 0) await new Promise((resolve) => setTimeout(resolve, lateMs));
    const finished = Promise.all([this.reconciler, this.residents].map((part) => part.stop(maxMs)));
    const aborted = await this.#server.close(
      maxMs,
      finished.then(() => undefined),
    );
    this.#endpoint.close();
    this.residents.close();
    await this.calls.recorded();
    await this.#node.close();
    await Promise.all([this.#delegates.close(), this.#clusters.close(), this.telemetry.close(flushMs)]);
    return aborted;
  }
}
