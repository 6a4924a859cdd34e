import { describe, expect, test } from "vitest";
import { attachmentStatus, differs, podNetworkStatus } from "./conditions.ts";
import { type PodNetwork, type PodNetworkAttachment, readPodNetwork, readPodNetworkAttachment } from "./objects.ts";

const now = "2026-11-24T06:00:00Z";
const later = "2026-11-24T06:10:00Z";
const fine = { problem: undefined };
const refs = [{ group: "k8s.cni.cncf.io", kind: "network-attachment-definitions", name: "a", namespace: "shop" }];

function network(spec: object, status: object = {}): PodNetwork {
  const metadata = { name: "blue", uid: "u", resourceVersion: "1", generation: 2 };
  const read = readPodNetwork({ metadata, spec, status });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

function attachment(spec: object): PodNetworkAttachment {
  const metadata = { name: "fast", namespace: "shop", uid: "u", resourceVersion: "1", generation: 1 };
  const read = readPodNetworkAttachment({ metadata, spec: { podNetworkName: "blue", ...spec } });
  if (!read.ok) throw new Error(read.problem);
  return read.value;
}

/** The network with the status that it gets. */
function judged(spec: object, problem?: string): PodNetwork {
  const before = network(spec);
  return network(spec, podNetworkStatus(before, { problem }, false, now));
}

describe("a PodNetwork's status", () => {
  test("KE-02: enabled is true by default, so that a new network becomes Ready", () => {
    expect(podNetworkStatus(network({}), fine, false, now)).toMatchObject({
      phase: "Ready",
      conditions: [{ type: "Ready", status: "True", observedGeneration: 2, lastTransitionTime: now }],
    });
  });

  test("KE-07: ParamsNotReady needs parametersRefs", () => {
    const problem = "shop/a does not exist";
    expect(podNetworkStatus(network({ parametersRefs: refs }), { problem }, false, now)).toMatchObject({
      phase: "NotReady",
      conditions: [
        { type: "Ready", status: "False", reason: "ParamsNotReady", message: problem },
        { type: "ParamsReady", status: "False", message: problem },
      ],
    });
    expect(podNetworkStatus(network({}), { problem }, false, now).conditions).toMatchObject([{ type: "Ready", status: "True" }]);
  });

  test("KE-08: a disabled network is not Ready for that reason, and its phase is Disabled", () => {
    expect(podNetworkStatus(network({ enabled: false }), fine, true, now)).toMatchObject({
      phase: "Disabled",
      conditions: [{ type: "Ready", status: "False", reason: "AdministrativelyDisabled" }],
    });
  });

  test("KE-16: a Ready network with a user is InUse", () => {
    expect(podNetworkStatus(network({}), fine, true, now).phase).toBe("InUse");
  });

  test("KE-05: a condition's time changes with its status only", () => {
    const before = judged({ parametersRefs: refs }, "shop/a does not exist");
    const [ready, params] = podNetworkStatus(before, { problem: "shop/a is invalid" }, false, later).conditions;
    expect([ready?.lastTransitionTime, params?.lastTransitionTime]).toEqual([now, now]);
    expect(podNetworkStatus(before, fine, false, later).conditions[0]?.lastTransitionTime).toBe(later);
  });

  test("KE-06: Ready falls back when the parameters are not ready any more", () => {
    const before = judged({ parametersRefs: refs });
    expect(podNetworkStatus(before, { problem: "gone" }, false, later).conditions[0]).toMatchObject({
      status: "False",
      lastTransitionTime: later,
    });
  });

  test("a condition of another program stays, and is no reason to write", () => {
    const foreign = { type: "example.com/Audited", status: "True", reason: "Audited", lastTransitionTime: now };
    const { conditions } = judged({});
    const before = network({}, { phase: "Ready", conditions: [foreign, ...conditions] });
    const next = podNetworkStatus(before, fine, false, later);
    expect(next.conditions).toMatchObject([{ type: "Ready" }, foreign]);
    expect(differs(before, next)).toBe(false);
  });

  test("an unchanged status is not written again", () => {
    const before = judged({});
    expect(differs(before, podNetworkStatus(before, fine, false, later))).toBe(false);
    expect(differs(before, podNetworkStatus(before, fine, true, later))).toBe(true);
  });
});

function readyOf(of: PodNetwork | undefined) {
  return attachmentStatus(attachment({}), of, fine, false, now).conditions[0];
}

function phaseOf(of: PodNetwork | undefined, users: boolean): string {
  return attachmentStatus(attachment({}), of, fine, users, now).phase;
}

describe("a PodNetworkAttachment's status", () => {
  test("KE-20: it follows the PodNetwork's Ready condition, and names the reason", () => {
    expect(readyOf(undefined)).toMatchObject({ reason: "PodNetworkNotReady", message: 'PodNetwork "blue" does not exist' });
    expect(readyOf(network({}))).toMatchObject({ status: "False", reason: "PodNetworkNotReady" });
    expect(readyOf(judged({ enabled: false }))?.message).toContain("AdministrativelyDisabled");
    expect(readyOf(judged({}))).toMatchObject({ status: "True" });
  });

  test("KE-20: parameters of its own can be not ready", () => {
    const status = attachmentStatus(attachment({ parametersRefs: refs }), judged({}), { problem: "gone" }, false, now);
    expect(status.conditions).toMatchObject([{ reason: "ParamsNotReady" }, { type: "ParamsReady", status: "False" }]);
  });

  test("KE-23: its phases are NotReady, Ready and InUse", () => {
    expect([phaseOf(undefined, true), phaseOf(judged({}), false), phaseOf(judged({}), true)]).toEqual([
      "NotReady",
      "Ready",
      "InUse",
    ]);
  });
});

test.each([
  [null, "metadata is missing"],
  [{ metadata: { name: "a", uid: "u", resourceVersion: "1" }, spec: { enabled: "yes" } }, "spec.enabled"],
  [{ metadata: { name: "a", namespace: "x", uid: "u", resourceVersion: "1" } }, "metadata.namespace"],
  [{ metadata: { name: "a", uid: "u", resourceVersion: "1" }, spec: { parametersRefs: [{ group: 1 }] } }, "parametersRefs[0]"],
])("an object that no API server admits is refused: %j", (object, problem) => {
  expect(readPodNetwork(object)).toMatchObject({ ok: false, problem: expect.stringContaining(problem) });
});
