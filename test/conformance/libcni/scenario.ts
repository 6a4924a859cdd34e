// What a scenario of the comparison with Go's libcni consists of. The same scenario runs on both sides, each with
// recorder plugins and a cache directory of its own; then all that can be observed is compared.

import type { ScriptedAnswer } from "../../harness/recorder.ts";
import type { OracleRuntime } from "./oracle.ts";

export type Verb = "ADD" | "CHECK" | "DEL" | "GC" | "STATUS" | "VALIDATE";

export interface Operation {
  readonly do: Verb;
  /** Over the scenario's own runtime parameters. */
  readonly runtime?: Partial<OracleRuntime>;
  /** GC. */
  readonly valid?: readonly { readonly containerID: string; readonly ifname: string }[];
  /** Another configuration than the scenario's from this operation on. */
  readonly list?: unknown;
}

/** Answers of one recorder: to every call of a verb, or with `nth` to one. */
export interface Scripted extends ScriptedAnswer {
  readonly verb: string;
  readonly nth?: number;
}

export interface Scenario {
  /** A sentence, beginning with the checklist's ID. */
  readonly title: string;
  /** One of: a conflist, a single configuration, files (the first is the conflist). A string is text as it is. */
  readonly network:
    | { readonly list: unknown }
    | { readonly conf: unknown }
    | { readonly files: Readonly<Record<string, unknown>> };
  /** The recorders on the CNI_PATH. */
  readonly plugins: Readonly<Record<string, readonly Scripted[]>>;
  readonly runtime?: Partial<OracleRuntime>;
  readonly operations: readonly Operation[];
}

/** What the runtime says where a scenario doesn't. */
export const defaultRuntime: OracleRuntime = { containerID: "ctr-1", netns: "/run/netns/none", ifname: "eth0" };

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
