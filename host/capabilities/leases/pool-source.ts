// The pools of the cluster that steps name by `ipam.pool`. A feature implements them, for one call or for a daemon's life.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import type { DefinitionName } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { EventContent, InvolvedObject } from "../../../src/kube/event.ts";
import type { CapabilityImports } from "../../sandbox/runner.ts";
import type { LeaseOperation } from "./effect.ts";
import type { LeaseScope } from "./scope.ts";
import type { ApiObjects } from "../../cluster/kube/api-objects.ts";
import type { Clock } from "../../system/clock.ts";

/** The part of a configuration that decides where pools and their leases are. */
export type PoolPlace = Pick<HostConfiguration, "cniDir" | "manifests" | "kubeconfig" | "kubernetes">;

/** The step that takes addresses of a pool. */
export interface PoolStep {
  readonly step: ChainStep;
  /** The network's name. */
  readonly network: string;
  /** The definition whose policy binds the step. */
  readonly definition?: DefinitionName | undefined;
}

/** Runs a lease operation with the locks that it requests. */
export type RunLeaseOperation = <T>(operation: LeaseOperation<T>) => T | Promise<T>;

/** The pools of one call's cluster. */
export interface PoolSource {
  /** The absolute path of the directory with a directory for each pool's leases. */
  readonly root: string;
  /** The text of a plugin's configuration completed by the pool that it names: an IPAM plugin's by ranges, a main plugin's by conflictDetection. Fault POOL_UNAVAILABLE. */
  readonly complete: (name: string, configuration: string, user: "ipam" | "main") => Promise<Result<string>>;
  /** The capability `leases` on the addresses of a pool, for one step. */
  readonly leases: (
    name: string,
    scope: LeaseScope,
    step: PoolStep,
    run: RunLeaseOperation,
  ) => Promise<NonNullable<CapabilityImports["leases"]>>;
}

/** Settings of a daemon's pools. */
export interface ResidentPoolsInit {
  readonly nodeName: string | undefined;
  /** Single objects of the API that a configuration names. */
  readonly objects: (configuration: PoolPlace) => Promise<ApiObjects | undefined>;
  /** Queues an Event of now for the API server that a configuration names. */
  readonly event: (configuration: PoolPlace, target: InvolvedObject, content: EventContent) => void;
  readonly clock: Clock;
  readonly warn: (text: string) => void;
}

/** The pools of a daemon. */
export interface ResidentPools {
  /** The pools of a call's configuration. */
  readonly of: (configuration: PoolPlace) => Promise<PoolSource>;
  /** Goes on with what an earlier process has begun in the configuration's state directory. */
  readonly resume: (configuration: PoolPlace) => Promise<void>;
  readonly close: () => void;
}

/** The part of the feature that serves pools: their source for one call, and for the daemon's life. */
export interface PoolFeature {
  /** The pools of a call without a daemon, whose state directory is `cniDir`. */
  readonly ofOneCall: (cniDir: string) => Promise<PoolSource>;
  readonly resident: (init: ResidentPoolsInit) => Promise<ResidentPools>;
}
