// The judgement of echo requests by the policies of a pod, by the feature that has policies.

import type { Result } from "../fault/result.ts";
import type { IpAddress } from "../net/ip.ts";

/** An echo request at an interface of a pod: `out` of the pod, or `in`. */
export interface JudgedEcho {
  readonly direction: "in" | "out";
  readonly ifname: string;
  readonly source: IpAddress;
  readonly destination: IpAddress;
}

/** A pod of this node as a judge finds it. */
export interface JudgedPod {
  /** `namespace/name`. */
  readonly pod: string;
  readonly netns: string;
}

/**
 * Answers for each echo request the policies that forbid it, as `NAMESPACE/NAME`: those that isolate the interface, if none of them allows the request. Empty: the
 * request is allowed. Faults: those of reading the pod's policies.
 */
export type JudgeEchoes = (pod: JudgedPod, echoes: readonly JudgedEcho[]) => Promise<Result<readonly (readonly string[])[]>>;
