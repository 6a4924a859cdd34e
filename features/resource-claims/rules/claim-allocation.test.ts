import { expect, test } from "vitest";
import { allocatedTo } from "./claim-allocation.ts";

const pod = { namespace: "shop", name: "web", uid: "u" };
const consumer = { resource: "pods", name: "web", uid: "u" };
const result = (device: string, more: object = {}): object => ({
  request: "nics",
  driver: "nic.example.com",
  pool: "node",
  device,
  ...more,
});
const claim = (status: object, name = "nics", namespace = "shop"): object => ({ metadata: { name, namespace }, status });
const allocated = (...results: readonly unknown[]): object => ({
  reservedFor: [{ resource: "pods", name: "other", uid: "o" }, consumer],
  allocation: { devices: { results } },
});

test("MA-05: a claim's devices come in the order of its allocation, without those of admin access", () => {
  const devices = allocatedTo(
    claim(allocated(result("vf-2"), result("seen", { adminAccess: true }), result("vf-1", { shareID: "s" }))),
    "nics",
    pod,
  );
  const device = { request: "nics", driver: "nic.example.com", pool: "node" };
  expect(devices).toEqual({
    ok: true,
    value: [
      { ...device, device: "vf-2", shareId: "" },
      { ...device, device: "vf-1", shareId: "s" },
    ],
  });
});

test.each([
  ["of another pod", { ...allocated(result("a")), reservedFor: [{ ...consumer, uid: "other" }] }, /not reserved for the pod/],
  ["of a pod group", { ...allocated(result("a")), reservedFor: [{ ...consumer, resource: "podgroups" }] }, /not reserved/],
  ["of another kind of pods", { ...allocated(result("a")), reservedFor: [{ ...consumer, apiGroup: "x.io" }] }, /not reserved/],
  ["of nobody", { allocation: { devices: { results: [] } } }, /status\.reservedFor does not have the pod's uid/],
  ["without an allocation", { reservedFor: [consumer] }, /no allocated device: status\.allocation is absent/],
  ["whose driver ends a selector", allocated(result("a", { driver: "a,spec.nodeName=b" })), /is no driver's name/],
  ["without a device's name", allocated(result("")), /one of these names is no name/],
  ["with too many devices", allocated(...Array.from({ length: 33 }, () => result("a"))), /results has 33 entries/],
  ["with too many pods", { reservedFor: Array.from({ length: 257 }, () => consumer) }, /status\.reservedFor has 257 entries/],
])("MA-05: a claim %s is refused", (_, status, problem) => {
  expect(allocatedTo(claim(status), "nics", pod)).toEqual({ ok: false, problem: expect.stringMatching(problem) });
});

test("MA-05: another claim than the one asked for is refused, and so is every claim of a pod without a uid", () => {
  const status = allocated(result("a"));
  expect(allocatedTo(claim(status, "others"), "nics", pod)).toMatchObject({
    ok: false,
    problem: expect.stringMatching(/answered with "others"/),
  });
  expect(allocatedTo(claim(status, "nics", "bank"), "nics", pod)).toMatchObject({ ok: false });
  const nobody = { reservedFor: [{ ...consumer, uid: "" }], allocation: { devices: {} } };
  expect(allocatedTo(claim(nobody), "nics", { ...pod, uid: "" })).toMatchObject({ ok: false });
});
