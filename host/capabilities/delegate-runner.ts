// Runs steps in components: the interface between engine and sandbox.

import type { StepOutcome } from "../../src/cni/chain-step.ts";
import type { Result } from "../../src/fault/result.ts";
import type { Step } from "./step.ts";
import type { ComponentFile } from "../sandbox/component-file.ts";

/** A delegate's type, with its grants in one network. */
export type GrantedDelegate = Pick<Step, "grants" | "definition"> & { readonly type: string };

/** Runs steps in components. */
export interface DelegateRunner {
  readonly run: (step: Step, file: ComponentFile) => Promise<StepOutcome>;
  /** Checks that the component can run: it is admitted, has a grant for each import, and supports the network's version. */
  readonly admit: (delegate: GrantedDelegate, file: ComponentFile, cniVersion: string) => Promise<Result<void>>;
}
