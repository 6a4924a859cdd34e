// The host of delegates: the sandbox, the shim and the node's stores, for one call.

import type { WasmConfiguration } from "../../src/configuration/wasm-configuration.ts";
import type { Shim } from "../protocol/shim.ts";
import type { ComponentAdmission } from "../sandbox/admission/admit.ts";
import type { ComponentFileNames } from "../sandbox/component-file.ts";
import type { ComponentDemands } from "../sandbox/provenance/component-demands.ts";
import type { CapabilityImports, GuestRunner } from "../sandbox/runner.ts";
import type { Clock } from "../system/clock.ts";
import type { LeaseRecords } from "./dhcp/lease-records.ts";
import type { LeaseOperation } from "./leases/effect.ts";
import type { LeaseMemory } from "./leases/lease-memory.ts";
import type { PoolSource } from "./leases/pool-source.ts";
import type { TakenAddresses } from "./leases/taken-addresses.ts";
import type { Step } from "./step.ts";

/** The resources by which the capabilities of one call act. */
export interface CapabilityHost {
  readonly shim: Shim;
  readonly clock: Clock;
  /** Runs a lease operation with the locks that it requests. The answer is not a promise if guests run in this process. */
  readonly runLeaseOperation: <T>(operation: LeaseOperation<T>) => T | Promise<T>;
  /** The daemon's memory of leases; undefined in a one-shot engine. */
  readonly leaseMemory?: LeaseMemory;
  /** The addresses that other hosts were found to have; undefined in a call without a host configuration. */
  readonly taken?: TakenAddresses | undefined;
  /** The node's DHCP leases, and whether this process renews them; undefined in a call without a host configuration. */
  readonly dhcp?: { readonly records: LeaseRecords; readonly isRenewed: boolean } | undefined;
  /** Receives one message of a delegate's log. */
  readonly log: (type: string, level: string, message: string) => void;
}

/** The resources of one call's delegates: what runs their components, and what their capabilities use. The one-shot engine makes them once, the daemon for each call. */
export interface DelegateHost extends CapabilityHost {
  /** The call's grants and limits. */
  readonly wasm: WasmConfiguration;
  /** Checks components, and remembers admitted ones. */
  readonly admission: ComponentAdmission;
  /** The names under which admissions of component files are remembered. */
  readonly componentNames: ComponentFileNames;
  /** Checks that a component has the digest and the signer that its grants demand. */
  readonly demands: ComponentDemands;
  /** Runs guests in this process or in a sandbox process. */
  readonly runner: GuestRunner;
  /** Opens the pools of the cluster, for a step that names one; undefined in a call without a host configuration. */
  readonly pools?: (() => Promise<PoolSource>) | undefined;
  /** Binds the capabilities of a step in the place of bind.ts: a replay answers them from its record. */
  readonly bindRecorded?: (running: Step, names: readonly string[]) => CapabilityImports;
}
