// Which pod a call is for, as the runtime says it in CNI_ARGS. Read leniently: runtimes add pairs of their own, and a
// value may hold an `=` (MC-24).

import type { CniArg } from "../../src/cni/args.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { quote } from "../../src/json/quote.ts";
import { labelProblem, subdomainProblem } from "../../src/npwg/object-names.ts";

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

/**
 * The pod of the call; undefined where the runtime names none (podman, cnitool, critest). Names that Kubernetes would not
 * allow are refused before they become part of a path. Fault ENVIRONMENT_INVALID.
 */
export function podIdentity(text: string): Result<PodIdentity | undefined> {
  const args = new Map(callArgs(text));
  const namespace = args.get("K8S_POD_NAMESPACE") ?? "";
  const name = args.get("K8S_POD_NAME") ?? "";
  if (namespace === "" || name === "") return ok(undefined);
  const namespaceProblem = labelProblem(namespace);
  if (namespaceProblem !== undefined) return wrong("K8S_POD_NAMESPACE", namespace, namespaceProblem);
  const nameProblem = subdomainProblem(name);
  if (nameProblem !== undefined) return wrong("K8S_POD_NAME", name, nameProblem);
  return ok({ namespace, name, uid: args.get("K8S_POD_UID") });
}

function wrong(key: string, value: string, problem: string): Result<undefined> {
  return failed(fault("ENVIRONMENT_INVALID", `CNI_ARGS: ${key} ${quote(value, 80)} ${problem}`));
}
