// Generates docs/reference/comparison.md (`npm run docs`) from docs/reference/comparison.json, whose figures test/cluster/comparison.test.ts
// measures, and from deploy/plexus.yaml. A test checks that the page is current.

import { readFileSync, writeFileSync } from "node:fs";
import { type Privileges, privilegesOf } from "./manifest-privileges.ts";

/** Paths from the repository's root. */
export const comparisonPath = "docs/reference/comparison.json";
export const comparisonPagePath = "docs/reference/comparison.md";

/** Figures of one plugin, measured on a cluster. */
export interface Measured {
  /** From the command of the installation until a pod had its further network. */
  readonly installSeconds: number;
  /** Pods that came and went during the upgrade. */
  readonly pods: number;
  /** Pods among these that were not ready within a minute. */
  readonly notReady: number;
  /** Pods among these that became ready without the network that they select. */
  readonly withoutNetwork: number;
  /** Pods among these whose sandbox failed at least once (event FailedCreatePodSandBox). */
  readonly failedAttempts: number;
  readonly medianReadySeconds: number;
  readonly maxReadySeconds: number;
  /** Links and addresses that these pods left on the node. */
  readonly leftByPods: number;
  /** From the command of the removal until a pod that was created after the command's end was ready. */
  readonly workingSecondsAfterUninstall: number;
  readonly failedAttemptsAfterUninstall: number;
  /** The compressed size of the programs that the image adds to its base image. */
  readonly imageMiB: number;
}

/** The privileges of a published manifest. */
export interface Published extends Privileges {
  /** The release, and the file or command that gives the manifest. */
  readonly version: string;
  readonly source: string;
}

/** The content of comparison.json. */
export interface Comparison {
  readonly day: string;
  readonly machine: string;
  readonly measured: { readonly plexus?: Measured; readonly multus?: Measured };
  readonly published: { readonly multus: Published; readonly cilium: Published };
}

const code = (all: readonly string[]): string => (all.length === 0 ? "none" : all.map((each) => `\`${each}\``).join(", "));

function row(what: string, cells: readonly string[]): string {
  return `| ${what} | ${cells.join(" | ")} |`;
}

const notMeasured = "not measured";

/** The rights of the pods on each node. */
function privilegeRows(all: readonly Privileges[]): readonly string[] {
  return [
    row(
      "privileged containers",
      all.map((each) => code(each.privileged)),
    ),
    row(
      "capabilities of the others",
      all.map(({ privileged, capabilities }) => (capabilities.length === 0 && privileged.length > 0 ? "–" : code(capabilities))),
    ),
    row(
      "the node's namespaces",
      all.map(({ hostNamespaces }) => hostNamespaces.join(", ")),
    ),
    row(
      "the node's paths, writable",
      all.map(({ writable }) => code(writable)),
    ),
    row(
      "the node's paths, read-only",
      all.map(({ readOnly }) => code(readOnly)),
    ),
    row(
      "rights in the API that change something",
      all.map(({ changes }) => code(changes)),
    ),
    row(
      "resources that can be read",
      all.map(({ reads }) =>
        reads.length > 8
          ? `${reads.length}, with ${code(reads.filter((each) => /^(?:secrets|pods|nodes)\b/u.test(each)))}`
          : code(reads),
      ),
    ),
    row(
      "further workloads of the cluster",
      all.map(({ further }) => code(further)),
    ),
  ];
}

/** Installation, upgrade and removal. Cilium is not measured. */
function lifeRows(measured: Comparison["measured"]): readonly string[] {
  const figures = (value: (each: Measured) => string): readonly string[] =>
    [measured.plexus, measured.multus, undefined].map((each) => (each === undefined ? notMeasured : value(each)));
  return [
    row("commands to install", ["`helm install`", "`kubectl apply -f`", "`helm install`, after `helm repo add`"]),
    row(
      "from the command until a pod has a further network",
      figures(({ installSeconds }) => `${installSeconds} s`),
    ),
    row(
      "pods that came and went during the upgrade",
      figures(({ pods }) => String(pods)),
    ),
    row(
      "of these: not ready within a minute",
      figures(({ notReady }) => String(notReady)),
    ),
    row(
      "of these: ready without the network that they select",
      figures(({ withoutNetwork }) => String(withoutNetwork)),
    ),
    row(
      "of these: sandbox failed at least once",
      figures(({ failedAttempts }) => String(failedAttempts)),
    ),
    row(
      "of these: ready after, median and most",
      figures(({ medianReadySeconds, maxReadySeconds }) => `${medianReadySeconds} s, ${maxReadySeconds} s`),
    ),
    row(
      "links and addresses that these pods left",
      figures(({ leftByPods }) => String(leftByPods)),
    ),
    row(
      "from the command of the removal until a new pod is ready",
      figures((each) => `${each.workingSecondsAfterUninstall} s`),
    ),
    row(
      "sandboxes that failed meanwhile",
      figures((each) => String(each.failedAttemptsAfterUninstall)),
    ),
    row(
      "programs in the image, compressed",
      figures(({ imageMiB }) => `${imageMiB} MiB`),
    ),
  ];
}

/** The page's text. */
export function comparisonPage({ day, machine, measured, published }: Comparison, manifest: string): string {
  const privileges = privilegeRows([privilegesOf(manifest), published.multus, published.cilium]);
  const life = lifeRows(measured);
  const head = ["", "Plexus", `Multus ${published.multus.version.slice(1)}, thick`, `Cilium ${published.cilium.version}`];
  const table = (rows: readonly string[]): string => [row("", head.slice(1)), "|---|---|---|---|", ...rows].join("\n");
  return `# Plexus, Multus and Cilium

Plexus and Multus add networks to a pod that has one. Cilium is such a first network; its column shows what a cluster grants already. Plexus' chart
with default values, Multus' and Cilium's published manifests.

## Privileges

The table lists the rights of the pods on each node. Plexus' column is read from \`deploy/plexus.yaml\`, without the short-lived hooks of \`helm install\` and \`helm uninstall\`.

${table(privileges)}

- Multus: ${published.multus.source}. A privileged container has every capability and every device, and the path \`/\` is the whole node.
- Cilium: \`${published.cilium.source}\`, default values, without its operator's rights.
- Plexus executes native plugins through the container runtime, so their privileges are the runtime's. Multus' daemon executes them itself.

## Installation, upgrade, removal

Measured on ${day}, ${machine}. One cluster (one node, containerd, kubelet 1.36), first Multus, then Plexus. ${width} pods at a time come and go with one
further network while the image is replaced by another one. Multus runs with the limits of its manifest (0.1 CPU, 50 MiB).

${table(life)}

- Plexus' removal includes Helm's wait until each daemon is gone. Its hook first retires Plexus on each node: new pods start on the cluster's network meanwhile.
- The kubelet repeats a sandbox that failed, so such a pod becomes ready later.
- What Multus' pods left are addresses of the default network: thick Multus 4.3.0 forgets that network's configuration before the DEL, and
  \`host-local\` then says \`no IP ranges specified\`.
- The size is that of the programs and libraries that the image adds, with gzip; for Plexus, Node is the largest part. Multus' published image adds Debian.

### Where the seconds of Plexus go

One run each on the same machine without other work, on 2026-11-29, before the startup probe waited for readiness; the time of each phase in seconds.

| \`helm install\` until a pod is ready | 14.1 | why |
|---|---|---|
| helm makes the objects, and the node's pod is scheduled | 3.2 | 1.2 where the CustomResourceDefinition is there already |
| the container \`install\`: plugins, engine and Node are copied to the node | 2.9 | runs before the daemon, which needs them |
| the container \`components\`: the list of components, here empty | 1.1 | also removes components that are no longer listed |
| the daemon starts until its startup probe succeeds | 1.6 | the probe runs each second |
| until the pod is ready | 1.3 to 5.9 | the first readiness probe came too early, and the next one 5 s later. The startup probe now waits for the first readiness, so the kubelet's readiness probe follows at once |
| the Job that waits for all nodes sees it, and helm sees the Job's end | 3.2 | the promise that \`helm install\` ends when each node can serve. The Job now looks four times a second; the kubelet and the Job controller take a second each |
| the pod with a further network | 1.1 | |

| \`helm uninstall\` until a new pod is ready | 15.0 | why |
|---|---|---|
| helm makes the hook's pods | 2.0 | |
| the container \`retire\` | 6.3 | the promise that no pod keeps a network without its DEL: 5 s without a pod and without a call, because a runtime may just begin an ADD with the former configuration |
| the container \`remove\`: files of Plexus | 2.1 | |
| the Job sees all nodes done, and helm sees the Job's end | 2.8 | as above |
| helm deletes the objects | 0.5 | |
| a new pod | 1.3 | |

After that change, on 2026-11-30 beside other work (a load of 8 to 12 on two processors), the installation took 16.5 s and the removal 12.1 s; Multus took 4.3 and 1.6 s a minute before. The load
hides what the probe saves.

\`PLEXUS_COMPARISON=print npm run test:cluster -- test/cluster/comparison.test.ts\` measures again; with \`PLEXUS_COMPARISON=write\` it also writes
[comparison.json](comparison.json), from which \`npm run docs\` makes this page.
\`node scripts/manifest-privileges.ts FILE\` prints the privileges of any manifest.
`;
}

/** Pods at once in the measurement. */
const width = 5;

if (import.meta.main) {
  const comparison: Comparison = JSON.parse(readFileSync(comparisonPath, "utf8"));
  writeFileSync(comparisonPagePath, comparisonPage(comparison, readFileSync("deploy/plexus.yaml", "utf8")));
}
