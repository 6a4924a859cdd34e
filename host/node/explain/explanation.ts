// The explanation of networks, as data: each step's plugin, its declaration, its grants, and the reason why it would not load.

import { catalogue, type FaultKind } from "../../../src/fault/catalogue.ts";
import type { Fault } from "../../../src/fault/fault.ts";
import type { Position } from "../../../src/json/position.ts";
import type { Limits } from "../../sandbox/limits.ts";
import type { ExplainedDefinition } from "./explain-definition.ts";
import type { ExplainedDemand } from "./explain-demand.ts";
import type { ExplainedRule } from "./explain-rule.ts";

/** A capability that a component declares. */
export interface ExplainedCapability {
  readonly name: string;
  /** The author's reason for the capability. */
  readonly reason: string;
  /** Whether the component imports the capability: only then can its code call it. */
  readonly imported: boolean;
  /** True: the component is loaded without the grant, and does not call the capability then. Absent: the grant is required. */
  readonly optional?: true;
  /** The administrator's grant with its scopes; null if not granted. */
  readonly granted: object | null;
}

/** A fault, as data. */
export interface ExplainedProblem {
  readonly kind: FaultKind;
  readonly code: number;
  readonly msg: string;
  readonly remedy: string;
}

/** A place in a file. Lines and columns count from 1. */
export interface ExplainedPlace extends Position {
  readonly file: string;
}

/** One plugin of a network. */
export interface ExplainedStep {
  readonly type: string;
  /** `ipam`: the IPAM plugin of the step above. */
  readonly role: "step" | "ipam";
  readonly kind: "native" | "component" | "missing";
  readonly path: string | null;
  /** SHA-256 of the file: `sha256:` and 64 hexadecimal digits. */
  readonly digest: string | null;
  /** A component's declaration of itself. */
  readonly delegate: { readonly name: string; readonly version: string; readonly abi: string; readonly about: string } | null;
  /** The capabilities that a component declares. */
  readonly capabilities: readonly ExplainedCapability[];
  /** Capabilities that are imported and granted: the code can call them. */
  readonly effective: readonly string[];
  readonly limits: Limits | null;
  /** The host configuration's demands on the component's digest and signer; null without demands. */
  readonly demand: ExplainedDemand | null;
  /** The places of the result that a component's ADD may change, by its grants; null: all places. */
  readonly resultChanges: readonly string[] | null;
  /** Capabilities that are imported, but not granted. */
  readonly missing: readonly string[];
  /** Capabilities that are granted, but not declared. */
  readonly idle: readonly string[];
  /** An addition to the host configuration that grants the `missing` capabilities, and optional ones that the configuration uses; null if there are none. */
  readonly toGrant: object | null;
  /** Values in the step's configuration that the grant does not cover. Derived from keys of the reference plugins, so only a hint. */
  readonly uncovered: readonly string[];
  /** The rule for the step; null for an IPAM plugin, whose failure is a failure of the step above. */
  readonly rule: ExplainedRule | null;
  /** The place of the plugin's type in a file; null if it is unknown. */
  readonly at: ExplainedPlace | null;
  /** Remarks that keep nothing from loading, such as a component whose file name is not its declared name. */
  readonly warnings: readonly string[];
  /** The problem that would keep the plugin from loading; null without one. */
  readonly problem: ExplainedProblem | null;
  /** The step's IPAM plugin, if it has one. */
  readonly steps: readonly ExplainedStep[];
}

/** A network and its steps. */
export interface ExplainedNetwork {
  /** The file, or `namespace/name` of the definition. */
  readonly source: string;
  /** The place of the network's name in a file; null if it is unknown. */
  readonly at: ExplainedPlace | null;
  readonly name: string;
  readonly cniVersion: string;
  /** The policy for the definition's namespace; null for a network that is no definition's. */
  readonly definition: ExplainedDefinition | null;
  /** Whether an ADD would reach its first step. */
  readonly loads: boolean;
  /** A problem of the network itself, not of a step. */
  readonly problem: ExplainedProblem | null;
  readonly steps: readonly ExplainedStep[];
}

/** The document that `plexusctl explain -o json` prints. */
export interface Explanation {
  readonly apiVersion: "plexus/v1";
  readonly kind: "Explanation";
  /** Path of Plexus' own configuration; null if none was found, so that the default grants apply. */
  readonly hostConfiguration: string | null;
  readonly cniPath: readonly string[];
  readonly loads: boolean;
  readonly networks: readonly ExplainedNetwork[];
  readonly warnings: readonly string[];
}

/** A fault with the remedy of its kind. */
export function problemOf({ kind, code, msg }: Fault): ExplainedProblem {
  return { kind, code, msg, remedy: catalogue[kind].remedy };
}
