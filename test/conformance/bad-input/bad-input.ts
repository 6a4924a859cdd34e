// What a case of bad input consists of.

import type { Call } from "../../harness/plexus.ts";
import type { Hostility } from "../../harness/recorder.ts";

/** Where the call happens. */
export interface Place {
  /** A valid host configuration with one delegate of type `rec`, its state directories its own. */
  readonly config: Readonly<Record<string, unknown>>;
  /** A valid ADD of that configuration. */
  readonly call: Call;
  /** The directory on CNI_PATH. */
  readonly cniPath: string;
  /** An empty directory that belongs to the case. */
  readonly scratch: string;
}

export interface BadInput {
  /** A sentence, beginning with the checklist's ID. */
  readonly title: string;
  /** The call: a valid one with something wrong in it. */
  readonly call: (place: Place) => Call;
  readonly code: number;
  /** What the message must name: the field, variable or plugin, and where it says more than that, what is wrong. */
  readonly names: string | RegExp;
  /** The verbs with which the recorder was called; none unless given. */
  readonly executed?: readonly string[];
}

/** A plugin that misbehaves, as the only step of an ADD that fails for it and is undone. */
export interface FailingPlugin {
  readonly title: string;
  readonly plugin: Hostility;
  readonly code: number;
  /** What the message must say beside the plugin's name. */
  readonly names: string | RegExp;
  /** Milliseconds that a step may take; 20 000 unless given. */
  readonly stepTimeoutMs?: number;
}

/** A plugin that misbehaves in a way that must not matter. */
export interface ToleratedPlugin {
  readonly title: string;
  readonly plugin: Hostility;
}
