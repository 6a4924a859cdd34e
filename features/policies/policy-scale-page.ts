// Generates docs/reference/policy-scale.md from the counts of features/policies/policy-scale.ts and from the benchmark's figures (`npm run docs`). A test checks that the page
// is current.

import { readFileSync, writeFileSync } from "node:fs";
import { type PolicyScale, policyScales, scale } from "./policy-scale.ts";

export const policyScalePath = "docs/reference/policy-scale.md";
const figuresPath = "docs/reference/benchmark.json";
/** Bytes of kernel memory for an element, as measured for flows (features/policies/node/set-elements.ts). */
const elementBytes = 130;

interface Figure {
  readonly id: string;
  readonly median: number;
  readonly p95: number;
  readonly baseline: number;
}

const whole = (value: number): string => Math.round(value).toLocaleString("en");
const kib = (bytes: number): string => `${(bytes / 1024).toFixed(1)} KiB`;
const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;

const lines: readonly { readonly title: string; readonly text: (of: PolicyScale) => string }[] = [
  { title: "policies of one pod", text: ({ ofPod }) => whole(ofPod) },
  { title: "tables that the daemon compiles and keeps", text: ({ tables }) => whole(tables) },
  { title: "rules of one pod's table", text: ({ rulesOfPod }) => whole(rulesOfPod) },
  { title: "elements of its sets", text: ({ elementsOfPod }) => whole(elementsOfPod) },
  {
    title: "rules and elements at the node's end (`enforceAt: node`), besides",
    text: ({ rulesAtEnd, elementsAtEnd }) => `${whole(rulesAtEnd)}, ${whole(elementsAtEnd)}`,
  },
  { title: "messages of an ADD, in one batch", text: ({ add }) => `${whole(add.count)}, ${kib(add.bytes)}` },
  {
    title: `elements of all ${whole(scale.pods)} pods in the kernel`,
    text: ({ elementsOfPod }) => `${whole(scale.pods * elementsOfPod)}, some ${mib(scale.pods * elementsOfPod * elementBytes)}`,
  },
  {
    title: "slices that the daemon watches, and their size in its memory",
    text: ({ slices, sliceBytes }) => `${whole(slices)}, ${kib(sliceBytes)}`,
  },
  { title: "one peer has another address: PATCHes of the controller", text: ({ change }) => whole(change.slices) },
  { title: "pods whose elements change then", text: ({ change }) => whole(change.pods) },
  {
    title: "messages for one of these pods, in one batch",
    text: ({ change: { ofPod } }) => `${whole(ofPod.count)}, ${kib(ofPod.bytes)}`,
  },
];

/** The page. */
export function policyScalePage(): string {
  const { ofWorkloads, forAll } = policyScales();
  const rows = lines.map(({ title, text }) => `| ${title} | ${text(ofWorkloads)} | ${text(forAll)} |`);
  const figures = JSON.parse(readFileSync(figuresPath, "utf8")) as readonly Figure[];
  const change = figures.find(({ id }) => id === "policy-change");
  const time =
    change === undefined
      ? ""
      : `
From a change of a policy's peers at the API until the kernel of ${whole(scale.pods)} pods of one node has it: ${change.median.toFixed(0)} ms in the median, ${change.p95.toFixed(0)} ms in the 95th percentile; for a policy of one pod
${change.baseline.toFixed(0)} ms, of which 50 ms collect changes. The row \`policy-change\` of [Performance](performance.md) measures this, and has the machine.
`;
  return `# Policies of many pods

For: administrators of large clusters who [isolate networks](../how-to/isolate-a-network.md). One node has ${whole(scale.pods)} pods of ${scale.workloads} workloads on one network in both families, and their namespace ${scale.policies} policies.
\`features/policies/policy-scale.ts\` compiles the tables and encodes the messages by the daemon's own code, without a kernel: counts and bytes are exact, and the same on each machine. \`npm run docs\` makes
this page.

| | each policy selects one workload | each policy selects all pods |
|---|---:|---:|
${rows.join("\n")}

- Rules grow with the policies of a pod, and elements with their peers. A change of peers changes elements only, but for the first peer with an IPv6 address of a pod's policies: the
  table is then written anew in one batch. No packet meets a table without its rules.
- Pods of one workload share a compiled table in the daemon's memory. In the kernel each pod has its own, so ${scale.policies} policies that select all pods cost the node's memory most:
  select workloads.
- The kernel's memory is the elements times ${elementBytes} bytes, an upper bound: elements without a timeout take less.
- A node watches slices, not pods. One changed pod is one PATCH for each group of peers that has it.
${time}`;
}

if (import.meta.main) writeFileSync(policyScalePath, policyScalePage());
