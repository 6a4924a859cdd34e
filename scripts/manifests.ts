// `npm run manifests`: writes the chart's copy of the definition of NetworkAttachmentDefinitions, and deploy/plexus.yaml, the chart rendered for
// `kubectl apply`. Needs helm: HELM names it, or it is on PATH.

import { execFileSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

const root = resolve(import.meta.dirname, "..");
const chart = join(root, "deploy", "helm", "plexus");

/** Paths of the derived files. */
export const derived = {
  definition: join(chart, "crds", "network-attachment-definitions.yaml"),
  manifest: join(root, "deploy", "plexus.yaml"),
} as const;

/** Source file of the chart's CustomResourceDefinition. */
export const definitionSource = join(root, "deploy", "crd.yaml");

const head = `# Plexus for \`kubectl apply --server-side -f\`: the chart in deploy/helm/plexus with its default values, in the namespace kube-system.
# \`npm run manifests\` writes this file. For other values use the chart, or kustomize with deploy/kustomization.yaml.
`;

/** The text of deploy/plexus.yaml. Hooks are left out: kubectl would run them at once. */
export function renderManifest(helm: string): string {
  const args = [
    "template",
    "plexus",
    chart,
    "--namespace",
    "kube-system",
    "--include-crds",
    "--no-hooks",
    "--kube-version",
    "1.36.0",
  ];
  const text = execFileSync(helm, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"], maxBuffer: 16 << 20 });
  // No release manages the objects.
  return `${head}${text.replaceAll("app.kubernetes.io/managed-by: Helm", "app.kubernetes.io/managed-by: kubectl")}`;
}

if (import.meta.main) {
  copyFileSync(definitionSource, derived.definition);
  writeFileSync(derived.manifest, renderManifest(process.env["HELM"] ?? "helm"));
}
