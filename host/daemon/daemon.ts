// The daemon: one resident brain for all calls of a node. Everything that belongs to a call comes from the call (MO-32).

import type { Result } from "../../src/fault/result.ts";
import { OneCall } from "../brain/one-call.ts";
import { Spares } from "../files/spares.ts";
import type { Hands } from "../hands/hands.ts";
import type { Reply, Request } from "../hands/messages.ts";
import type { LockAnswer, LockRequest } from "../locks/file-lock.ts";
import { Metrics } from "../metrics/metrics.ts";
import type { RoundHands } from "../reconcile/clean.ts";
import { countRound } from "../reconcile/count-round.ts";
import { Reconciler, type ReconcilerInit } from "../reconcile/reconciler.ts";
import { Endpoint, type EndpointInit } from "../telemetry/endpoint.ts";
import { Telemetry, type TelemetryInit } from "../telemetry/telemetry.ts";
import { AsyncLocks } from "./async-locks.ts";
import { backgroundWriter } from "./background-writer.ts";
import { CallServer, type CallServerInit } from "./call-server.ts";
import type { ConnectedHands } from "./connected-hands.ts";
import { ResidentClusters, type ResidentClustersInit } from "./resident-clusters.ts";
import { ResidentDelegates, type ResidentDelegatesInit } from "./resident-delegates.ts";
import { collectWatches, watchSentence } from "./watch-metrics.ts";
import { type OwnCall, requestOf, type ResidentConnection, ResidentHands } from "./resident-hands.ts";

export interface DaemonInit {
  readonly server: CallServerInit;
  readonly delegates: ResidentDelegatesInit;
  readonly clusters: Omit<ResidentClustersInit, "warn">;
  readonly telemetry: TelemetryInit;
  readonly endpoint: EndpointInit;
  /** Nothing is reconciled unless given. */
  readonly reconcile?: ReconcilerInit;
}

/** What is left of spans may take so long to be sent when the daemon ends, in ms. */
const lastSpansMs = 2000;

/** How long a lock waits before it looks whether anybody is still there to wait for it, in ms. */
const lookMs = 500;

export class Daemon {
  /** What all parts of the daemon count in; host/metrics/definitions.ts has a metric's name. */
  readonly metrics = new Metrics();
  readonly telemetry: Telemetry;
  readonly #locks = new AsyncLocks();
  readonly #clusters: ResidentClusters;
  readonly #writer = backgroundWriter({ spares: new Spares() });
  readonly #delegates: ResidentDelegates;
  readonly #server: CallServer;
  readonly #endpoint: Endpoint;
  /** Who carries out what no runtime asks for. */
  readonly residentHands = new ResidentHands();
  /** Takes away what no runtime asks to be taken away. */
  readonly reconciler: Reconciler;
  /** Calls that are answered but not yet in spans and metrics. */
  readonly #untold = new Set<Promise<void>>();
  readonly #roundHands = new WeakMap<ResidentConnection, RoundHands>();

  constructor({ server, delegates, clusters, telemetry, endpoint, reconcile }: DaemonInit) {
    const warn = (text: string): void => this.telemetry.warn(text);
    this.#clusters = new ResidentClusters({ ...clusters, warn });
    this.#delegates = new ResidentDelegates(delegates);
    this.#server = new CallServer(server, {
      serve: (...call) => this.#serve(...call),
      resident: (connection) => {
        const remove = this.residentHands.add(connection);
        this.reconciler.wake();
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
      warmUp: () => this.#delegates.warmUp(),
      residentHands: () => this.residentHands.count,
    });
    this.#endpoint = new Endpoint(endpoint, this.telemetry, this.metrics, (dryRun) => this.reconciler.round(dryRun, true));
    this.reconciler = new Reconciler(reconcile ?? { directories: [], intervalMs: 0, graceMs: 0, dryRun: true }, {
      resident: () => this.#handsOfRound(),
      takeLock: (wanted) => this.#locks.take(wanted),
      isBusy: () => queue.waiting > 0,
      warn,
      told: (report) => countRound(this.metrics, report),
    });
    this.metrics.onScrape(() => collectWatches(this.metrics, this.#clusters.informers));
    this.telemetry.inform("watches", () => watchSentence(this.#clusters.informers));
    this.telemetry.inform("reconciler", () => this.reconciler.sentence);
  }

  /** Answers the port on which metrics are served, if any. Faults: DAEMON_SOCKET. */
  async start(): Promise<Result<number | undefined>> {
    // No call waits for it.
    void this.#clusters.start();
    this.#delegates.start();
    // Calls come last: none is begun by a daemon that can't start.
    const tells = await this.#endpoint.listen();
    const listens = tells.ok ? await this.#server.listen() : tells;
    if (listens.ok) this.reconciler.wake();
    else this.#endpoint.close();
    return listens.ok ? tells : listens;
  }

  /** Ends when the calls under way have, or after `graceMs`; answers how many were cut off. */
  async stop(graceMs: number): Promise<number> {
    const cut = await this.#server.close(graceMs, this.reconciler.stop(graceMs));
    this.#endpoint.close();
    await Promise.all(this.#untold);
    await Promise.all([this.#delegates.close(), this.#clusters.close(), this.telemetry.close(lastSpansMs)]);
    return cut;
  }

  /** Answers a call that no runtime makes, by resident hands; undefined where there are none. Throws HandsGone. */
  async serveOwn(call: OwnCall): Promise<Omit<Reply, "kind"> | undefined> {
    const resident = this.residentHands.newest;
    return resident && this.#serve(requestOf(call, resident.environment), resident.hands);
  }

  async #serve(request: Request, connected: ConnectedHands, waitedMs = 0): Promise<Omit<Reply, "kind">> {
    const call = this.#openCall(connected);
    try {
      return await call.answer(request, waitedMs);
    } finally {
      // After the answer: the runtime waits for none of it, the daemon's own end does.
      const { promise: told, resolve } = Promise.withResolvers<void>();
      this.#untold.add(told);
      setImmediate(() => {
        void call.end();
        if (call.configuration !== undefined) this.reconciler.heard(call.configuration, request.stdin);
        this.#untold.delete(told);
        resolve();
      });
    }
  }

  #openCall(connected: ConnectedHands): OneCall {
    const hands = connected.serving((inner) => call.nested(inner));
    const takeLock = (wanted: LockRequest): Promise<LockAnswer> => this.#takeLock(wanted, hands);
    const call: OneCall = new OneCall({
      hands,
      takeLock,
      writer: this.#writer,
      openDelegates: async (_, log) => this.#delegates.open({ hands, takeLock, log }),
      cluster: (configuration, told) => this.#clusters.open(configuration, told),
      observe: (observed) => this.telemetry.observe(observed),
    });
    return call;
  }

  /** The newest resident hands, for rounds: the same object as long as they are the same. */
  #handsOfRound(): RoundHands | undefined {
    const connection = this.residentHands.newest;
    if (connection === undefined) return undefined;
    const { hands, environment } = connection;
    const known = this.#roundHands.get(connection) ?? {
      hands: hands.serving(() => Promise.reject(new Error("a look at a namespace has no plugins"))),
      environment,
      openCall: () => this.#openCall(hands),
      requestOf: (variables, stdin) => requestOf({ variables, stdin }, environment),
    };
    this.#roundHands.set(connection, known);
    return known;
  }

  /** Who waits must not go on for hands that are gone: their container may be deleted already. */
  async #takeLock(wanted: LockRequest, hands: Hands): Promise<LockAnswer> {
    const taken = this.#locks.takeNow(wanted);
    if (taken !== undefined) return taken;
    const gone = new AbortController();
    const look = setInterval(() => {
      try {
        hands.ensureThere();
      } catch (error) {
        gone.abort(error);
      }
    }, lookMs);
    try {
      return await this.#locks.take(wanted, gone.signal);
    } finally {
      clearInterval(look);
    }
  }
}
