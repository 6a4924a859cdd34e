// The form of a check of providers, and its outcome.

import type { Lab } from "./lab.ts";

/** One rule of docs/how-to/write-a-provider.md, with the requests that show whether a provider follows it. */
export interface ProviderCheck {
  /** Such as `REL-2`; it stays the same in all releases. */
  readonly id: string;
  /** The rule, as a sentence. */
  readonly title: string;
  /** Set for a check that judges the answers to all other checks. Such a check runs although an earlier failure has ended the run. */
  readonly judgesAll?: true;
  /** Resolves if the provider follows the rule. Throws a Violation or a Skip. */
  readonly run: (lab: Lab) => Promise<void>;
}

/** The outcome of one check. */
export interface ProviderOutcome {
  readonly check: ProviderCheck;
  readonly verdict: "passed" | "failed" | "skipped";
  /** The reason of a failure or a skip; empty for a passed check. */
  readonly why: string;
  /** Milliseconds. */
  readonly ms: number;
}
