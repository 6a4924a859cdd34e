// The places where a running pod's policies hold after they were written, and the report about a place where they do not.

import type { Shortfall } from "../../../src/kube/pod-shortfall.ts";
import { isolatedInterfaces, securedInterfaces } from "./node-table.ts";
import type { PolicyTable } from "./table.ts";

/** The outcome of writing a pod's policies. */
export interface WrittenPlaces {
  /** The pod's own table; undefined: no policy selects the pod. */
  readonly table: PolicyTable | undefined;
  /** The table at the node's ends that holds these policies; undefined: there is none. */
  readonly ends: PolicyTable | undefined;
  /** Whether the configuration asks for the node's ends. */
  readonly isAtNode: boolean;
  /** The reason why the pod's own table was not written. */
  readonly podProblem?: string | undefined;
  /** The reason why the policies are not at all of the node's ends. */
  readonly endProblem?: string | undefined;
}

/**
 * The report; undefined: the policies hold wherever the configuration asks for them. A process of the pod can own the pod's table, and the kernel then refuses
 * changes by others: policies that hold at the node's ends are applied nevertheless.
 */
export function policyShortfall({ table, ends, isAtNode, podProblem, endProblem }: WrittenPlaces): Shortfall | undefined {
  const isolated = [...(table === undefined ? [] : isolatedInterfaces(table))];
  const secured = new Set(ends === undefined ? [] : securedInterfaces(ends));
  const held = isolated.filter((each) => secured.has(each)).join(", ");
  if (podProblem === undefined) {
    if (endProblem === undefined) return undefined;
    const also = held === "" ? "" : `, and at the node's end of ${held}`;
    const message = `the policies hold in the pod's network namespace${also}, and not at the node's end of each interface: ${endProblem}`;
    return { reason: "PoliciesInPodOnly", message, isWhole: false };
  }
  const bare = isolated.filter((each) => !secured.has(each)).join(", ");
  if (isAtNode && endProblem === undefined && bare === "") {
    const where = held === "" ? "no policy selects the pod" : `the policies hold at the node's end of ${held}`;
    const message = `${where}. The pod's own table is as it was, and may stop more: ${podProblem}`;
    return { reason: "PoliciesAtNodeOnly", message, isWhole: true };
  }
  const where = held === "" ? "" : `; the policies of ${held} hold at the node's end, and those of ${bare || "others"} do not`;
  const message = [endProblem, podProblem].filter((each) => each !== undefined).join("; ") + where;
  return { reason: "PoliciesNotApplied", message, isWhole: false };
}
