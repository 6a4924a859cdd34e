// The record of Kubernetes' own tests, from which scripts/kubernetes-conformance-page.ts makes the page. PLEXUS_KUBERNETES_RECORD=1 writes it.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import {
  type KubernetesConformance,
  kubernetesConformancePath,
  readKubernetesConformance,
} from "../../../scripts/kubernetes-conformance-page.ts";
import { root } from "../compiled.ts";
import { kubernetesTests } from "./programs.ts";
import type { TestOutcome } from "./run.ts";

const maxReason = 200;

/** Puts the outcomes of one run into the record, if a record was asked for. */
export function recordOutcomes(run: "native" | "components", outcomes: readonly TestOutcome[]): void {
  if (process.env["PLEXUS_KUBERNETES_RECORD"] !== "1") return;
  const path = join(root, kubernetesConformancePath);
  const record = readKubernetesConformance(readFileSync(path, "utf8"));
  const tests = outcomes.map(({ title, state, why }) => ({ title, state, why: why.split("\n")[0]?.slice(0, maxReason) ?? "" }));
  const day = new Date().toISOString().slice(0, 10);
  const written: KubernetesConformance = {
    ...record,
    release: kubernetesTests.version,
    runs: { ...record.runs, [run]: { day, tests } },
  };
  writeFileSync(path, `${JSON.stringify(written, undefined, 2)}\n`);
}
