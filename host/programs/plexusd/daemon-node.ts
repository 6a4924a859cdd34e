// The node of the daemon's process: what all of its calls share.

import { callRecorders, planFeatures, poolFeature } from "../../../features/list.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { PoolSource, ResidentPools } from "../../capabilities/leases/pool-source.ts";
import type { Node } from "../../engine/node.ts";
import { keptConfigurationsWith } from "../../node/reconcile/kept-configurations.ts";
import { backgroundWriter } from "../../store/files/background-writer.ts";
import { RecycledFiles } from "../../store/files/recycled-files.ts";
import { AsyncLocks, takeLockFor } from "../../store/locks/async-locks.ts";
import { bootId } from "../../system/boot-id.ts";
import type { Clock } from "../../system/clock.ts";
import type { Telemetry } from "../../telemetry/telemetry.ts";
import type { DaemonClusters } from "./daemon-clusters.ts";
import type { DaemonDelegates } from "./daemon-delegates.ts";
import type { ResidentParts } from "./resident-parts.ts";

/** The node of one daemon. */
export class DaemonNode implements Node {
  readonly clock: Clock;
  readonly startedAt: Date;
  readonly bootId = bootId();
  readonly features = planFeatures;
  readonly writer = backgroundWriter(undefined, new RecycledFiles());
  /** Exclude the daemon's calls, rounds and features from each other. */
  readonly locks = new AsyncLocks();
  readonly takeLock: Node["takeLock"] = (shim) => (wanted) => takeLockFor(shim, this.locks, wanted);
  readonly openCluster: Node["openCluster"];
  readonly openDelegates: Node["openDelegates"];
  readonly observe: NonNullable<Node["observe"]>;
  readonly #residents: ResidentParts;
  readonly #pools: Promise<ResidentPools> | undefined;

  constructor(
    clock: Clock,
    clusters: DaemonClusters,
    delegates: DaemonDelegates,
    residents: ResidentParts,
    telemetry: Telemetry,
  ) {
    this.clock = clock;
    this.startedAt = clock.date();
    this.openCluster = (configuration, warn) => clusters.open(configuration, warn);
    this.openDelegates = async (call) => delegates.open(call, this.#poolsFor(call.configuration));
    this.observe = (request) => telemetry.observe(request);
    this.#residents = residents;
    this.#pools = poolFeature?.resident({
      nodeName: clusters.nodeName,
      clock,
      objects: (configuration) => clusters.objects(configuration),
      event: (configuration, target, content) => void clusters.addEvent(configuration, target, content, clock.date()),
      warn: (text) => telemetry.warn(text),
    });
    // A step that names a pool gets the failure.
    this.#pools?.catch(() => undefined);
  }

  /** A recording that a client of the daemon asks for comes before the configuration's. */
  get recorders(): Node["recorders"] {
    return [...this.#residents.recorders, ...callRecorders];
  }

  /** Goes on with the pools of the cluster that earlier calls in these state directories have used. */
  async resumePools(stateDirectories: readonly string[]): Promise<void> {
    const pools = await this.#pools;
    for (const configuration of stateDirectories.flatMap((directory) => keptConfigurationsWith(directory, () => true))) {
      await pools?.resume(configuration);
    }
  }

  /** Closes the pools of the cluster, after the last call. */
  async close(): Promise<void> {
    (await this.#pools?.catch(() => undefined))?.close();
  }

  /** The pools of a call; undefined without a configuration, and in a build without pools. */
  #poolsFor(configuration: HostConfiguration | undefined): (() => Promise<PoolSource>) | undefined {
    const pools = this.#pools;
    return configuration && pools && (async () => (await pools).of(configuration));
  }
}
