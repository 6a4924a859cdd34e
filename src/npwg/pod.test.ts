import { describe, expect, test } from "vitest";
import { ok } from "../fault/result.ts";
import { checkPodUid, isStatic, type Pod, readPod } from "./pod.ts";

function podWith(annotations: Readonly<Record<string, string>> = {}, uid?: string): Pod {
  const all = new Map(Object.entries(annotations));
  return { namespace: "shop", name: "web", annotations: all, ...(uid === undefined ? {} : { uid }) };
}

describe("a pod of the API", () => {
  test("is read with namespace, name, uid, annotations and labels", () => {
    const metadata = { namespace: "shop", name: "web", uid: "u-1", annotations: { a: "b" }, labels: { c: "d" } };
    expect(readPod({ kind: "Pod", metadata })).toEqual(ok({ ...podWith({ a: "b" }, "u-1"), labels: new Map([["c", "d"]]) }));
  });

  test("a pod without metadata is refused with CLUSTER_UNREADABLE and the pod as the subject", () => {
    const read = readPod({ kind: "Pod" });
    expect(read).toMatchObject({
      ok: false,
      fault: { kind: "CLUSTER_UNREADABLE", msg: expect.stringMatching(/^Pod .*metadata/) },
    });
  });
});

describe("MO-04: the uid of the runtime's pod", () => {
  const mirror = podWith({ "kubernetes.io/config.mirror": "hash-1" }, "u-1");

  test.each([
    ["the runtime sends none", podWith({}, "u-1"), undefined],
    ["the runtime sends an empty one", podWith({}, "u-1"), ""],
    ["the pod has none", podWith(), "u-1"],
    ["both are the same", podWith({}, "u-1"), "u-1"],
    ["the pod is the mirror of the static pod with this uid", mirror, "hash-1"],
    ["the mirror pod's own uid is sent", mirror, "u-1"],
  ])("is accepted if %s", (_, pod, uid) => {
    expect(checkPodUid(pod, uid)).toEqual(ok(pod));
  });

  test.each([
    ["another pod of the same name", podWith({}, "u-2")],
    ["the mirror of another static pod", podWith({ "kubernetes.io/config.mirror": "hash-2" }, "u-2")],
    ["a pod that calls itself static", podWith({ "kubernetes.io/config.source": "file" }, "u-2")],
  ])("refuses %s", (_, pod) => {
    expect(checkPodUid(pod, "u-1")).toMatchObject({
      ok: false,
      fault: { kind: "POD_NOT_FOUND", msg: 'pod shop/web has uid "u-2", but the runtime means "u-1"' },
    });
  });

  test("quotes a hostile uid and cuts it", () => {
    const checked = checkPodUid(podWith({}, "u-1"), `\u001B[31m${"x".repeat(500)}`);
    if (checked.ok) throw new Error("the uid was accepted");
    expect(checked.fault.msg).not.toContain("\u001B");
    expect(checked.fault.msg.length).toBeLessThan(200);
  });
});

test.each([
  ["file", true],
  ["http", true],
  ["api", false],
  [undefined, false],
])("the kubelet's source %s: static is %s", (source, expected) => {
  expect(isStatic(podWith(source === undefined ? {} : { "kubernetes.io/config.source": source }))).toBe(expected);
});
