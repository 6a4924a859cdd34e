// The part of an optional feature that serves pools of the cluster.

import type { ApiObjects } from "../../cluster/kube/api-objects.ts";
import type { PoolPlace, PoolSource } from "../../capabilities/leases/pool-source.ts";
import type { Clock } from "../../system/clock.ts";

/** Settings of a daemon's pools. */
export interface ResidentPoolsInit {
  readonly nodeName: string | undefined;
  /** Single objects of the API that a configuration names. */
  readonly objects: (configuration: PoolPlace) => Promise<ApiObjects | undefined>;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}

/** The pools of a daemon. */
export interface ResidentPools {
  /** The pools of a call's configuration. */
  readonly of: (configuration: PoolPlace) => Promise<PoolSource>;
  readonly close: () => void;
}

/** The part of the feature that serves pools: their source for one call, and for the daemon's life. */
export interface PoolFeature {
  /** The pools of a call without a daemon, whose state directory is `cniDir`. */
  readonly ofOneCall: (cniDir: string) => Promise<PoolSource>;
  readonly resident: (init: ResidentPoolsInit) => Promise<ResidentPools>;
}
