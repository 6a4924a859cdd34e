// A step: one plugin of one chain while the engine runs it. The engine makes the step, and the capabilities of a component read it.
//
// A `ChainStep` (src/cni) says what to run: a plugin, a verb, its stdin and its environment. A `Step` adds what decides how it runs: its
// callers, its grants, which definition binds it, how much time is left.

import type { ChainStep, StepOutcome } from "../../src/cni/chain-step.ts";
import type { DefinitionName } from "../../src/configuration/definition-policy.ts";
import type { LinkIdentity } from "../../src/pod-link/link-identity.ts";
import type { DelegateGrants } from "../../src/configuration/keys/grant-keys.ts";
import type { PoolSource } from "./leases/pool-source.ts";
import type { DryRun } from "./dry/dry-run.ts";
import type { StepDetail } from "./step-detail.ts";

/**
 * The origin of a step: a network's chain (or a runtime that calls a component directly), a native plugin's nested call, or a
 * delegate that uses the capability `delegation`.
 */
export type StepOrigin = "chain" | "nested-call" | "delegate";

/** An address of an attachment that another host has. */
export interface AddressConflict {
  readonly address: string;
  /** The other host's link-layer address. */
  readonly mac: string;
}

/** An address of an AddressPool that is the attachment's. */
export interface PoolLease {
  readonly pool: string;
  readonly address: string;
}

/** The facts about a chain that its steps have in common. Its functions never throw. */
export interface ChainFacts {
  /** The network's name. */
  readonly network: string;
  /** The attachment's interface name; empty for GC and STATUS. */
  readonly ifname: string;
  /** The definition whose policy binds the chain's steps; undefined in a network that the administrator configured. */
  readonly definition?: DefinitionName | undefined;
  /** In a GC: the containers whose leases may be freed; undefined: all of them. */
  readonly knownContainers?: ReadonlySet<string> | undefined;
  /** In a DEL: the pod's links that the ADD made; steps may remove no other link. Undefined: unknown, so that names decide. */
  readonly ownLinks?: readonly LinkIdentity[] | undefined;
  /** ADD: receives each address of the attachment that another host was found to have. */
  readonly onConflict?: ((conflict: AddressConflict) => void) | undefined;
  /** ADD: receives each address of a pool of the cluster that a component leases for the attachment. */
  readonly onPoolLease?: ((lease: PoolLease) => void) | undefined;
}

/** The terms of the steps of one chain. */
export interface StepTerms {
  readonly origin: StepOrigin;
  /** Maximum milliseconds of one native plugin. */
  readonly timeoutMs: number;
}

/** One plugin of one chain while it runs. */
export interface Step extends ChainFacts, StepTerms {
  readonly step: ChainStep;
  /** Types of the plugins that called one another up to this step, the outermost first. The step's own type is not among them. */
  readonly callers: readonly string[];
  /** The grants for delegates of the step's type in this network. */
  readonly grants: DelegateGrants;
  /** Milliseconds that the caller's remaining time allows for this step. */
  readonly maxMs: number;
  /** Tells a detail of the step; undefined if the details are not recorded. It never throws. */
  readonly tell?: ((detail: StepDetail) => void) | undefined;
  /** Set for a shadow: its capabilities change nothing, and record what they would have changed. */
  readonly dry?: DryRun | undefined;
  /** The pool of the cluster that the step's configuration names; undefined: the step's addresses are the node's own. */
  readonly pool?: { readonly name: string; readonly source: PoolSource } | undefined;
  /** Runs a step that this step's delegate requests, for at most `maxMs` milliseconds. */
  readonly runDelegated: (step: ChainStep, maxMs: number) => Promise<StepOutcome>;
}
