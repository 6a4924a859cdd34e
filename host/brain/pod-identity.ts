// Which pod a call is for, as the runtime says it in CNI_ARGS. Read leniently: runtimes add pairs of their own, and a
// value may hold an `=` (MC-24).

import type { CniArg } from "../../src/cni/args.ts";

export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/** All pairs of CNI_ARGS in order, split at the first `=`; what is no pair is left out. */
export function callArgs(text: string): readonly CniArg[] {
  return text.split(";").flatMap((pair): CniArg[] => {
    const equals = pair.indexOf("=");
    return equals < 1 ? [] : [[pair.slice(0, equals), pair.slice(equals + 1)]];
  });
}

/** The pod of the call; undefined where the runtime names none (podman, cnitool, critest). */
export function podIdentity(text: string): PodIdentity | undefined {
  const args = new Map(callArgs(text));
  const namespace = args.get("K8S_POD_NAMESPACE") ?? "";
  const name = args.get("K8S_POD_NAME") ?? "";
  if (namespace === "" || name === "") return undefined;
  return { namespace, name, uid: args.get("K8S_POD_UID") };
}
