// What a chain asks of whoever runs it: one plugin call, native or WASM, as a value.

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
  /** Complete: nothing else is inherited. Every name occurs once. */
  readonly env: readonly EnvironmentPair[];
  /** The previous result within `stdin`, already read. */
  readonly prevResult: PluginResult | undefined;
  /** Who is being attached; undefined for GC, STATUS and VERSION. */
  readonly attachment: AttachmentId | undefined;
}

/** How a step ended. `stdout` is what the plugin printed; only ADD and VERSION read it. */
export type StepOutcome = { readonly ok: true; readonly stdout: string } | { readonly ok: false; readonly fault: Fault };

/** A `Result` that also says which step failed; undefined where it was none (a fault before the first step). */
export type ChainResult<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly fault: Fault; readonly failedStep: number | undefined };

/** A chain: yields steps, is resumed with their outcomes, returns what came of it. */
export type Chain<T> = Generator<ChainStep, ChainResult<T>, StepOutcome>;

export interface ChainContext {
  readonly list: NetworkList;
  /** CNI_PATH. */
  readonly path: string;
  /** What each plugin's environment has besides the CNI variables. */
  readonly inherited: readonly EnvironmentPair[];
  /** Whether plugins see their `capabilities` key; the specification says no, libcni keeps it (D-3). `keep` by default. */
  readonly capabilities?: "keep" | "strip";
}

export interface AttachmentContext extends ChainContext {
  readonly attachment: Attachment;
  /** ADD: what the first plugin gets as its previous result, where others attached before this chain (MC-22). */
  readonly previous?: PluginResult | undefined;
}
