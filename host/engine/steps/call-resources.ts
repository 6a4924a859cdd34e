// The resources that the steps of one call share.

import type { StepOutcome } from "../../../src/cni/chain-step.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import type { Result } from "../../../src/fault/result.ts";
import type { RunningStep } from "../../capabilities/step.ts";
import type { Shim } from "../../protocol/shim.ts";
import type { ComponentFile } from "../../sandbox/component-file.ts";
import type { CallDeadline } from "../call/call-deadline.ts";
import type { PluginOutput } from "../events/plugin-output.ts";
import type { PluginFinder } from "../call/plugin-finder.ts";
import type { Trace } from "../events/trace-file.ts";

/** A delegate's type, with its grants in one network. */
export type GrantedDelegate = Pick<RunningStep, "grants" | "definition"> & { readonly type: string };

/** Runs steps in components. */
export interface DelegateRunner {
  readonly run: (running: RunningStep, file: ComponentFile) => Promise<StepOutcome>;
  /** Checks that the component can run: it is admitted, has a grant for each import, and supports the network's version. */
  readonly admit: (delegate: GrantedDelegate, file: ComponentFile, cniVersion: string) => Promise<Result<void>>;
}

/** The resources of one call. */
export interface CallResources {
  readonly shim: Shim;
  readonly configuration: Pick<HostConfiguration, "wasm" | "stepTimeoutMs" | "goMaxProcs"> &
    Partial<Pick<HostConfiguration, "type" | "definitions" | "steps">>;
  /** Finds the plugins of chains. */
  readonly plugins: Pick<PluginFinder, "find">;
  /** Finds the plugins that delegates call; `plugins` unless given. */
  readonly delegatedPlugins?: Pick<PluginFinder, "find">;
  /** True if steps must be components, because the native binary of the same name made this call. */
  readonly componentsOnly?: boolean;
  readonly delegates: DelegateRunner;
  /** The call's remaining time. Without a deadline only the time-out of each step applies. */
  readonly deadline?: Pick<CallDeadline, "stepMs" | "totalMs">;
  /** Name of the directory for the nested calls of native steps, in the run directory; empty for none. */
  readonly nestedCallDirectory: string;
  /** Takes the stderr of native plugins, unless the step's error contains it. */
  readonly output: (output: PluginOutput) => void;
  readonly trace: Trace;
  /** A monotonic clock, in milliseconds. */
  readonly now: () => number;
}
