// The sources of pods and NetworkAttachmentDefinitions for a daemon's calls. A source opens with the first call whose configuration names
// it, and all calls share it.

import type { ApiObjects } from "../../cluster/kube/api-objects.ts";
import type { Cluster } from "../../cluster/cluster.ts";
import type { EventEnd, EventQueue } from "../../cluster/events/event-queue.ts";
import type { KeptEvents } from "../../cluster/events/kept-events.ts";
import type { openCluster } from "../../cluster/open-cluster.ts";
import type { Connection } from "../../cluster/kube/connection.ts";
import type { CredentialSource } from "../../cluster/kube/credentials.ts";
import type { Informers, InformersInit } from "../../cluster/api/informers.ts";
import type { kubeCluster as kubeClusterOf } from "../../cluster/api/kube-cluster.ts";
import type { Clock } from "../../system/clock.ts";

type SourceConfiguration = Parameters<typeof openCluster>[0];

/** A connection to an API server, as the calls share it. */
interface OpenApi extends OwnApi {
  readonly informers: Informers;
  /** Loaded in advance, so that no call waits for it. */
  readonly kubeCluster: typeof kubeClusterOf;
}

/** The service account of the daemon's pod. */
export interface InCluster {
  /** The directory with `token` and `ca.crt`. */
  readonly directory: string;
  /** The API server's URL. */
  readonly server: string;
  /** The path of the kubeconfig in whose place the account is used. */
  readonly kubeconfig: string;
}

/** A connection to an API server with the daemon's own credentials. */
export interface OwnApi {
  readonly credentials: CredentialSource;
  readonly connection: Connection;
  readonly events: EventQueue;
}

/** The settings of the daemon's sources. */
export interface SourceSettings {
  /** The node's name in the Kubernetes API; undefined if unknown, so that its pods are not watched. */
  readonly nodeName: string | undefined;
  /** A kubeconfig whose cluster is watched from the start and permanently. Other clusters are watched from the first call that names them. */
  readonly kubeconfig: string | undefined;
  /**
   * The service account of the daemon's pod. Calls whose configuration names `kubeconfig`, the file of one-shot engines, use the account
   * itself: it is newer than the file, and a process that could replace the file cannot lead the daemon to another server.
   */
  readonly serviceAccount?: InCluster | undefined;
}

/** Listeners of the sources, and the store of their Events. */
export interface DaemonClustersHooks {
  readonly onPod?: InformersInit["onPod"];
  readonly eventEnded?: (end: EventEnd) => void;
  readonly keptEvents?: KeptEvents;
}

/** Maximum concurrent requests to one API server. */
const maxSockets = 16;

/** Pause before another try to read the kubeconfig of `--kubeconfig`, in ms. */
const retryPauseMs = 5_000;

/** Longest time for one Event, and for those that wait when the daemon ends, in ms. */
const eventMs = 5_000;
const lastEventsMs = 2_000;

/** Maximum sources that stay open. A node's configurations name one or two. */
const maxSources = 8;

/** The sources of one daemon. */
export class DaemonClusters {
  readonly #settings: SourceSettings;
  readonly #clock: Clock;
  readonly #warn: (text: string) => void;
  readonly #onPod: InformersInit["onPod"];
  readonly #apis = new Map<string, Promise<OpenApi>>();
  readonly #directories = new Map<string, Promise<Cluster>>();
  /** Ends the watch of each directory of manifests. */
  readonly #manifestWatches = new Map<string, () => void>();
  readonly #opened = new Set<Pick<OpenApi, "informers" | "events">>();
  readonly #eventEnded: (end: EventEnd) => void;
  readonly #keptEvents: KeptEvents | undefined;
  #closed = false;

  /**
   * `warn` receives warnings that belong to no single call, `onPod` each watched pod that was listed, created, changed or removed, and `eventEnded` the end of
   * each Event. `keptEvents`: those that wait at the daemon's end; undefined: none are kept.
   */
  constructor(
    settings: SourceSettings,
    clock: Clock,
    warn: (text: string) => void,
    { onPod, eventEnded, keptEvents }: DaemonClustersHooks = {},
  ) {
    this.#settings = settings;
    this.#clock = clock;
    this.#warn = warn;
    this.#onPod = onPod;
    this.#keptEvents = keptEvents;
    this.#eventEnded = eventEnded ?? (() => undefined);
  }

  /** The node's name in the Kubernetes API; undefined if unknown. */
  get nodeName(): string | undefined {
    return this.#settings.nodeName;
  }

  /** Begins to watch the cluster of `--kubeconfig`. */
  async start(): Promise<void> {
    const kubeconfig = this.#watchedFromStart;
    if (kubeconfig === undefined) return;
    const { informers, credentials } = await this.#api(kubeconfig, false);
    let lastWarning = "";
    const begin = async (): Promise<void> => {
      if (this.#closed || (await informers.begin())) return;
      const read = await credentials();
      if (!read.ok && read.fault.msg !== lastWarning) {
        const source = this.#settings.kubeconfig === undefined ? "the service account" : "--kubeconfig";
        this.#warn(`${source} cannot be used yet, so no pod or definition is watched: ${read.fault.msg}`);
      }
      if (!read.ok) lastWarning = read.fault.msg;
      setTimeout(() => void begin(), retryPauseMs).unref();
    };
    await begin();
  }

  /** The source for one call; undefined if its configuration names none. */
  async open(configuration: SourceConfiguration, warn: (text: string) => void): Promise<Cluster | undefined> {
    const { manifests, kubeconfig, kubernetes } = configuration;
    if (manifests !== undefined) return this.#directory(manifests);
    if (kubeconfig === undefined) return undefined;
    const { allowInsecure, budgetMs } = kubernetes;
    const { credentials, connection, informers, events, kubeCluster } = await this.#api(kubeconfig, allowInsecure);
    await informers.begin();
    const cluster = kubeCluster({
      credentials,
      connection,
      budgetMs,
      events,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      clock: this.#clock,
      warn,
    });
    return informers.over(cluster);
  }

  /** Single objects of the API that a configuration names; undefined if it names none. */
  async objects({ manifests, kubeconfig, kubernetes }: SourceConfiguration): Promise<ApiObjects | undefined> {
    if (manifests !== undefined || kubeconfig === undefined) return undefined;
    const { credentials, connection } = await this.#api(kubeconfig, kubernetes.allowInsecure);
    const module = await import("../../cluster/kube/api-objects.ts");
    // A call waits for such a request only if its node has no free address.
    return new module.ApiObjects({ credentials, connection, requestMs: 5_000 });
  }

  /** Queues an Event for the API server that a configuration names; a configuration without one gets none. */
  async addEvent(
    { manifests, kubeconfig, kubernetes }: SourceConfiguration,
    ...event: Parameters<EventQueue["add"]>
  ): Promise<void> {
    if (manifests !== undefined || kubeconfig === undefined) return;
    (await this.#api(kubeconfig, kubernetes.allowInsecure)).events.add(...event);
  }

  /**
   * Watches the source that a configuration names, without a call; again for a source that is watched. `onManifests`: called after a change of its directory
   * of manifests.
   */
  async watch(configuration: SourceConfiguration, onManifests: () => void): Promise<void> {
    const { manifests, kubeconfig, kubernetes } = configuration;
    if (manifests === undefined) {
      if (kubeconfig !== undefined) await (await this.#api(kubeconfig, kubernetes.allowInsecure)).informers.begin();
      return;
    }
    if (this.#closed || this.#manifestWatches.has(manifests) || this.#manifestWatches.size >= maxSources) return;
    const { watchManifests } = await import("../../cluster/manifests/watch-manifests.ts");
    const end = watchManifests(manifests, onManifests, (why) => {
      this.#manifestWatches.delete(manifests);
      this.#warn(`${manifests}: changes are not noticed at once: ${why}`);
    });
    this.#manifestWatches.set(manifests, end);
  }

  /** The API server that the daemon itself uses: that of its service account. */
  async ownApi(): Promise<OwnApi | undefined> {
    const { serviceAccount } = this.#settings;
    return serviceAccount && this.#api(serviceAccount.kubeconfig, false);
  }

  /** The API server that is watched from the start; undefined if there is none. */
  async apiFromStart(): Promise<OwnApi | undefined> {
    const kubeconfig = this.#watchedFromStart;
    return kubeconfig === undefined ? undefined : this.#api(kubeconfig, false);
  }

  get #watchedFromStart(): string | undefined {
    return this.#settings.kubeconfig ?? this.#settings.serviceAccount?.kubeconfig;
  }

  /** The informers of each API server. */
  get informers(): readonly Informers[] {
    return [...this.#opened].map(({ informers }) => informers);
  }

  /** The Events that wait for an API server. */
  get waitingEvents(): number {
    return [...this.#opened].reduce((sum, { events }) => sum + events.waiting, 0);
  }

  async close(): Promise<void> {
    this.#closed = true;
    for (const end of this.#manifestWatches.values()) end();
    await Promise.all([...this.#apis.values()].map((api) => this.#end(api)));
    this.#apis.clear();
  }

  #api(kubeconfig: string, insecureIsAllowed: boolean): Promise<OpenApi> {
    // A service account has an authority, so both settings lead to the same connection.
    const allowInsecure = insecureIsAllowed && kubeconfig !== this.#settings.serviceAccount?.kubeconfig;
    const name = `${allowInsecure}:${kubeconfig}`;
    return shared(
      this.#apis,
      name,
      () => this.#openApi(name, kubeconfig, allowInsecure),
      (old) => this.#end(old),
    );
  }

  #directory(path: string): Promise<Cluster> {
    return shared(
      this.#directories,
      path,
      () => openDirectory(path, this.#clock),
      async () => {},
    );
  }

  async #openApi(name: string, kubeconfig: string, allowInsecure: boolean): Promise<OpenApi> {
    const { keptCredentials, keptServiceAccount } = await import("../../cluster/kube/kept-credentials.ts");
    const { Connection } = await import("../../cluster/kube/connection.ts");
    const { Informers } = await import("../../cluster/api/informers.ts");
    const { kubeCluster } = await import("../../cluster/api/kube-cluster.ts");
    const { EventQueue } = await import("../../cluster/events/event-queue.ts");
    const { ApiObjects } = await import("../../cluster/kube/api-objects.ts");
    const { nodeName, serviceAccount } = this.#settings;
    const [clock, warn, onPod] = [this.#clock, this.#warn, this.#onPod];
    const credentials =
      kubeconfig === serviceAccount?.kubeconfig
        ? keptServiceAccount(serviceAccount.directory, serviceAccount.server, warn, clock)
        : keptCredentials(kubeconfig, { allowInsecure }, warn, clock);
    const connection = new Connection(clock, maxSockets);
    const isOwn = kubeconfig === this.#watchedFromStart || kubeconfig === serviceAccount?.kubeconfig;
    const informers = new Informers({ credentials, connection, nodeName, keep: isOwn, warn, onPod });
    const objects = new ApiObjects({ credentials, connection, requestMs: eventMs });
    const kept = this.#keptEvents;
    const keep = kept && { keep: (left: readonly object[]) => kept.put(name, left) };
    const events = new EventQueue({ objects, clock, warn, ended: this.#eventEnded, ...keep });
    events.restore(kept?.take(name) ?? []);
    const opened = { credentials, connection, kubeCluster, informers, events };
    this.#opened.add(opened);
    return opened;
  }

  async #end(opened: Promise<OpenApi>): Promise<void> {
    const api = await opened;
    const { informers, connection, events } = api;
    this.#opened.delete(api);
    informers.stop();
    await events.stop(lastEventsMs);
    connection.close();
  }
}

async function openDirectory(path: string, clock: Clock): Promise<Cluster> {
  const { manifestDirectory } = await import("../../cluster/manifests/manifest-directory.ts");
  return manifestDirectory(path, clock);
}

/** The source of this name; opened if it is not yet. If there are too many, the least recently used one is closed. */
function shared<T>(
  known: Map<string, Promise<T>>,
  name: string,
  open: () => Promise<T>,
  close: (old: Promise<T>) => Promise<void>,
): Promise<T> {
  const found = known.get(name);
  if (found !== undefined) {
    // The map's order is the order of use.
    known.delete(name);
    known.set(name, found);
    return found;
  }
  const opened = open();
  const [oldest] = known;
  if (known.size >= maxSources && oldest !== undefined) {
    known.delete(oldest[0]);
    void close(oldest[1]);
  }
  known.set(name, opened);
  return opened;
}
