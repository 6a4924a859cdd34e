// Decides which steps of other programs remain in the file that plexusd writes.

import type { ForeignStep, WrittenContent } from "../../../src/configuration/foreign-steps.ts";
import { isInstalled } from "./plugin-directory.ts";

/** The treatment of other programs' steps: `keep` keeps a step whose plugin is installed, `strip` removes all. */
export type ForeignStepsPolicy = "keep" | "strip";

/** The decision for one look. */
export interface StepsDecision {
  readonly kept: readonly ForeignStep[];
  /** Steps that are left out: all by policy, or those whose plugin is not installed. */
  readonly leftOut: readonly ForeignStep[];
  /** The reason, for messages. */
  readonly whyLeftOut: string;
  /** Types whose steps of the default network's list are superseded by the file's. */
  readonly superseded: readonly string[];
}

/** The steps of one file. They outlive the file: plexusd removes it for a while without a default network or without a shim. */
export class KeptSteps {
  readonly #policy: ForeignStepsPolicy;
  readonly #directory: string;
  #kept: readonly ForeignStep[] = [];
  /** Steps that wait for their plugin. */
  #waiting: readonly ForeignStep[] = [];
  #superseded: readonly string[] = [];

  /** `directory`: where plugins are installed. */
  constructor(policy: ForeignStepsPolicy, directory: string) {
    this.#policy = policy;
    this.#directory = directory;
  }

  /** Decides anew. `content`: the file's content; undefined: there is no file. */
  decide(content: WrittenContent | undefined): StepsDecision {
    const found = content?.steps ?? this.#kept;
    const waiting = this.#waiting.filter(({ type }) => !found.some((step) => step.type === type));
    const steps = [...found, ...waiting];
    if (this.#policy === "strip") {
      const whyLeftOut = "--cni-foreign-steps is strip";
      return { kept: [], leftOut: steps, whyLeftOut, superseded: [] };
    }
    this.#kept = steps.filter(({ type }) => isInstalled(this.#directory, type));
    this.#waiting = steps.filter((step) => !this.#kept.includes(step));
    // A step of the default network's list that an installer has put into the file stays superseded when the installer removes it there.
    this.#superseded = [...new Set([...(content?.omitted ?? this.#superseded), ...this.#kept.map(({ type }) => type)])];
    const whyLeftOut = `${this.#directory} has no such plugin`;
    return { kept: this.#kept, leftOut: this.#waiting, whyLeftOut, superseded: this.#superseded };
  }
}
