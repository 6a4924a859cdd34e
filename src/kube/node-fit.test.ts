import { describe, expect, test } from "vitest";
import { fitNode } from "./node-fit.ts";

const node = (more: { readonly labels?: object; readonly taints?: readonly object[]; readonly name?: string } = {}) => ({
  metadata: { name: more.name ?? "a", labels: more.labels ?? {} },
  spec: { taints: more.taints },
});
const daemonSet = (spec: object) => ({ spec: { template: { spec } } });
const affine = (...nodeSelectorTerms: readonly object[]) =>
  daemonSet({ affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } } });
const expression = (operator: string, values?: readonly string[]) => ({ matchExpressions: [{ key: "k", operator, values }] });
const taint = (effect: string, key = "gpu", value?: string) => ({ key, effect, value });
const named = (operator: string, name: string) => ({ matchFields: [{ key: "metadata.name", operator, values: [name] }] });

describe("a DaemonSet's node selector and required affinity", () => {
  test.each<[string, object, ReturnType<typeof node>, string]>([
    ["nothing", daemonSet({}), node(), "fits"],
    ["a selected label", daemonSet({ nodeSelector: { k: "x" } }), node({ labels: { k: "x" } }), "fits"],
    ["another value of a selected label", daemonSet({ nodeSelector: { k: "x" } }), node({ labels: { k: "y" } }), "unfit"],
    ["In with the value", affine(expression("In", ["x", "y"])), node({ labels: { k: "y" } }), "fits"],
    ["In with another value", affine(expression("In", ["x"])), node({ labels: { k: "y" } }), "unfit"],
    ["In without the label", affine(expression("In", ["x"])), node(), "unfit"],
    ["NotIn with the value", affine(expression("NotIn", ["x"])), node({ labels: { k: "x" } }), "unfit"],
    ["NotIn without the label", affine(expression("NotIn", ["x"])), node(), "fits"],
    ["Exists", affine(expression("Exists")), node({ labels: { k: "" } }), "fits"],
    ["Exists without the label", affine(expression("Exists")), node(), "unfit"],
    ["a label of Object.prototype", affine({ matchExpressions: [{ key: "toString", operator: "Exists" }] }), node(), "unfit"],
    ["DoesNotExist", affine(expression("DoesNotExist")), node(), "fits"],
    ["DoesNotExist with the label", affine(expression("DoesNotExist")), node({ labels: { k: "x" } }), "unfit"],
    ["Gt with a greater number", affine(expression("Gt", ["9"])), node({ labels: { k: "10" } }), "fits"],
    ["Gt with the same number", affine(expression("Gt", ["10"])), node({ labels: { k: "10" } }), "unfit"],
    ["Gt with no number", affine(expression("Gt", ["9"])), node({ labels: { k: "x" } }), "unfit"],
    ["Lt with a smaller number", affine(expression("Lt", ["9"])), node({ labels: { k: "-1" } }), "fits"],
    ["Lt without the label", affine(expression("Lt", ["9"])), node(), "unfit"],
    ["the node's name", affine(named("In", "a")), node(), "fits"],
    ["another node's name", affine(named("In", "b")), node(), "unfit"],
    ["the node's name by NotIn", affine(named("NotIn", "a")), node(), "unfit"],
    ["one of two terms", affine(expression("Exists"), named("In", "a")), node(), "fits"],
    ["one of two requirements", affine({ ...expression("Exists"), ...named("In", "a") }), node(), "unfit"],
    ["an empty term", affine({}), node(), "unfit"],
    ["no term", affine(), node(), "unfit"],
    ["an operator of a later release", affine(expression("Matches", ["x"])), node(), "fits"],
    [
      "selector and affinity",
      daemonSet({ nodeSelector: { z: "1" }, ...affine(named("In", "a")).spec.template.spec }),
      node(),
      "unfit",
    ],
  ])("%s", (_, set, object, kind) => {
    expect(fitNode(set, object).kind).toBe(kind);
  });
});

describe("a node's taints", () => {
  test.each<[string, readonly object[], readonly object[], string]>([
    ["NoExecute evicts", [taint("NoExecute")], [], "unfit"],
    ["NoSchedule lets a running pod go on", [taint("NoSchedule")], [], "only-running"],
    ["PreferNoSchedule does not count", [taint("PreferNoSchedule")], [], "fits"],
    ["NoExecute before NoSchedule", [taint("NoSchedule"), taint("NoExecute", "x")], [], "unfit"],
    ["a toleration of everything", [taint("NoExecute")], [{ operator: "Exists" }], "fits"],
    ["a toleration of the key", [taint("NoExecute", "gpu", "1")], [{ key: "gpu", operator: "Exists" }], "fits"],
    ["a toleration of another key", [taint("NoExecute")], [{ key: "cpu", operator: "Exists" }], "unfit"],
    ["a toleration of the value", [taint("NoExecute", "gpu", "1")], [{ key: "gpu", value: "1" }], "fits"],
    ["a toleration of another value", [taint("NoExecute", "gpu", "1")], [{ key: "gpu", value: "2" }], "unfit"],
    ["a toleration of another effect", [taint("NoExecute")], [{ operator: "Exists", effect: "NoSchedule" }], "unfit"],
    ["a toleration for a while", [taint("NoExecute")], [{ operator: "Exists", tolerationSeconds: 1 }], "fits"],
    ["an empty key without Exists", [taint("NoExecute")], [{ operator: "Equal" }], "unfit"],
    ["a node that is away", [taint("NoExecute", "node.kubernetes.io/unreachable")], [], "fits"],
    ["a node that is drained", [taint("NoSchedule", "node.kubernetes.io/unschedulable")], [], "fits"],
    ["a node that an administrator takes out", [taint("NoExecute", "node.kubernetes.io/out-of-service")], [], "unfit"],
  ])("%s", (_, taints, tolerations, kind) => {
    expect(fitNode(daemonSet({ tolerations }), node({ taints })).kind).toBe(kind);
  });
});
