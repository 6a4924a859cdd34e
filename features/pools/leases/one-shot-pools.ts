// Pools of the cluster in a one-shot engine. It knows no block: reading the node's blocks for each call would take longer than most calls, and no
// process would claim ahead. So an ADD is refused, and DEL, CHECK and GC work on the node's own files.

import { completedBy } from "../rules/pool-configuration.ts";
import { fault } from "../../../src/fault/fault.ts";
import { failed, type Result } from "../../../src/fault/result.ts";
import { copyOf } from "./node-blocks.ts";
import type { PoolAccess, Pools } from "./pool-access.ts";
import { poolsDirectory } from "../../../host/store/files/pools-directory.ts";
import { PoolDirectory } from "./pool-directory.ts";

/** The pools of a call without a daemon, whose state directory is `cniDir`. */
export function oneShotPools(cniDir: string): Pools {
  const directory = new PoolDirectory(poolsDirectory(cniDir));
  return {
    root: directory.root,
    statics: () => undefined,
    // The next daemon looks at the node's holders when it starts.
    noteReleased: () => undefined,
    open: async (name): Promise<Result<PoolAccess>> => unavailable(name),
    complete: async (name, configuration, user) => {
      const pool = copyOf(directory, name);
      return pool === undefined ? unavailable(name) : completedBy(pool, configuration, user);
    },
  };
}

function unavailable(name: string): ReturnType<typeof failed> {
  const why = `AddressPool ${name} needs the daemon: a one-shot engine hands out no address of a pool. Start plexusd`;
  return failed(fault("POOL_UNAVAILABLE", why));
}
