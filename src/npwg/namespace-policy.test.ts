import { describe, expect, test } from "vitest";
import { checkNamespace, type NamespacePolicy, readGlobalNamespaces } from "./namespace-policy.ts";

function policy(isolated: boolean, global?: string): NamespacePolicy {
  const read = readGlobalNamespaces(global);
  if (!read.ok) throw new Error(read.fault.msg);
  return { isolated, global: read.value };
}

const network = (namespace: string) => ({ namespace, name: "net-a" });

describe("namespaces under isolation", () => {
  test.each(["network", "default network"] as const)(
    "N1-68, MC-10: a %s of another namespace is refused, the rule named",
    (as) => {
      const checked = checkNamespace(policy(true, "infra,net"), "shop", network("other"), as);
      expect(checked).toMatchObject({
        ok: false,
        fault: {
          kind: "NETWORK_FORBIDDEN",
          code: 7,
          msg: `a pod of namespace shop may not have ${as} other/net-a: namespaceIsolation is on, and other is not among globalNamespaces (infra, net)`,
        },
      });
    },
  );

  test.each(["network", "default network"] as const)("N1-68, MC-10: the pod's own namespace and global ones give a %s", (as) => {
    for (const namespace of ["shop", "infra", "net"]) {
      expect(checkNamespace(policy(true, "infra, net"), "shop", network(namespace), as).ok).toBe(true);
    }
  });

  test("MC-10: without isolation every namespace does", () => {
    expect(checkNamespace(policy(false, ""), "shop", network("other"), "network").ok).toBe(true);
  });

  test("MC-11: the namespace default is global unless something else is said; the empty text exempts none", () => {
    const allowed = (global: string | undefined) =>
      ["default", "kube-system", "infra"].filter(
        (each) => checkNamespace(policy(true, global), "shop", network(each), "network").ok,
      );
    expect(allowed(undefined)).toEqual(["default"]);
    expect(allowed("")).toEqual([]);
    expect(allowed("  ")).toEqual([]);
    expect(allowed("infra")).toEqual(["infra"]);
    expect(allowed("infra , kube-system")).toEqual(["kube-system", "infra"]);
    expect(checkNamespace(policy(true, ""), "shop", network("other"), "network")).toMatchObject({
      fault: { msg: expect.stringContaining("globalNamespaces (none)") },
    });
  });

  test.each(["a,,b", "a,", "Infra", "../x", "a b"])("MC-11: globalNamespaces of %j is refused", (text) => {
    expect(readGlobalNamespaces(text)).toMatchObject({ ok: false, fault: { kind: "CONFIG_INVALID" } });
  });

  test("A-04: a namespace that every object inherits is none of the global ones", () => {
    expect(checkNamespace(policy(true), "shop", network("constructor"), "network").ok).toBe(false);
  });
});
