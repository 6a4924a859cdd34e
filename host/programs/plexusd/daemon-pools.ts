// The pools of the cluster for a daemon's calls: one NodePools for each state directory. A state directory belongs to one cluster, because
// the files in it name blocks of that cluster.

import { fault } from "../../../src/fault/fault.ts";
import { failed } from "../../../src/fault/result.ts";
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
  readonly #opened = new Map<string, { readonly cluster: string; readonly pools: Promise<NodePools> }>();

  constructor(init: DaemonPoolsInit) {
    this.#init = init;
  }

  /** The pools of a call's configuration. */
  async of(configuration: PoolConfiguration): Promise<PoolSource> {
    const { cniDir, kubeconfig, manifests } = configuration;
    const cluster = JSON.stringify({ kubeconfig, manifests });
    const opened = this.#opened.get(cniDir) ?? { cluster, pools: this.#open(configuration) };
    this.#opened.set(cniDir, opened);
    const pools = await opened.pools;
    return opened.cluster === cluster ? pools : refusing(pools.root, cluster, opened.cluster);
  }

  close(): void {
    for (const { pools } of this.#opened.values()) void pools.then((each) => each.close());
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

/** The source of a configuration whose state directory belongs to another cluster. DEL and GC need no cluster. */
function refusing(root: string, cluster: string, other: string): PoolSource {
  const refused = async (name: string): Promise<ReturnType<typeof failed>> => {
    const why = `AddressPool ${name} of ${cluster} can't be used: plexusd uses ${root} for pools of ${other}. Restart plexusd, or set another cniDir`;
    return failed(fault("POOL_UNAVAILABLE", why));
  };
  return { root, open: refused, complete: refused, statics: () => undefined, noteReleased: () => undefined };
}
