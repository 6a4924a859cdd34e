// Whether the DaemonSet controller runs a pod on a node: by the node selector, the required node affinity and the taints. The rules are those of
// https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/ and of k8s.io/component-helpers/scheduling/corev1.

import { isJsonObject } from "../json/document.ts";

type JsonObject = Readonly<Record<string, unknown>>;

/** How a pod of the DaemonSet fits a node. */
export type NodeFit =
  /** The node gets a pod. */
  | { readonly kind: "fits" }
  /** A pod that runs may go on, but the node gets no new one. */
  | { readonly kind: "only-running"; readonly why: string }
  /** The node gets no pod, and a pod that runs is deleted. */
  | { readonly kind: "unfit"; readonly why: string };

/** Taints that the controller lets every pod of a DaemonSet tolerate. A pod in the host's network tolerates `network-unavailable`, too. */
const alwaysTolerated: readonly string[] = [
  "node.kubernetes.io/not-ready:NoExecute",
  "node.kubernetes.io/unreachable:NoExecute",
  "node.kubernetes.io/disk-pressure:NoSchedule",
  "node.kubernetes.io/memory-pressure:NoSchedule",
  "node.kubernetes.io/pid-pressure:NoSchedule",
  "node.kubernetes.io/unschedulable:NoSchedule",
  "node.kubernetes.io/network-unavailable:NoSchedule",
];

/** Compares the pod template of a DaemonSet object with a Node object. A rule in an unknown form counts as met. */
export function fitNode(daemonSet: unknown, node: unknown): NodeFit {
  const pod = at(daemonSet, "spec", "template", "spec");
  const labels = objectAt(node, "metadata", "labels");
  const missing = Object.entries(objectAt(pod, "nodeSelector")).find(([key, value]) => labels[key] !== value);
  if (missing !== undefined) return { kind: "unfit", why: `label ${missing[0]}` };
  const required = at(pod, "affinity", "nodeAffinity", "requiredDuringSchedulingIgnoredDuringExecution");
  if (isJsonObject(required) && !listAt(required, "nodeSelectorTerms").some((term) => meetsTerm(term, node)))
    return { kind: "unfit", why: "node affinity" };
  const tolerations = listAt(pod, "tolerations");
  const taints = listAt(node, "spec", "taints").filter((taint) => !isTolerated(taint, tolerations));
  const evicting = taints.find((taint) => at(taint, "effect") === "NoExecute");
  if (evicting !== undefined) return { kind: "unfit", why: `taint ${taintText(evicting)}` };
  const refusing = taints.find((taint) => at(taint, "effect") === "NoSchedule");
  return refusing === undefined ? { kind: "fits" } : { kind: "only-running", why: `taint ${taintText(refusing)}` };
}

/** A term without requirements matches no node. */
function meetsTerm(term: unknown, node: unknown): boolean {
  const labels = objectAt(node, "metadata", "labels");
  const fields = { "metadata.name": at(node, "metadata", "name") };
  const [expressions, named] = [listAt(term, "matchExpressions"), listAt(term, "matchFields")];
  if (expressions.length + named.length === 0) return false;
  return expressions.every((each) => meets(each, labels)) && named.every((each) => meets(each, fields));
}

/** One requirement. A label that is absent meets `NotIn` and `DoesNotExist`. */
function meets(requirement: unknown, values: JsonObject): boolean {
  const key = at(requirement, "key");
  const value = typeof key === "string" && Object.hasOwn(values, key) ? values[key] : undefined;
  const wanted = listAt(requirement, "values");
  switch (at(requirement, "operator")) {
    case "In":
      return value !== undefined && wanted.includes(value);
    case "NotIn":
      return value === undefined || !wanted.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
      return compares(value, wanted[0], (one, other) => one > other);
    case "Lt":
      return compares(value, wanted[0], (one, other) => one < other);
    default:
      return true;
  }
}

/** Compares whole numbers; false if one of the texts is none. */
function compares(value: unknown, wanted: unknown, compare: (one: bigint, other: bigint) => boolean): boolean {
  const [one, other] = [value, wanted].map((text) =>
    typeof text === "string" && /^[+-]?\d+$/.test(text) ? BigInt(text.replace("+", "")) : undefined,
  );
  return one !== undefined && other !== undefined && compare(one, other);
}

/** `tolerationSeconds` does not count: the controller makes a new pod after such an eviction. */
function isTolerated(taint: unknown, tolerations: readonly unknown[]): boolean {
  const [key, value = "", effect] = ["key", "value", "effect"].map((name) => at(taint, name));
  if (alwaysTolerated.includes(`${String(key)}:${String(effect)}`)) return true;
  return tolerations.some((toleration) => {
    const operator = at(toleration, "operator") ?? "Equal";
    if (![undefined, "", effect].some((each) => each === at(toleration, "effect"))) return false;
    const wantedKey = at(toleration, "key") ?? "";
    if (wantedKey === "") return operator === "Exists";
    if (wantedKey !== key) return false;
    return operator !== "Equal" || (at(toleration, "value") ?? "") === value;
  });
}

function taintText(taint: unknown): string {
  return ["key", "effect"].map((name) => String(at(taint, name))).join(":");
}

function at(value: unknown, ...path: readonly string[]): unknown {
  let current = value;
  for (const key of path) current = isJsonObject(current) ? current[key] : undefined;
  return current;
}

function objectAt(value: unknown, ...path: readonly string[]): JsonObject {
  const found = at(value, ...path);
  return isJsonObject(found) ? found : {};
}

function listAt(value: unknown, ...path: readonly string[]): readonly unknown[] {
  const found = at(value, ...path);
  return Array.isArray(found) ? found : [];
}
