// The pools of the cluster that one call can use. Steps name a pool by `ipam.pool`; a feature implements the pools.

import type { ChainStep } from "../../../src/cni/chain-step.ts";
import type { DefinitionName } from "../../../src/configuration/definition-policy.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { CapabilityImports } from "../../sandbox/runner.ts";
import type { LeaseOperation } from "./effect.ts";
import type { LeaseScope } from "./scope.ts";

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
  /** The text of a configuration completed by the ranges of the pool that it names. Fault POOL_UNAVAILABLE. */
  readonly complete: (name: string, configuration: string) => Promise<Result<string>>;
  /** The capability `leases` on the addresses of a pool, for one step. */
  readonly leases: (
    name: string,
    scope: LeaseScope,
    step: PoolStep,
    run: RunLeaseOperation,
  ) => Promise<NonNullable<CapabilityImports["leases"]>>;
}
