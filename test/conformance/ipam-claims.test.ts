// The CRD of IPAM claims against section 8 of the specification.

import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { parse } from "yaml";

interface Schema {
  readonly type: string;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

const crd = parse(readFileSync("deploy/crd-ipamclaims.yaml", "utf8"));
const [version] = crd.spec.versions;

/** What a structural schema makes of a value: the path of what is wrong. What it doesn't name may be anything. */
function problems(schema: Schema, value: unknown, path = ""): readonly string[] {
  const kind = Array.isArray(value) ? "array" : typeof value;
  if (kind !== schema.type) return [`${path}: ${kind}`];
  if (Array.isArray(value))
    return value.flatMap((each, index) => (schema.items ? problems(schema.items, each, `${path}/${index}`) : []));
  if (typeof value !== "object" || value === null) return [];
  const members = new Map(Object.entries(value));
  const missing = (schema.required ?? []).filter((key) => !members.has(key)).map((key) => `${path}/${key}: missing`);
  const known = Object.entries(schema.properties ?? {}).filter(([key]) => members.has(key));
  return [...missing, ...known.flatMap(([key, own]) => problems(own, members.get(key), `${path}/${key}`))];
}

describe("the CRD of IPAM claims", () => {
  test("N13-04: has the specification's names, its own group rather than that of the text's example (D-16)", () => {
    expect(crd).toMatchObject({ apiVersion: "apiextensions.k8s.io/v1", metadata: { name: "ipamclaims.k8s.cni.cncf.io" } });
    expect(crd.spec).toMatchObject({
      group: "k8s.cni.cncf.io",
      scope: "Namespaced",
      names: { kind: "IPAMClaim", listKind: "IPAMClaimList", plural: "ipamclaims", singular: "ipamclaim" },
      versions: [{ name: "v1alpha1", served: true, storage: true, subresources: { status: {} } }],
    });
  });

  test.each([
    ["a claim", { spec: { network: "tenantred", interface: "pod16367aacb67" } }, []],
    ["one with addresses", { spec: { network: "a", interface: "b" }, status: { ips: ["192.0.2.2/24", "2001:db8::2/64"] } }, []],
    ["one without an interface", { spec: { network: "a" } }, ["/spec/interface: missing"]],
    ["one without a network", { spec: { interface: "b" } }, ["/spec/network: missing"]],
    ["one with a number", { spec: { network: 5, interface: "b" } }, ["/spec/network: number"]],
    ["a status without addresses", { spec: { network: "a", interface: "b" }, status: {} }, ["/status/ips: missing"]],
    ["a status with one text", { spec: { network: "a", interface: "b" }, status: { ips: "x" } }, ["/status/ips: string"]],
    ["an address that is none", { spec: { network: "a", interface: "b" }, status: { ips: [5] } }, ["/status/ips/0: number"]],
  ])("N13-04: takes or refuses %s as section 8.1 has it", (_, claim, wrong) => {
    expect(problems(version.schema.openAPIV3Schema, claim)).toEqual(wrong);
  });
});
