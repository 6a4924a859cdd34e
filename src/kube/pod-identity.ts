// Reads the call's pod from CNI_ARGS. The reader is lenient: runtimes add pairs of their own, and a value may contain `=` (MC-24).

import { splitCniArgs } from "../cni/environment.ts";
import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { quote } from "../json/quote.ts";
import { labelProblem, subdomainProblem } from "../npwg/object-names.ts";

/** The pod of a call. `uid` is undefined if the runtime does not send it. */
export interface PodIdentity {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string | undefined;
}

/**
 * The pod of the call; undefined if the runtime names no pod (podman, cnitool, critest). A name that Kubernetes does not allow is
 * refused before it becomes part of a path. Fault: ENVIRONMENT_INVALID.
 */
export function podIdentity(text: string): Result<PodIdentity | undefined> {
  const args = new Map(splitCniArgs(text));
  const namespace = args.get("K8S_POD_NAMESPACE") ?? "";
  const name = args.get("K8S_POD_NAME") ?? "";
  if (namespace === "" || name === "") return ok(undefined);
  const namespaceProblem = labelProblem(namespace);
  if (namespaceProblem !== undefined) return refuse("K8S_POD_NAMESPACE", namespace, namespaceProblem);
  const nameProblem = subdomainProblem(name);
  if (nameProblem !== undefined) return refuse("K8S_POD_NAME", name, nameProblem);
  return ok({ namespace, name, uid: args.get("K8S_POD_UID") });
}

/** The namespace of the call's pod, as the runtime names it; empty for a call without a pod. `text`: CNI_ARGS. */
export function podNamespace(text: string): string {
  return splitCniArgs(text).findLast(([key]) => key === "K8S_POD_NAMESPACE")?.[1] ?? "";
}

/** NAMESPACE/NAME of the call's pod, as the runtime names it; undefined for a call without a pod. `text`: CNI_ARGS. */
export function podName(text: string): string | undefined {
  const args = new Map(splitCniArgs(text));
  const [namespace = "", name = ""] = [args.get("K8S_POD_NAMESPACE"), args.get("K8S_POD_NAME")];
  return namespace === "" || name === "" ? undefined : `${namespace}/${name}`;
}

function refuse(key: string, value: string, problem: string): Result<undefined> {
  return failed(fault("ENVIRONMENT_INVALID", `CNI_ARGS: ${key} ${quote(value, 80)} ${problem}`));
}
