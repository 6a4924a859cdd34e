import { describe, expect, test } from "vitest";
import { checkNamespace, type NamespacePolicy } from "./namespace-policy.ts";

const policy = (namespaceIsolation: boolean, ...globalNamespaces: readonly string[]): NamespacePolicy => ({
  namespaceIsolation,
  globalNamespaces,
});

const network = (namespace: string) => ({ namespace, name: "net-a" });

describe("namespaces under isolation", () => {
  test.each(["network", "default network"] as const)(
    "N1-68, MC-10: a %s of another namespace is refused, and the message has the rule",
    (as) => {
      const checked = checkNamespace(policy(true, "infra", "net"), "shop", network("other"), as);
      expect(checked).toMatchObject({
        ok: false,
        fault: {
          kind: "NETWORK_FORBIDDEN",
          code: 7,
          msg: `a pod of namespace shop may not use ${as} other/net-a: namespaceIsolation is on, and other is not among globalNamespaces (infra, net)`,
        },
      });
    },
  );

  test.each(["network", "default network"] as const)("N1-68, MC-10: a %s may be in the pod's namespace or a global one", (as) => {
    for (const namespace of ["shop", "infra", "net"]) {
      expect(checkNamespace(policy(true, "infra", "net"), "shop", network(namespace), as).ok).toBe(true);
    }
  });

  test("MC-10: without isolation any namespace is allowed", () => {
    expect(checkNamespace(policy(false), "shop", network("other"), "network").ok).toBe(true);
  });

  test("MC-11: without global namespaces no other namespace is allowed, not even default", () => {
    for (const namespace of ["default", "kube-system"]) {
      expect(checkNamespace(policy(true), "shop", network(namespace), "network")).toMatchObject({
        fault: { msg: expect.stringContaining("globalNamespaces (none)") },
      });
    }
  });

  test("A-04: the name of an inherited property is not a global namespace", () => {
    expect(checkNamespace(policy(true), "shop", network("constructor"), "network").ok).toBe(false);
  });
});
