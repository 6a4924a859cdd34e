// Compares the CRD of IPAM claims with section 8 of the specification.

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

/** The paths of a value's members that violate a structural schema. Members that the schema does not name are valid. */
function problems(schema: Schema, value: unknown, path = ""): readonly string[] {
  const kind = Array.isArray(value) ? "array" : typeof value;
  if (kind !== schema.type) return [`${path}: ${kind}`];
  if (Array.isArray(value))
    return value.flatMap((each, index) => (schema.items ? problems(schema.items, each, `${path}/${index}`) : []));
  if (typeof value !== "object" || value === null) return [];
  const members = new Map(Object.entries(value));
  const missing = (schema.required ?? []).filter((key) => !members.has(key)).map((key) => `${path}/${key}: missing`);
  const known = Object.entries(schema.properties ?? {}).filter(([key]) => members.has(key));
  return [...missing, ...known.flatMap(([key, member]) => problems(member, members.get(key), `${path}/${key}`))];
}

describe("the CRD of IPAM claims", () => {
  test("N13-04, D-16: has the specification's names, and the specification's group instead of its example's", () => {
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
    [
      "a claim with addresses",
      { spec: { network: "a", interface: "b" }, status: { ips: ["192.0.2.2/24", "2001:db8::2/64"] } },
      [],
    ],
    ["a claim without an interface", { spec: { network: "a" } }, ["/spec/interface: missing"]],
    ["a claim without a network", { spec: { interface: "b" } }, ["/spec/network: missing"]],
    ["a claim whose network is a number", { spec: { network: 5, interface: "b" } }, ["/spec/network: number"]],
    ["a status without addresses", { spec: { network: "a", interface: "b" }, status: {} }, ["/status/ips: missing"]],
    ["a status whose ips is a string", { spec: { network: "a", interface: "b" }, status: { ips: "x" } }, ["/status/ips: string"]],
    ["an address that is a number", { spec: { network: "a", interface: "b" }, status: { ips: [5] } }, ["/status/ips/0: number"]],
  ])("N13-04: accepts or refuses %s as section 8.1 requires", (_, claim, expected) => {
    expect(problems(version.schema.openAPIV3Schema, claim)).toEqual(expected);
  });
});
