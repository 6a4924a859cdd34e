// Generates docs/reference/kubernetes-conformance.md from the committed record (`npm run docs`). A test checks that the page is current.

import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";

/** Paths from the repository's root. */
export const kubernetesConformancePath = "docs/reference/kubernetes-conformance.json";
export const kubernetesConformancePagePath = "docs/reference/kubernetes-conformance.md";

const outcome = z.strictObject({ title: z.string(), state: z.enum(["passed", "failed", "skipped"]), why: z.string() });
const run = z.strictObject({ day: z.string(), tests: z.array(outcome).readonly() });

const conformance = z.strictObject({
  /** The release of k8s.io/kubernetes. */
  release: z.string(),
  runs: z.strictObject({ native: run.optional(), components: run.optional() }),
});

/** The content of the committed record. */
export type KubernetesConformance = z.infer<typeof conformance>;

/** Reads the record. */
export function readKubernetesConformance(text: string): KubernetesConformance {
  return conformance.parse(JSON.parse(text));
}

type Run = z.infer<typeof run>;

const states = ["passed", "skipped", "failed"] as const;

/** The outcome of one test in a run. */
function cell(of: Run | undefined, title: string): string {
  const found = of?.tests.find((each) => each.title === title);
  if (found === undefined) return "–";
  return found.state === "passed" ? "passed" : `${found.state}: ${found.why.replaceAll("|", "\\|")}`;
}

function counts(of: Run | undefined): string {
  if (of === undefined) return "not run";
  return `${states.map((state) => `${of.tests.filter((each) => each.state === state).length} ${state}`).join(", ")} (${of.day})`;
}

/** The page's text. */
export function kubernetesConformancePage({ release, runs }: KubernetesConformance): string {
  const titles = [...new Set([...(runs.native?.tests ?? []), ...(runs.components?.tests ?? [])].map(({ title }) => title))];
  const rows = titles
    .toSorted()
    .map((title) => `| ${title.replaceAll("|", "\\|")} | ${cell(runs.native, title)} | ${cell(runs.components, title)} |`);
  return `# Kubernetes' own network tests

For: administrators who ask whether a cluster without native plugins is a conforming one. The tests of \`[sig-network]\` with the mark \`[Conformance]\` of
Kubernetes ${release} run on a cluster of two nodes with a real kubelet, containerd, kube-proxy in iptables mode, and CoreDNS: once with the native plugins \`bridge\`, \`host-local\`,
\`portmap\`, \`bandwidth\` and \`firewall\`, once with the chart's \`nativePlugins: none\`, where each step is a component and no native plugin lies in the node's directory of plugins.

\`\`\`sh
node test/lab/kubernetes-tests/get.ts              # builds e2e.test and agnhost from their module, once
PLEXUS_KUBERNETES_RECORD=1 npm run test:cluster -- test/cluster/kubernetes
\`\`\`

| | outcome |
|---|---|
| native plugins | ${counts(runs.native)} |
| Plexus with components alone | ${counts(runs.components)} |

${rows.length === 0 ? "No run is recorded yet." : ["| test | native plugins | components |", "|---|---|---|", ...rows].join("\n")}
`;
}

if (import.meta.main) {
  const record = readKubernetesConformance(readFileSync(kubernetesConformancePath, "utf8"));
  writeFileSync(kubernetesConformancePagePath, kubernetesConformancePage(record));
}
