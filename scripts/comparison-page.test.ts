import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { type Comparison, comparisonPage, comparisonPagePath, comparisonPath } from "./comparison-page.ts";
import { privilegesOf } from "./manifest-privileges.ts";

const manifest = readFileSync("deploy/plexus.yaml", "utf8");
const comparison: Comparison = JSON.parse(readFileSync(comparisonPath, "utf8"));

test("the comparison page is generated from the committed figures and manifests (npm run docs)", () => {
  expect(existsSync(comparisonPagePath) && readFileSync(comparisonPagePath, "utf8")).toBe(comparisonPage(comparison, manifest));
});

test("Plexus has fewer privileges than Multus, and its manifest asks for no privileged container", () => {
  const plexus = privilegesOf(manifest);
  expect(plexus).toMatchObject({ privileged: [], capabilities: ["NET_ADMIN", "SETGID", "SETUID"], hostNamespaces: ["network"] });
  expect(plexus.writable.length).toBeLessThan(comparison.published.multus.writable.length);
  expect(plexus.changes.length).toBeLessThan(comparison.published.multus.changes.length);
});

test("privileges of roles count only where they are bound to an account of a DaemonSet", () => {
  const text = `
kind: DaemonSet
metadata: { name: a }
spec:
  template:
    spec:
      hostPID: true
      serviceAccountName: a
      initContainers: [{ name: i, securityContext: { privileged: true }, volumeMounts: [{ name: v, readOnly: true }] }]
      containers: [{ name: c, securityContext: { capabilities: { add: [KILL] } }, volumeMounts: [{ name: w }, { name: v, readOnly: true }] }]
      volumes: [{ name: v, hostPath: { path: /v } }, { name: w, hostPath: { path: /w } }, { name: u, hostPath: { path: /u } }]
---
kind: ClusterRole
metadata: { name: a }
rules: [{ apiGroups: ["", g], resources: [x], verbs: [get, patch] }, { apiGroups: [""], resources: [x], verbs: [create] }]
---
kind: ClusterRole
metadata: { name: b }
rules: [{ apiGroups: [""], resources: [y], verbs: [delete] }]
---
kind: ClusterRoleBinding
metadata: { name: a }
roleRef: { kind: ClusterRole, name: a }
subjects: [{ kind: ServiceAccount, name: a }]
---
kind: Deployment
metadata: { name: o }
`;
  expect(privilegesOf(text)).toEqual({
    privileged: ["i"],
    capabilities: ["KILL"],
    hostNamespaces: ["PID"],
    writable: ["/w"],
    readOnly: ["/v"],
    changes: ["create, patch x", "patch x.g"],
    reads: ["x", "x.g"],
    further: ["Deployment o"],
  });
});
