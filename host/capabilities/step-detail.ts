// The details of a running step: its component, its calls of capabilities, its end. Only a chain trace records them, so a step without `Step.tell` tells none.

import type { ComponentUsage, NativeRecord, StepVerdict } from "../../src/chain-trace/chain-trace.ts";

/** A call that the step's component makes to a capability. Calls of one step are numbered in their order. */
export interface ImportBegan {
  readonly what: "import-began";
  readonly call: number;
  readonly capability: string;
  readonly func: string;
  readonly args: readonly unknown[];
}

/** The answer to a component's call; `failed`: the capability threw. */
export interface ImportEnded {
  readonly what: "import-ended";
  readonly call: number;
  readonly answer: unknown;
  readonly failed: boolean;
}

/** The component that a step runs. `digest`: `sha256:` and the digest of its bytes. */
export interface ComponentChosen {
  readonly what: "component-chosen";
  readonly path: string;
  readonly digest: string;
  readonly grants: unknown;
  readonly limits: unknown;
}

/** One detail of a step. */
export type StepDetail =
  | ComponentChosen
  /** The engine has completed the step's configuration. A replay then needs no pool. */
  | { readonly what: "configuration-completed"; readonly stdin: string }
  | ImportBegan
  | ImportEnded
  /** The component has logged a line. */
  | { readonly what: "line-logged"; readonly line: string }
  /** The component has answered, and used these resources. */
  | { readonly what: "guest-ended"; readonly usage: ComponentUsage }
  /** The native plugin's process has ended. */
  | { readonly what: "process-ended"; readonly native: NativeRecord }
  /** The engine decided something about the step. */
  | { readonly what: "decided"; readonly verdict: StepVerdict };
