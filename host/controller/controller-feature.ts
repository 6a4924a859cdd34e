// The part of an optional feature in plexus-controller: its options, its part, its metrics.

import type { ParseArgsOptionsConfig } from "node:util";
import type { MetricDefinitions } from "../telemetry/metrics/definitions.ts";
import type { OptionValues } from "../node/command-line/option-values.ts";
import type { MakePart } from "./part.ts";

/** The part of one feature in plexus-controller. */
export interface ControllerFeature {
  readonly options: ParseArgsOptionsConfig;
  /** The options' lines of the help text, which ends with a line break. */
  readonly usage: string;
  /** The metrics of the part. */
  readonly metrics: MetricDefinitions;
  /**
   * Reads the options; the answer makes the part, undefined: it is off. Throws an Error whose message names the option and the accepted form; making the
   * part rejects with such an Error, too.
   */
  readonly read: (values: OptionValues) => (() => Promise<MakePart>) | undefined;
}
