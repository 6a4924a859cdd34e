// The daemon, which serves all calls of a node. A call's configuration comes only from the call itself (MO-32).

import { fault } from "../../../src/fault/fault.ts";
import { nodeRequirementText } from "../../../src/configuration/requirement-text.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { failed, type Result } from "../../../src/fault/result.ts";
import { planFeatures, poolFeature, recordCall } from "../../../features/list.ts";
import { CallSession } from "../../engine/session/call-session.ts";
import type { Node } from "../../engine/node.ts";
import { RecycledFiles } from "../../store/files/recycled-files.ts";
import type { PoolSource } from "../../capabilities/leases/pool-source.ts";
import type { Reply, Request } from "../../protocol/messages.ts";
import { systemClock } from "../../system/clock.ts";
import { writableDirectory } from "../../store/files/writable-directory.ts";
import type { Jail } from "../../sandbox/launcher/jail.ts";
import { Metrics } from "../../telemetry/metrics/metrics.ts";
import type { RoundAgent } from "../../node/reconcile/clean.ts";
import { countRound, countUndone } from "../../telemetry/metrics/count-round.ts";
import type { ResidentInit, ResidentSettings } from "../../../features/resident-part.ts";
import { Reconciler, type ReconcilerInit } from "../../node/reconcile/reconciler.ts";
import { Endpoint, type EndpointInit } from "../../telemetry/endpoint.ts";
import { Telemetry, type TelemetryInit } from "../../telemetry/telemetry.ts";
import { AsyncLocks } from "../../store/locks/async-locks.ts";
import { backgroundWriter } from "../../store/files/background-writer.ts";
import { CallServer, type CallServerInit } from "./call-server.ts";
import type { ConnectedShim } from "../../protocol/connected-shim.ts";
import { DaemonClusters, type DaemonClustersInit } from "./daemon-clusters.ts";
import { DaemonDelegates, type DaemonDelegatesInit } from "./daemon-delegates.ts";
import type { ResidentPools } from "../../engine/session/pool-feature.ts";
import { ConfigurationTexts } from "./configuration-texts.ts";
import { definitionPolicyText } from "./definition-policy-text.ts";
import { takeLockFor } from "./take-lock.ts";
import { ResidentParts } from "./resident-parts.ts";
import { PodLife, type PodLifeInit } from "./pod-life.ts";
import { collectWatches, watchSentence, watchesAreLive } from "./watch-metrics.ts";
import { type AgentConnection, ConnectedAgents, type InternalCall, requestOf, runsPlugins } from "./agent.ts";

/** The settings of the daemon's parts. */
export interface DaemonInit {
  readonly server: CallServerInit;
  readonly delegates: DaemonDelegatesInit;
  readonly clusters: Omit<DaemonClustersInit, "warn" | "onPod">;
  readonly telemetry: TelemetryInit;
  readonly endpoint: EndpointInit;
  /** Undefined: nothing is reconciled. */
  readonly reconcile?: ReconcilerInit;
  /** Undefined: the daemon writes no network configuration. */
  readonly podLife?: PodLifeInit | undefined;
  /** The parts of features that are on. */
  readonly residents: readonly ResidentSettings[];
}

/** Time limit for sending the remaining spans when the daemon stops, in ms. */
const lastSpansMs = 2000;

/** One daemon. */
export class Daemon {
  /** The metrics of all parts of the daemon (see host/telemetry/metrics/definitions.ts). */
  readonly metrics = new Metrics();
  readonly telemetry: Telemetry;
  readonly #locks = new AsyncLocks();
  readonly #jail: Jail;
  readonly #sockets: readonly string[];
  readonly #clusters: DaemonClusters;
  readonly #writer = backgroundWriter({ recycledFiles: new RecycledFiles() });
  readonly #delegates: DaemonDelegates;
  readonly #pools: Promise<ResidentPools> | undefined;
  readonly #definitions = new ConfigurationTexts(definitionPolicyText);
  readonly #components = new ConfigurationTexts(({ wasm }) => nodeRequirementText(wasm));
  readonly #server: CallServer;
  readonly #endpoint: Endpoint;
  /** The agents, which carry out the effects that the daemon starts itself. */
  readonly agents = new ConnectedAgents();
  /** Removes stale attachments. */
  readonly reconciler: Reconciler;
  /** The features' parts beside the calls. */
  readonly #residents: ResidentParts;
  readonly #residentInit: ResidentInit;
  readonly #podLife: PodLife | undefined;
  readonly #node: Node = this.#makeNode();
  /** Calls that are answered, but not yet recorded in spans and metrics. */
  readonly #unrecorded = new Set<Promise<void>>();
  readonly #roundAgents = new WeakMap<AgentConnection, RoundAgent>();

  constructor({ server, delegates, clusters, telemetry, endpoint, reconcile, podLife, residents }: DaemonInit) {
    const warn = (text: string): void => this.telemetry.warn(text);
    this.#jail = delegates.jail;
    this.#residents = new ResidentParts(residents);
    this.#sockets = [server.socket, endpoint.socket, ...this.#residents.sockets];
    this.#clusters = new DaemonClusters({
      ...clusters,
      warn,
      onPod: (namespace, name, pod) => this.#residents.podChanged(namespace, name, pod),
    });
    this.#delegates = new DaemonDelegates(delegates);
    this.#pools = poolFeature?.resident({
      nodeName: clusters.nodeName,
      objects: (source) => this.#clusters.objects(source),
      warn,
    });
    // A step that names a pool gets the failure.
    this.#pools?.catch(() => undefined);
    this.#server = new CallServer(server, {
      serve: (...call) => this.#serve(...call),
      agent: (connection) => {
        const remove = this.agents.add(connection);
        this.reconciler.wake();
        this.#residents.agentConnected();
        return remove;
      },
      waited: (ms) => this.telemetry.waited(ms),
      warn,
    });
    const { queue } = this.#server;
    this.telemetry = new Telemetry(telemetry, {
      metrics: this.metrics,
      socket: server.socket,
      listening: () => this.#server.listening,
      queue: () => ({ active: queue.active, waiting: queue.waiting, mostActive: server.active, mostWaiting: server.waiting }),
      sandboxes: () => this.#delegates.counts,
      isolation: () => this.#delegates.isolation,
      warmUp: () => this.#delegates.warmUp(),
      agents: () => this.agents.count,
      configuration: () => this.#podLife?.check(),
    });
    this.#podLife =
      podLife &&
      new PodLife(podLife, {
        metrics: this.metrics,
        listening: () => this.#server.listening,
        watchesAreLive: () => watchesAreLive(this.#clusters.informers),
        ownApi: () => this.#clusters.ownApi(),
        stateDirectories: () => this.telemetry.stateDirectories,
        callsBefore: (ms) => this.#server.callsBefore(ms),
        log: (level, text) => this.telemetry.log(level, text),
        // As the kubelet stops a container: running calls end first.
        restart: () => process.kill(process.pid, "SIGTERM"),
      });
    this.#endpoint = new Endpoint(endpoint, this.telemetry, this.metrics, {
      reconcile: (dryRun) => this.reconciler.round(dryRun, true),
      pages: () => this.#residents.pages,
      removal: async (step, held) => this.#podLife?.removalStep(step, held),
    });
    this.reconciler = new Reconciler(reconcile ?? { directories: [], intervalMs: 0, graceMs: 0, dryRun: true }, {
      agent: () => this.#agentOfRound(),
      takeLock: (wanted) => this.#locks.take(wanted),
      isBusy: () => queue.waiting > 0,
      warn,
      onRound: (report) => countRound(this.metrics, report),
      onUndone: (undone) => countUndone(this.metrics, undone),
    });
    this.#residentInit = {
      stateDirectory: telemetry.stateDirectory,
      directories: reconcile?.directories ?? [],
      uids: endpoint.uids,
      agent: () => this.#agentOfRound(),
      takeLock: (wanted) => this.#locks.take(wanted),
      clock: systemClock,
      metrics: this.metrics,
      watch: (configuration, onManifests) => this.#clusters.watch(configuration, onManifests),
      apiFromStart: () => this.#clusters.apiFromStart(),
      serveStatus: (stdin) => this.#serveStatus(stdin),
      changes: () => this.changes,
      log: (level, text) => this.telemetry.log(level, text),
    };
    this.metrics.onScrape(() => collectWatches(this.metrics, this.#clusters.informers));
    this.telemetry.inform("watches", () => watchSentence(this.#clusters.informers));
    this.telemetry.inform("reconciler", () => this.reconciler.sentence);
    for (const { name, sentence } of this.#residents.sentences) this.telemetry.inform(name, sentence);
    this.telemetry.inform("definitions", () => this.#definitions.text());
    this.telemetry.inform("components", () => this.#components.text());
    if (podLife?.nodeCredentials !== undefined) {
      this.telemetry.inform("credentials", () => this.#podLife?.credentialsSentence ?? "");
    }
  }

  /** Starts the daemon; answers the TCP port for metrics, if there is one. Fault DAEMON_SOCKET. */
  async start(): Promise<Result<number | undefined>> {
    await this.#residents.make(this.#residentInit);
    // Calls do not wait for the clusters.
    void this.#clusters.start();
    this.#delegates.start();
    const unsafe = this.#unsafeSocket();
    if (unsafe !== undefined) return failed(fault("DAEMON_SOCKET", unsafe));
    // The call server starts last, so that a daemon that cannot start begins no call.
    const endpoint = await this.#endpoint.listen();
    const residents = endpoint.ok ? await this.#residents.listen() : endpoint;
    const listens = residents.ok ? await this.#server.listen() : residents;
    if (listens.ok) {
      this.reconciler.wake();
      this.#residents.start();
    } else {
      this.#endpoint.close();
      this.#residents.close();
    }
    // The configuration comes last: from then on the runtime calls Plexus.
    if (listens.ok) void this.#podLife?.start();
    return listens.ok ? endpoint : listens;
  }

  /** The reason why a sandbox process could replace one of the daemon's sockets; undefined without one. */
  #unsafeSocket(): string | undefined {
    const { uids } = this.#jail;
    const isSandbox = (id: number): boolean => uids !== "same" && id >= uids.first && id < uids.first + uids.count;
    for (const socket of this.#sockets) {
      const directory = writableDirectory(socket, isSandbox);
      if (directory !== undefined) return `${socket}: a sandbox process could replace the socket: ${directory}`;
    }
    return undefined;
  }

  /** Stops after the running calls have ended, or after `graceMs`; answers how many calls were aborted. */
  async stop(graceMs: number): Promise<number> {
    // Whether Plexus stays on the node is decided first: a call that comes meanwhile is still served.
    const lateMs = (await this.#podLife?.stop()) ?? 0;
    if (lateMs > 0) await new Promise((resolve) => setTimeout(resolve, lateMs));
    const finished = Promise.all([this.reconciler, this.#residents].map((part) => part.stop(graceMs)));
    const aborted = await this.#server.close(
      graceMs,
      finished.then(() => undefined),
    );
    this.#endpoint.close();
    this.#residents.close();
    await Promise.all(this.#unrecorded);
    (await this.#pools?.catch(() => undefined))?.close();
    await Promise.all([this.#delegates.close(), this.#clusters.close(), this.telemetry.close(lastSpansMs)]);
    return aborted;
  }

  /** Changes of running containers that clients ask for. */
  get changes(): ResidentParts["changes"] {
    return this.#residents.changes;
  }

  /** Serves a call that the daemon starts itself, through the chosen agent; undefined if no agent is connected. Throws ShimGone. */
  async serveInternal(call: InternalCall): Promise<Omit<Reply, "kind"> | undefined> {
    const agent = this.agents.chosen;
    return agent && this.#serve(requestOf(call, agent.environment), agent.shim, 0, call.made === true);
  }

  /** Serves a STATUS with a configuration that was made for it. */
  #serveStatus(stdin: string): Promise<Omit<Reply, "kind"> | undefined> {
    return this.serveInternal({ variables: new Map([["CNI_COMMAND", "STATUS"]]), stdin: Buffer.from(stdin), made: true });
  }

  /** `made`: the request's configuration is not the node's. */
  async #serve(request: Request, connected: ConnectedShim, waitedMs = 0, made = false): Promise<Omit<Reply, "kind">> {
    const call = this.#openCall(connected);
    if (!made) this.reconciler.noteServed(request.environment);
    try {
      const reply = await call.serve(request, waitedMs);
      if (this.reconciler.waiting > 0 && reply.status === 0) await this.#undoWaiting(request, connected, call);
      return reply;
    } finally {
      // Recorded after the answer, so that the runtime does not wait. Only stop() waits for it.
      const { promise: recorded, resolve } = Promise.withResolvers<void>();
      this.#unrecorded.add(recorded);
      setImmediate(() => {
        void call.end();
        if (call.configuration !== undefined && !made) {
          this.reconciler.keepConfiguration(call.configuration, request.stdin);
          this.#definitions.note(call.configuration);
          this.#components.note(call.configuration);
          this.#residents.noteCall(call.configuration, request.environment);
        }
        this.#unrecorded.delete(recorded);
        resolve();
      });
    }
  }

  /** Undoes what an agent without native plugins could not, through the shim of this call, whose own work is done. */
  async #undoWaiting({ environment }: Request, connected: ConnectedShim, call: CallSession): Promise<void> {
    await this.reconciler.undoWaiting(
      {
        shim: connected.serving(() => Promise.reject(new Error("a look at a network namespace runs no plugins"))),
        environment,
        runsPlugins: true,
        openCall: () => this.#openCall(connected),
        requestOf: (variables, stdin) => requestOf({ variables, stdin }, environment),
      },
      call.leftMs,
    );
  }

  #openCall(connected: ConnectedShim): CallSession {
    const shim = connected.serving((inner) => call.serveNested(inner));
    const call: CallSession = new CallSession(this.#node, shim);
    return call;
  }

  /** Makes the node of this process, which its calls share. */
  #makeNode(): Node {
    return {
      clock: systemClock,
      takeLock: (shim) => (wanted) => takeLockFor(shim, this.#locks, wanted),
      writer: this.#writer,
      features: planFeatures,
      openDelegates: async ({ configuration, ...of }) => this.#delegates.open({ ...of, pools: this.#poolsFor(configuration) }),
      openCluster: (configuration, warn) => this.#clusters.open(configuration, warn),
      observe: (observed) => this.telemetry.observe(observed),
      recordCall: (...call) => this.#residents.recordCall(...call) ?? recordCall(...call),
    };
  }

  /** The pools of a call; undefined without a configuration, and in a build without pools. */
  #poolsFor(configuration: HostConfiguration | undefined): (() => Promise<PoolSource>) | undefined {
    const pools = this.#pools;
    return configuration && pools && (async () => (await pools).of(configuration));
  }

  /** The chosen agent, for reconciler rounds. Each connection always gives the same object. */
  #agentOfRound(): RoundAgent | undefined {
    const connection = this.agents.chosen;
    if (connection === undefined) return undefined;
    const { shim, environment } = connection;
    const known = this.#roundAgents.get(connection) ?? {
      shim: shim.serving(() => Promise.reject(new Error("a look at a network namespace runs no plugins"))),
      environment,
      runsPlugins: runsPlugins(connection),
      openCall: () => this.#openCall(shim),
      requestOf: (variables, stdin) => requestOf({ variables, stdin }, environment),
    };
    this.#roundAgents.set(connection, known);
    return known;
  }
}
