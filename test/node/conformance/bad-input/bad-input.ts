// The types of the bad-input cases.

import type { Call } from "../../../lab/plexus.ts";
import type { Hostility } from "../../../lab/recorder.ts";

/** The configuration and directories of one case. */
export interface CaseContext {
  /** A valid host configuration with one delegate of type `rec` and the case's state directories. */
  readonly config: Readonly<Record<string, unknown>>;
  /** A valid ADD of that configuration. */
  readonly call: Call;
  /** The directory on CNI_PATH. */
  readonly cniPath: string;
  /** An empty directory that only this case uses. */
  readonly scratch: string;
}

export interface BadInput {
  /** A sentence that begins with the checklist's ID. */
  readonly title: string;
  /** A valid call with one invalid part. */
  readonly call: (context: CaseContext) => Call;
  /** The expected CNI error code. */
  readonly code: number;
  /** Part of the expected error message (the name of the field, variable or plugin), or a pattern for the message. */
  readonly message: string | RegExp;
  /** The verbs with which the recorder is called. Default: none. */
  readonly executed?: readonly string[];
}

/** A misbehaving plugin that is the only step of an ADD. The ADD fails and is undone. */
export interface FailingPlugin {
  readonly title: string;
  readonly plugin: Hostility;
  /** The expected CNI error code. */
  readonly code: number;
  /** Part of the expected error message, or a pattern for the message. */
  readonly message: string | RegExp;
  /** The step timeout in milliseconds. Default: 60 000. */
  readonly stepTimeoutMs?: number;
}

/** A misbehaving plugin whose ADD must succeed. */
export interface ToleratedPlugin {
  readonly title: string;
  readonly plugin: Hostility;
}
