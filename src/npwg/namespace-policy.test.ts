import { describe, expect, test } from "vitest";
import { checkNamespace, type NamespacePolicy } from "./namespace-policy.ts";

const policy = (namespaceIsolation: boolean, ...globalNamespaces: readonly string[]): NamespacePolicy => ({
  namespaceIsolation,
  globalNamespaces,
});

const network = (namespace: string) => ({ namespace, name: "net-a" });

describe("namespaces under isolation", () => {
  test.each(["network", "default network"] as const)(
    "N1-68, MC-10: a %s of another namespace is refused, the rule named",
    (as) => {
      const checked = checkNamespace(policy(true, "infra", "net"), "shop", network("other"), as);
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
      expect(checkNamespace(policy(true, "infra", "net"), "shop", network(namespace), as).ok).toBe(true);
    }
  });

  test("MC-10: without isolation every namespace does", () => {
    expect(checkNamespace(policy(false), "shop", network("other"), "network").ok).toBe(true);
  });

  test("MC-11: with no global namespaces none is exempt, default neither", () => {
    for (const namespace of ["default", "kube-system"]) {
      expect(checkNamespace(policy(true), "shop", network(namespace), "network")).toMatchObject({
        fault: { msg: expect.stringContaining("globalNamespaces (none)") },
      });
    }
  });

  test("A-04: a namespace that every object inherits is none of the global ones", () => {
    expect(checkNamespace(policy(true), "shop", network("constructor"), "network").ok).toBe(false);
  });
});
