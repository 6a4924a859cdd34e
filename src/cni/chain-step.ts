// A chain's request to its runner: one plugin call, native or WASM, as a value.

import type { Fault } from "../fault/fault.ts";
import type { AttachmentId } from "./attachment.ts";
import type { EnvironmentPair, Verb } from "./environment.ts";
import type { NetworkList, PluginConf } from "./network-list.ts";
import type { Attachment } from "./attachment.ts";
import type { PluginResult } from "./result.ts";

/** One call of one plugin. */
export interface ChainStep {
  /** Position in the list's `plugins`. */
  readonly index: number;
  readonly plugin: PluginConf;
  readonly verb: Verb;
  readonly stdin: string;
  /** The complete environment: nothing else is inherited, and every name occurs once. */
  readonly env: readonly EnvironmentPair[];
  /** The previous result within `stdin`, already parsed. */
  readonly prevResult: PluginResult | undefined;
  /** The attachment of the call; undefined for GC, STATUS and VERSION. */
  readonly attachment: AttachmentId | undefined;
}

/**
 * The outcome of a step. `stdout` is the plugin's output; only ADD and VERSION read it. `passedOver`: the step failed, and its chain goes
 * on as if the step were not in the list.
 */
export type StepOutcome =
  | { readonly ok: true; readonly stdout: string; readonly passedOver?: true }
  | { readonly ok: false; readonly fault: Fault };

/** A `Result` with the index of the failed step; undefined if the fault came before the first step. */
export type ChainResult<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly fault: Fault;
      readonly failedStep: number | undefined;
      /** DEL: true if only steps failed that never succeeded in ADD. */
      readonly neverAttached?: boolean;
      /** DEL: true if only steps failed whose plugin or component can't be started. */
      readonly noneBegun?: boolean;
    };

/** A chain yields steps, is resumed with their outcomes, and returns the result of all. */
export type Chain<T> = Generator<ChainStep, ChainResult<T>, StepOutcome>;

/** The input of a chain. */
export interface ChainContext {
  readonly list: NetworkList;
  /** CNI_PATH: directories joined by ":". */
  readonly path: string;
  /** The variables of each plugin's environment besides the CNI variables. */
  readonly inherited: readonly EnvironmentPair[];
  /** Whether plugins see their `capabilities` key: the specification says no, libcni keeps it (D-03). Default: `keep`. */
  readonly capabilities?: "keep" | "strip";
}

/** The input of a chain for one attachment. */
export interface AttachmentContext extends ChainContext {
  readonly attachment: Attachment;
  /** ADD: the first plugin's previous result, if another chain attached before this one (MC-22). */
  readonly previous?: PluginResult | undefined;
  /**
   * ADD: reports a plugin that exits 0 without printing a result. The chain continues with the previous result, or with an empty
   * result (NPWG 5.1.1). If undefined, such a plugin has failed, as with libcni (L-12).
   */
  readonly withoutResult?: ((plugin: PluginConf) => void) | undefined;
}
