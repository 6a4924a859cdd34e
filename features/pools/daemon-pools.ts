// The pools of the cluster for a daemon's calls: one NodePools for each state directory. A state directory belongs to one cluster, because
// the files in it name blocks of that cluster.

import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fault } from "../../src/fault/fault.ts";
import { failed } from "../../src/fault/result.ts";
import type { PoolPlace, PoolSource, ResidentPools, ResidentPoolsInit } from "../../host/capabilities/leases/pool-source.ts";
import { poolSource } from "./leases/pool-source.ts";
import type { NodePools } from "./leases/node-pools.ts";
import type { Pools } from "./leases/pool-access.ts";
import { poolsDirectory } from "../../host/store/files/pools-directory.ts";

/** All pools of one daemon. */
export class DaemonPools implements ResidentPools {
  readonly #init: ResidentPoolsInit;
  readonly #opened = new Map<string, { readonly cluster: string; readonly pools: Promise<NodePools> }>();

  constructor(init: ResidentPoolsInit) {
    this.#init = init;
  }

  /** The pools of a call's configuration. */
  async of(configuration: PoolPlace): Promise<PoolSource> {
    const { kubeconfig, manifests } = configuration;
    // One directory has one daemon's knowledge of its blocks, whatever the spelling of its path.
    const directory = resolve(configuration.cniDir);
    const cluster = JSON.stringify({ kubeconfig, manifests });
    const opened = this.#opened.get(directory) ?? { cluster, pools: this.#open(configuration, directory) };
    this.#opened.set(directory, opened);
    const pools = await opened.pools;
    return poolSource(opened.cluster === cluster ? pools : refusing(pools.root, cluster, opened.cluster));
  }

  async resume(configuration: PoolPlace): Promise<void> {
    const { cniDir } = configuration;
    if (!existsSync(poolsDirectory(cniDir))) return;
    await this.of(configuration);
    (await this.#opened.get(resolve(cniDir))?.pools)?.resume();
  }

  close(): void {
    for (const { pools } of this.#opened.values()) void pools.then((each) => each.close());
  }

  async #open(configuration: PoolPlace, stateDirectory: string): Promise<NodePools> {
    const { nodeName, objects, event, clock, warn } = this.#init;
    const { NodePools } = await import("./leases/node-pools.ts");
    const { PoolDirectory } = await import("./leases/pool-directory.ts");
    const { BlockApi } = await import("./api/block-api.ts");
    return new NodePools({
      directory: new PoolDirectory(poolsDirectory(stateDirectory)),
      nodeName,
      api: async () => {
        const found = await objects(configuration);
        return found && new BlockApi(found);
      },
      event: (target, content) => event(configuration, target, content),
      now: () => ({ monotonicMs: clock.now(), wallMs: clock.date().getTime() }),
      warn,
    });
  }
}

/** The source of a configuration whose state directory belongs to another cluster. DEL and GC need no cluster. */
function refusing(root: string, cluster: string, other: string): Pools {
  const refused = async (name: string): Promise<ReturnType<typeof failed>> => {
    const why = `AddressPool ${name} of ${cluster} can't be used: plexusd uses ${root} for pools of ${other}. Restart plexusd, or set another cniDir`;
    return failed(fault("POOL_UNAVAILABLE", why));
  };
  return { root, open: refused, complete: refused, statics: () => undefined, noteReleased: () => undefined };
}
