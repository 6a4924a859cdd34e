// The sources of pods and definitions that a resident brain's calls name: opened with the first call that names one, and shared.

import type { Cluster } from "../cluster/cluster.ts";
import type { openCluster } from "../cluster/open-cluster.ts";
import type { Connection } from "../kube/connection.ts";
import type { CredentialSource } from "../kube/credentials.ts";

type SourceConfiguration = Parameters<typeof openCluster>[0];

/** A connection to an API server, as the calls share it. */
interface ResidentApi {
  readonly credentials: CredentialSource;
  readonly connection: Connection;
}

/** Requests at once to one API server. */
const mostSockets = 16;

/** Sources kept; a node's configurations name one or two. */
const mostSources = 8;

export class ResidentClusters {
  readonly #warn: (text: string) => void;
  readonly #apis = new Map<string, Promise<ResidentApi>>();
  readonly #directories = new Map<string, Promise<Cluster>>();

  /** `warn` takes what is no single call's. */
  constructor(warn: (text: string) => void) {
    this.#warn = warn;
  }

  /** For one call; undefined where its configuration names none. */
  async open(configuration: SourceConfiguration, warn: (text: string) => void): Promise<Cluster | undefined> {
    const { manifests, kubeconfig, kubernetes } = configuration;
    if (manifests !== undefined) return shared(this.#directories, manifests, () => openDirectory(manifests));
    if (kubeconfig === undefined) return undefined;
    const { allowInsecure, budgetMs } = kubernetes;
    const api = await shared(this.#apis, `${allowInsecure}:${kubeconfig}`, () => this.#openApi(kubeconfig, allowInsecure));
    const { kubeCluster } = await import("../kube/kube-cluster.ts");
    return kubeCluster({
      ...api,
      budgetMs,
      sleep: (ms) => new Promise((resolve) => setTimeout(resolve, ms)),
      now: () => performance.now(),
      warn,
    });
  }

  async close(): Promise<void> {
    for (const api of this.#apis.values()) (await api).connection.close();
    this.#apis.clear();
  }

  async #openApi(kubeconfig: string, allowInsecure: boolean): Promise<ResidentApi> {
    const { keptCredentials } = await import("../kube/kept-credentials.ts");
    const { Connection } = await import("../kube/connection.ts");
    return {
      credentials: keptCredentials(kubeconfig, { allowInsecure }, this.#warn),
      connection: new Connection({ sockets: mostSockets }),
    };
  }
}

async function openDirectory(path: string): Promise<Cluster> {
  const { manifestDirectory } = await import("../cluster/manifest-directory.ts");
  return manifestDirectory(path);
}

/** The one of this name, opened by the first who asks; the one that was opened first makes way. */
function shared<T>(known: Map<string, Promise<T>>, name: string, open: () => Promise<T>): Promise<T> {
  const found = known.get(name);
  if (found !== undefined) return found;
  const opened = open();
  const [oldest] = known.keys();
  if (known.size >= mostSources && oldest !== undefined) known.delete(oldest);
  known.set(name, opened);
  return opened;
}
