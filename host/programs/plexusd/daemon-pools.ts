// The pools of the cluster for a daemon's calls: one NodePools for each state directory and API server that configurations name.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { NodePools } from "../../capabilities/leases/pools/node-pools.ts";
import type { PoolSource } from "../../capabilities/leases/pools/pool-access.ts";
import { poolsDirectory } from "../../store/files/pools-directory.ts";
import type { ApiObjects } from "../../cluster/kube/api-objects.ts";

/** The part of a configuration that decides where pools and their leases are. */
export type PoolConfiguration = Pick<HostConfiguration, "cniDir" | "manifests" | "kubeconfig" | "kubernetes">;

/** Settings. */
export interface DaemonPoolsInit {
  readonly nodeName: string | undefined;
  /** Single objects of the API that a configuration names. */
  readonly objects: (configuration: PoolConfiguration) => Promise<ApiObjects | undefined>;
  readonly warn: (text: string) => void;
}

/** All pools of one daemon. */
export class DaemonPools {
  readonly #init: DaemonPoolsInit;
  readonly #opened = new Map<string, Promise<NodePools>>();

  constructor(init: DaemonPoolsInit) {
    this.#init = init;
  }

  /** The pools of a call's configuration. */
  of(configuration: PoolConfiguration): Promise<PoolSource> {
    const { cniDir, kubeconfig, manifests, kubernetes } = configuration;
    const name = JSON.stringify([cniDir, kubeconfig, manifests, kubernetes.allowInsecure]);
    const opened = this.#opened.get(name) ?? this.#open(configuration);
    this.#opened.set(name, opened);
    return opened;
  }

  close(): void {
    for (const opened of this.#opened.values()) void opened.then((pools) => pools.close());
  }

  async #open(configuration: PoolConfiguration): Promise<NodePools> {
    const { nodeName, objects, warn } = this.#init;
    const { NodePools } = await import("../../capabilities/leases/pools/node-pools.ts");
    const { PoolDirectory } = await import("../../capabilities/leases/pools/pool-directory.ts");
    const { BlockApi } = await import("../../cluster/pools/block-api.ts");
    return new NodePools({
      directory: new PoolDirectory(poolsDirectory(configuration.cniDir)),
      nodeName,
      api: async () => {
        const found = await objects(configuration);
        return found && new BlockApi(found);
      },
      now: () => ({ monotonicMs: performance.now(), wallMs: Date.now() }),
      warn,
    });
  }
}
