// The form of a check of the conformance kit, and its outcome.

import type { CniVersion } from "../../../src/cni/versions.ts";
import type { Lab } from "./lab.ts";
import type { SectionName } from "./sections.ts";
import type { Role } from "./setup.ts";

/** A component, or a program that a runtime executes. */
export type SubjectKind = "component" | "native";

/** One rule of the CNI specification, with the calls that show whether a plugin follows it. */
export interface Check {
  /** Such as `DEL-3`; it stays the same in all releases. */
  readonly id: string;
  /** The rule, as a sentence. */
  readonly title: string;
  /** The section of the specification. */
  readonly section: SectionName;
  /** Kinds of plugins that the check applies to; absent: all. */
  readonly kinds?: readonly SubjectKind[];
  /** Roles that the check applies to; absent: all. */
  readonly roles?: readonly Role[];
  /** The plugin must support this version or a later one. */
  readonly since?: CniVersion;
  /** The check needs `ipam` in the configuration. */
  readonly delegates?: true;
  /** Resolves if the plugin follows the rule. Throws a Violation or a Skip. */
  readonly run: (lab: Lab) => Promise<void>;
}

/** The outcome of one check. */
export interface Outcome {
  readonly check: Check;
  readonly verdict: "passed" | "failed" | "skipped";
  /** The reason of a failure or a skip; empty for a passed check. */
  readonly why: string;
  /** Milliseconds. */
  readonly ms: number;
}

/** The plugin breaks the rule. The message says how, for its author. */
export class Violation extends Error {}

/** The check cannot decide. The message is the reason. */
export class Skip extends Error {}

/** Throws a Violation with the message unless `holds` is true. */
export function demand(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Violation(message);
}
