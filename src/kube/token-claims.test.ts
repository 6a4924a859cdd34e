import { expect, test } from "vitest";
import { readTokenClaims } from "./token-claims.ts";

const token = (payload: unknown): string =>
  `e30.${btoa(JSON.stringify(payload)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}.sig`;

test("a pod's token names its namespace and service account", () => {
  const claims = {
    "kubernetes.io": { namespace: "plexus-system", serviceaccount: { name: "plexus", uid: "u" }, node: { name: "n" } },
  };
  expect(readTokenClaims(token(claims))).toEqual({ namespace: "plexus-system", serviceAccount: "plexus" });
});

test.each([
  ["", "no token"],
  ["a.b.c", "no JSON"],
  [token("text"), "no object"],
  [token({ sub: "system:serviceaccount:a:b" }), "no claims of Kubernetes"],
  [token({ "kubernetes.io": { namespace: "a" } }), "no account"],
  [token({ "kubernetes.io": { namespace: 1, serviceaccount: { name: "b" } } }), "a namespace that is no text"],
])("%j has no claims: %s", (text) => {
  expect(readTokenClaims(text)).toBeUndefined();
});
