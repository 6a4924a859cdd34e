// The sources of pods and definitions that a resident brain's calls name: opened with the first call that names one, and shared.

import type { Cluster } from "../cluster/cluster.ts";
import type { openCluster } from "../cluster/open-cluster.ts";
import type { Connection } from "../kube/connection.ts";
import type { CredentialSource } from "../kube/credentials.ts";
import type { Informers } from "../kube/informers.ts";
import type { kubeCluster as kubeClusterOf } from "../kube/kube-cluster.ts";

type SourceConfiguration = Parameters<typeof openCluster>[0];

/** A connection to an API server, as the calls share it. */
interface ResidentApi {
  readonly credentials: CredentialSource;
  readonly connection: Connection;
  readonly informers: Informers;
  /** Loaded with the rest, before a call needs it. */
  readonly kubeCluster: typeof kubeClusterOf;
}

export interface ResidentClustersInit {
  /** The node's name in the API; undefined: unknown, so its pods are not watched. */
  readonly nodeName: string | undefined;
  /** A kubeconfig whose cluster is watched from the start and for good; others are with the first call that names them. */
  readonly kubeconfig: string | undefined;
  /** Takes what is no single call's. */
  readonly warn: (text: string) => void;
}

/** Requests at once to one API server. */
const mostSockets = 16;

/** How long a kubeconfig that can't be read before the first call is left alone. */
const unreadableMs = 5_000;

/** Sources kept; a node's configurations name one or two. */
const mostSources = 8;

export class ResidentClusters {
  readonly #init: ResidentClustersInit;
  readonly #apis = new Map<string, Promise<ResidentApi>>();
  readonly #directories = new Map<string, Promise<Cluster>>();
  readonly #opened = new Set<Informers>();
  #closed = false;

  constructor(init: ResidentClustersInit) {
    this.#init = init;
  }

  /** Begins to watch what is known before the first call. */
  async start(): Promise<void> {
    const { kubeconfig } = this.#init;
    if (kubeconfig === undefined) return;
    const { informers, credentials } = await this.#api(kubeconfig, false);
    let told = "";
    const begin = async (): Promise<void> => {
      if (this.#closed || (await informers.begin())) return;
      const read = await credentials();
      if (!read.ok && read.fault.msg !== told) this.#init.warn(`--kubeconfig: nothing is watched yet: ${read.fault.msg}`);
      if (!read.ok) told = read.fault.msg;
      setTimeout(() => void begin(), unreadableMs).unref();
    };
    await begin();
  }

  /** For one call; undefined where its configuration names none. */
  async open(configuration: SourceConfiguration, warn: (text: string) => void): Promise<Cluster | undefined> {
    const { manifests, kubeconfig, kubernetes } = configuration;
    if (manifests !== undefined) return this.#directory(manifests);
    if (kubeconfig === undefined) return undefined;
    const { allowInsecure, budgetMs } = kubernetes;
    const { credentials, connection, informers, kubeCluster } = await this.#api(kubeconfig, allowInsecure);
    await informers.begin();
    const cluster = kubeCluster({
      credentials,
      connection,
      budgetMs,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      now: () => performance.now(),
      warn,
    });
    return informers.over(cluster);
  }

  /** What is watched, for each API. */
  get informers(): readonly Informers[] {
    return [...this.#opened];
  }

  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all([...this.#apis.values()].map((api) => this.#end(api)));
    this.#apis.clear();
  }

  #api(kubeconfig: string, allowInsecure: boolean): Promise<ResidentApi> {
    const name = `${allowInsecure}:${kubeconfig}`;
    return shared(
      this.#apis,
      name,
      () => this.#openApi(kubeconfig, allowInsecure),
      (old) => this.#end(old),
    );
  }

  #directory(path: string): Promise<Cluster> {
    return shared(
      this.#directories,
      path,
      () => openDirectory(path),
      async () => {},
    );
  }

  async #openApi(kubeconfig: string, allowInsecure: boolean): Promise<ResidentApi> {
    const { keptCredentials } = await import("../kube/kept-credentials.ts");
    const { Connection } = await import("../kube/connection.ts");
    const { Informers } = await import("../kube/informers.ts");
    const { kubeCluster } = await import("../kube/kube-cluster.ts");
    const { nodeName, warn } = this.#init;
    const credentials = keptCredentials(kubeconfig, { allowInsecure }, warn);
    const connection = new Connection({ sockets: mostSockets });
    const keep = kubeconfig === this.#init.kubeconfig;
    const informers = new Informers({ credentials, connection, nodeName, keep, warn });
    this.#opened.add(informers);
    return { credentials, connection, kubeCluster, informers };
  }

  async #end(opened: Promise<ResidentApi>): Promise<void> {
    const { informers, connection } = await opened;
    this.#opened.delete(informers);
    informers.stop();
    connection.close();
  }
}

async function openDirectory(path: string): Promise<Cluster> {
  const { manifestDirectory } = await import("../cluster/manifest-directory.ts");
  return manifestDirectory(path);
}

/** The one of this name, opened by the first who asks; the one that nobody asked for longest makes way. */
function shared<T>(
  known: Map<string, Promise<T>>,
  name: string,
  open: () => Promise<T>,
  letGo: (old: Promise<T>) => Promise<void>,
): Promise<T> {
  const found = known.get(name);
  if (found !== undefined) {
    // Behind all that were not asked for since.
    known.delete(name);
    known.set(name, found);
    return found;
  }
  const opened = open();
  const [oldest] = known;
  if (known.size >= mostSources && oldest !== undefined) {
    known.delete(oldest[0]);
    void letGo(oldest[1]);
  }
  known.set(name, opened);
  return opened;
}
