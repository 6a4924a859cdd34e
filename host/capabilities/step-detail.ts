// The recorder of one running step, for a chain trace. Undefined for nearly all calls.

import type { ComponentUsage, NativeRecord, StepVerdict } from "../../src/chain-trace/chain-trace.ts";
import type { CapabilityImports } from "../sandbox/runner.ts";

/** Records one step. The functions never throw, because a trace must not break an attachment. */
export interface StepRecorder {
  /** Notes the component that runs. `digest`: `sha256:` and the digest of its bytes. */
  readonly component: (component: {
    readonly path: string;
    readonly digest: string;
    readonly grants: unknown;
    readonly limits: unknown;
  }) => void;
  /** Notes the step's configuration as the component gets it, if the engine has completed it. A replay then needs no pool. */
  readonly configuration: (stdin: string) => void;
  /** The same capabilities, whose calls are recorded. A replay answers them instead. */
  readonly imports: (imports: CapabilityImports) => CapabilityImports;
  /** Notes the resources that the component used. */
  readonly usage: (usage: ComponentUsage) => void;
  /** Notes the end of a native plugin's process. */
  readonly native: (native: NativeRecord) => void;
  /** Notes a decision about the step. */
  readonly verdict: (verdict: StepVerdict) => void;
}
