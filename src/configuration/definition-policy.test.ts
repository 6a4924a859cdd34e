// The policy for definitions: trust, names and grants by namespace, and the reader of its section.

import { describe, expect, test } from "vitest";
import { boundNetworkName, grantsFor, isTrustedNamespace, mayUseFile, trustsEverybody } from "./definition-policy.ts";
import type { DefinitionPolicy } from "./keys/definition-keys.ts";
import { readHostConfiguration } from "./read-host-configuration.ts";
import { defaultGrants } from "./keys/grant-keys.ts";
import { defaultWasm } from "./wasm-configuration.ts";

const base = { name: "cluster", type: "plexus", delegates: [{ type: "bridge" }] };

function policyIn(more: object): DefinitionPolicy {
  const read = readHostConfiguration({ ...base, ...more });
  if (!read.ok) throw new Error(read.fault.msg);
  return read.value.definitions;
}

function problemsIn(definitions: unknown): string {
  const read = readHostConfiguration({ ...base, definitions });
  return read.ok ? "" : read.fault.msg;
}

describe("trust", () => {
  test("only multusNamespace is trusted by default", () => {
    const policy = policyIn({});
    expect(["kube-system", "default", "shop", "kube-system-2"].map((each) => isTrustedNamespace(policy, each))).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(isTrustedNamespace(policyIn({ multusNamespace: "net" }), "kube-system")).toBe(false);
    expect(trustsEverybody(policy)).toBe(false);
  });

  test("globalNamespaces are not trusted: other pods may use their definitions, which stay bound", () => {
    expect(isTrustedNamespace(policyIn({ namespaceIsolation: true, globalNamespaces: "common" }), "common")).toBe(false);
  });

  test("the profile multus trusts every namespace, unless trusted says otherwise", () => {
    expect(trustsEverybody(policyIn({ profile: "multus" }))).toBe(true);
    const listed = policyIn({ profile: "multus", definitions: { trusted: ["net-*"] } });
    expect([isTrustedNamespace(listed, "net-a"), isTrustedNamespace(listed, "shop")]).toEqual([true, false]);
  });
});

describe("rules", () => {
  const policy = policyIn({
    definitions: {
      rules: [
        { namespaces: ["team-*"], pools: ["shared-*"], grants: { tuning: { log: {} } } },
        { namespaces: ["team-a"], files: ["storage"], grants: { tuning: { sysctl: {} }, bridge: { links: { bridges: ["a"] } } } },
      ],
    },
  });

  test("a bound network's name begins with its namespace, unless it is a shared pool", () => {
    expect(boundNetworkName(policy, "team-a", "pods")).toBe("team-a.pods");
    expect(boundNetworkName(policy, "team-a", "shared-1")).toBe("shared-1");
    expect(boundNetworkName(policy, "shop", "shared-1")).toBe("shop.shared-1");
  });

  test("files are allowed by any rule of the namespace", () => {
    expect([mayUseFile(policy, "team-a", "storage"), mayUseFile(policy, "team-b", "storage")]).toEqual([true, false]);
  });

  test("the first rule with the type grants; without one the default grants hold, never those of wasm.grants", () => {
    const wasm = { ...defaultWasm, grants: { tuning: { state: {} } } };
    const grants = (namespace: string, type: string): object =>
      grantsFor({ wasm, definitions: policy }, { namespace, name: "n" }, type);
    expect(grants("team-a", "tuning")).toEqual({ log: {} });
    expect(grants("shop", "tuning")).toBe(defaultGrants);
    expect(grantsFor({ wasm, definitions: policy }, undefined, "tuning")).toEqual({ state: {} });
    expect(grantsFor({ wasm }, { namespace: "team-a", name: "n" }, "tuning")).toEqual({});
  });

  test("links of a rule have no address, neighbour or route of the node that the rule does not list", () => {
    const links = grantsFor({ wasm: defaultWasm, definitions: policy }, { namespace: "team-a", name: "n" }, "bridge").links;
    expect(links).toMatchObject({ bridges: ["a"], networks: [], nodeAddresses: [], replaceAddresses: false });
  });
});

describe("mistakes", () => {
  test.each([
    [{ trusted: "shop" }, "definitions.trusted: must be a list"],
    [{ trusted: ["Shop"] }, "definitions.trusted.0: must be the name of a namespace"],
    [{ rule: [] }, "definitions.rule: no such key; did you mean rules?"],
    [{ rules: [{}] }, "definitions.rules.0.namespaces: is missing"],
    [
      { rules: Array.from({ length: 1025 }, () => ({ namespaces: ["a"] })) },
      "definitions.rules: must be a list of 1 to 1024 objects, but has 1025",
    ],
    [{ rules: [{ namespaces: ["a"], nativ: {} }] }, "definitions.rules.0.nativ: no such key"],
    [{ rules: [{ namespaces: ["a"], native: { macvlan: true } }] }, "definitions.rules.0.native.macvlan: must be an object"],
    [
      { rules: [{ namespaces: ["a"], native: { macvlan: { master: {} } } }] },
      "definitions.rules.0.native.macvlan.master: must be",
    ],
    [
      { rules: [{ namespaces: ["a"], grants: { x: { links: { nodeAddresses: ["10.0.0.1"] } } } }] },
      "nodeAddresses.0: must be an address",
    ],
  ])("%j is refused", (definitions, message) => {
    expect(problemsIn(definitions)).toContain(message);
  });

  test("a lenient call (DEL) trusts and grants nothing then", () => {
    const read = readHostConfiguration({ ...base, definitions: { trusted: "*" } }, true);
    expect(read.ok && read.value.definitions).toEqual({ trusted: [], rules: [], otherGrants: {} });
  });
});
