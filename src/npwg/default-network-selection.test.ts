import { describe, expect, test } from "vitest";
import { defaultNetworkAnnotation, parseDefaultNetwork } from "./default-network-selection.ts";
import { compat, strict } from "./profile.ts";

const read = (text: string | undefined, profile = compat) => parseDefaultNetwork(text, "kube-system", profile);

describe("a pod's default network", () => {
  test.each([
    ["net-a", "kube-system", "net-a"],
    ["ns/net-a", "ns", "net-a"],
    ['[{"name":"net-a"}]', "kube-system", "net-a"],
    ['[{"name":"net-a","namespace":"ns","mac":"02:23:45:67:89:01"}]', "ns", "net-a"],
  ])("MA-01: %s selects %s/%s", (text, namespace, name) => {
    for (const profile of [compat, strict]) {
      expect(read(text, profile)).toMatchObject({ ok: true, value: { network: { namespace, name }, warnings: [] } });
    }
  });

  test("MA-01: without the annotation a pod has none", () => {
    expect(defaultNetworkAnnotation).toBe("v1.multus-cni.io/default-network");
    expect(read(undefined)).toEqual({ ok: true, value: undefined });
  });

  test("MA-01: two elements are refused", () => {
    expect(read("a,b")).toMatchObject({
      ok: false,
      fault: { msg: expect.stringContaining("exactly one network, but selects 2") },
    });
  });

  test.each(["[]", "", "  "])("A-02: %j is refused in every profile, and the message has the annotation's key", (text) => {
    for (const profile of [compat, strict]) {
      expect(read(text, profile)).toMatchObject({
        ok: false,
        fault: {
          kind: "SELECTION_INVALID",
          msg: "annotation v1.multus-cni.io/default-network must select exactly one network, but selects 0",
        },
      });
    }
  });

  test.each(["[null]", "{}", '"x"', "a,", '[{"name":"../x"}]', '[{"name":"a","ips":[]}]', '[{"name":"a","name":"b"}]'])(
    "A-01: %s is refused in every profile, and the message has the annotation's key",
    (text) => {
      for (const profile of [compat, strict]) {
        expect(read(text, profile)).toMatchObject({
          ok: false,
          fault: { kind: "SELECTION_INVALID", msg: expect.stringContaining("v1.multus-cni.io/default-network") },
        });
      }
    },
  );
});
