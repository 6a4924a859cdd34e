// The node: the parts that a process has for its life, however many calls it serves. The daemon makes one node for all of its calls, the one-shot engine one for
// its only call. Calls share these parts: the writer of state, the locks against other calls, the source of pods and definitions, the runner of components, the
// clock, and the observers.

import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import type { WasmConfiguration } from "../../src/configuration/wasm-configuration.ts";
import type { Cluster } from "../cluster/cluster.ts";
import type { Request } from "../protocol/messages.ts";
import type { Shim } from "../protocol/shim.ts";
import type { FileWriter } from "../store/files/file-writer.ts";
import type { TakeLock } from "../store/locks/file-lock.ts";
import type { Clock } from "../system/clock.ts";
import type { DelegateRunner } from "../capabilities/delegate-runner.ts";
import type { CallRecorder, Subscriber } from "./events/call-events.ts";
import type { PlanFeature } from "./planned/plan-feature.ts";

/** The call whose components are to run. */
export interface DelegatesOfCall {
  readonly shim: Shim;
  readonly takeLock: TakeLock;
  readonly wasm: WasmConfiguration;
  /** Receives whole lines that components log. */
  readonly log: (line: string) => void;
  /** Undefined if a runtime calls a component directly. */
  readonly configuration: HostConfiguration | undefined;
}

/** The parts that all calls of one process share. */
export interface Node {
  readonly clock: Clock;
  /** The start of the process, by the clock's date. */
  readonly startedAt: Date;
  /** The kernel's boot id. */
  readonly bootId: string;
  /** Writes journal and cache. */
  readonly writer: FileWriter;
  /** Takes locks for a call of this shim. */
  readonly takeLock: (shim: Shim) => TakeLock;
  /** Opens the source of pods and definitions that the configuration names; undefined if it names none. */
  readonly openCluster: (configuration: HostConfiguration, warn: (text: string) => void) => Promise<Cluster | undefined>;
  /** The parts of optional features in the plan of an ADD. */
  readonly features: readonly PlanFeature[];
  /** Opens the runner of components when a call needs its first one. */
  readonly openDelegates: (call: DelegatesOfCall) => Promise<DelegateRunner>;
  /** Begins to observe a call: metrics, log and spans of a daemon. */
  readonly observe?: (request: Request) => Subscriber;
  /** Record calls that the configuration or an administrator selects. The first that begins to record a call is its only recorder. */
  readonly recorders: readonly CallRecorder[];
}
