import { describe, expect, test } from "vitest";
import { readNetworkAttachmentDefinition } from "./network-attachment-definition.ts";

const object = (rest: object, metadata: object = {}) => ({
  apiVersion: "k8s.cni.cncf.io/v1",
  kind: "NetworkAttachmentDefinition",
  metadata: { name: "net-a", namespace: "ns", ...metadata },
  ...rest,
});

function refusal(value: unknown): string {
  const result = readNetworkAttachmentDefinition(value);
  if (result.ok) throw new Error(`accepted: ${JSON.stringify(result.value)}`);
  expect(result.fault).toMatchObject({ kind: "NETWORK_INVALID", code: 7 });
  return result.fault.msg;
}

describe("the NetworkAttachmentDefinition object", () => {
  test.each([
    ["no spec", {}],
    ["a null spec", { spec: null }],
    ["an empty spec", { spec: {} }],
    ["an empty config", { spec: { config: "" } }],
    ["a null config", { spec: { config: null } }],
    ["a key of the prototype as config", { spec: JSON.parse('{"__proto__":{"config":"{}"}}') as object }],
  ])("N1-03: %s is a definition without configuration", (_, rest) => {
    const result = readNetworkAttachmentDefinition(object(rest));
    expect(result).toEqual({ ok: true, value: { namespace: "ns", name: "net-a", annotations: new Map() } });
  });

  test("N1-03: a config is kept as text", () => {
    const config = ' {"type":"x", "n":9007199254740993}\n';
    expect(readNetworkAttachmentDefinition(object({ spec: { config } }))).toMatchObject({ ok: true, value: { config } });
  });

  test.each([
    [{ spec: { config: { type: "bridge" } } }, "ns/net-a: spec.config must be a string of JSON, but is an object"],
    [{ spec: { config: 5 } }, "but is a number"],
    [{ spec: [] }, "ns/net-a: spec must be an object, but is an array"],
    [{ spec: "{}" }, "spec must be an object, but is a string"],
  ])("N1-03: %j is refused", (rest, why) => {
    expect(refusal(object(rest))).toContain(why);
  });

  test("N1-06: other owners' annotations are kept", () => {
    const annotations = {
      "openstack.org/kuryr-config": '{"subnetId": "x"}',
      "k8s.v1.cni.cncf.io/resourceName": "intel.com/sriov",
    };
    const result = readNetworkAttachmentDefinition(object({}, { annotations }));
    expect(result).toMatchObject({ ok: true, value: { annotations: new Map(Object.entries(annotations)) } });
  });

  test.each(["Net_A", "-a", "a.b", "../x", "a\n", ""])("N1-07: the name %j is refused", (name) => {
    expect(refusal(object({}, { name }))).toContain("its name");
  });

  test.each([null, undefined, 5, "x", [], {}, { metadata: null }, { metadata: [] }, { metadata: { name: 5 } }])(
    "A-04: %j is not a definition",
    (value) => {
      expect(refusal(value)).toContain("metadata");
    },
  );

  test.each([
    [{ namespace: "a/b" }, "its namespace"],
    [{ namespace: 5 }, "metadata.namespace is a number"],
    [{ annotations: { a: 1 } }, 'the annotation "a" must be a string, but is a number'],
    [{ annotations: [] }, "metadata.annotations is an array"],
    [{ uid: 5 }, "metadata.uid is a number"],
  ])("A-04: metadata with %j is refused", (metadata, why) => {
    expect(refusal(object({}, metadata))).toContain(why);
  });

  test("A-06: a config larger than the API's limit is refused", () => {
    expect(refusal(object({ spec: { config: " ".repeat(1_572_865) } }))).toContain("spec.config has 1572865 characters");
    expect(readNetworkAttachmentDefinition(object({ spec: { config: " ".repeat(1_048_576) } })).ok).toBe(true);
  });
});
