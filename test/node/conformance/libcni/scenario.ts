// The type of a scenario of the comparison with Go's libcni. Plexus and libcni run the same scenario, each with its own
// recorder plugins and cache directory; then the test compares everything that can be observed.

import type { ScriptedAnswer } from "../../../lab/recorder.ts";
import type { OracleRuntime } from "./oracle.ts";

export type Verb = "ADD" | "CHECK" | "DEL" | "GC" | "STATUS" | "VALIDATE";

export interface Operation {
  readonly do: Verb;
  /** Runtime parameters that replace the scenario's. */
  readonly runtime?: Partial<OracleRuntime>;
  /** The valid attachments of GC. */
  readonly valid?: readonly { readonly containerID: string; readonly ifname: string }[];
  /** A configuration that replaces the scenario's from this operation on. */
  readonly list?: unknown;
}

/** A recorder's answer to every call of a verb, or with `nth` to that call only. */
export interface Scripted extends ScriptedAnswer {
  readonly verb: string;
  readonly nth?: number;
}

export interface Scenario {
  /** A sentence that begins with the checklist's ID. */
  readonly title: string;
  /** A conflist, a single configuration, or files (the first is the conflist). A string is used as the text itself. */
  readonly network:
    | { readonly list: unknown }
    | { readonly conf: unknown }
    | { readonly files: Readonly<Record<string, unknown>> };
  /** The recorders on the CNI_PATH. */
  readonly plugins: Readonly<Record<string, readonly Scripted[]>>;
  readonly runtime?: Partial<OracleRuntime>;
  readonly operations: readonly Operation[];
}

/** The runtime parameters that a scenario does not set. */
export const defaultRuntime: OracleRuntime = { containerID: "ctr-1", netns: "/run/netns/none", ifname: "eth0" };

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
