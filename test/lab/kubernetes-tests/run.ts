// Runs Kubernetes' own tests on a cluster, and reads their report.

import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { spawn } from "node:child_process";

import { z } from "zod";

import type { Cluster } from "../cluster/cluster.ts";
import { kubectlBinary } from "../kube/binaries.ts";

/** The outcome of one test. */
export interface TestOutcome {
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped";
  /** The message of a failed or skipped test. */
  readonly why: string;
}

export interface KubernetesTestsInit {
  readonly cluster: Cluster;
  /** The program e2e.test. */
  readonly program: string;
  /** The list of registries. */
  readonly registries: string;
  /** An empty directory for the report. */
  readonly directory: string;
  /** Ginkgo's expressions: the tests to run, and those of them to leave out. */
  readonly focus: string;
  readonly skip?: string;
}

const report = z.array(
  z.object({
    SpecReports: z.array(
      z.object({
        LeafNodeType: z.string(),
        ContainerHierarchyTexts: z.array(z.string()).nullable(),
        LeafNodeText: z.string(),
        State: z.string(),
        Failure: z.object({ Message: z.string() }).optional(),
      }),
    ),
  }),
);

/** Ends a run that hangs. */
const maxRunMs = 100 * 60_000;

/** Runs the tests of the focus, one after the other. The file PLEXUS_KUBERNETES_OUTPUT gets the whole output. Throws with the end of the output if there is no report. */
export async function runKubernetesTests(init: KubernetesTestsInit): Promise<readonly TestOutcome[]> {
  const { cluster, program, registries, directory, focus, skip } = init;
  mkdirSync(directory, { recursive: true });
  const path = join(directory, "report.json");
  const args = [
    `--kubeconfig=${cluster.kubeconfig}`,
    `--kubectl-path=${kubectlBinary() ?? "kubectl"}`,
    "--provider=skeleton",
    "--allowed-not-ready-nodes=0",
    "--dump-logs-on-failure=false",
    `--ginkgo.focus=${focus}`,
    ...(skip === undefined ? [] : [`--ginkgo.skip=${skip}`]),
    "--ginkgo.no-color",
    `--ginkgo.json-report=${path}`,
    `--ginkgo.timeout=${maxRunMs / 1000}s`,
  ];
  const output = await outputOf(program, args, { KUBE_TEST_REPO_LIST: registries });
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new Error(`e2e.test wrote no report:\n${output.slice(-4000)}`, { cause: error });
  }
  return outcomesIn(text);
}

/** The outcomes of a report of Ginkgo. Tests outside of the focus are left out. */
export function outcomesIn(text: string): readonly TestOutcome[] {
  const specifications = report.parse(JSON.parse(text)).flatMap(({ SpecReports: reports }) => reports);
  return specifications.flatMap(({ LeafNodeType: type, ContainerHierarchyTexts: groups, LeafNodeText: leaf, State, Failure }) => {
    if (type !== "It" && State === "passed") return [];
    const why = Failure?.Message ?? "";
    // A test outside of the focus is skipped without a message.
    if (State === "pending" || (State === "skipped" && why === "")) return [];
    const state = State === "passed" || State === "skipped" ? State : "failed";
    return [{ title: [...(groups ?? []), leaf].join(" "), state, why }];
  });
}

function outputOf(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<string> {
  return new Promise((resolve, reject) => {
    // Ends with this process.
    const child = spawn("setpriv", ["--pdeathsig", "KILL", "--", program, ...args], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: maxRunMs,
    });
    let output = "";
    const kept = process.env["PLEXUS_KUBERNETES_OUTPUT"];
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-200_000);
      if (kept !== undefined) appendFileSync(kept, chunk);
    };
    child.stdout.on("data", keep);
    child.stderr.on("data", keep);
    child.on("error", reject);
    child.on("close", () => resolve(output));
  });
}
