// Runs a peer's built tests, and reads their outcomes: from Ginkgo's report, or from the text of `go test -v`.

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";

/** A specification's outcome. */
export interface Specification {
  /** The titles from the outermost group to the specification. */
  readonly title: string;
  readonly state: "passed" | "failed" | "skipped";
  /** Whether the specification called Plexus. The others are about functions of the peer alone. */
  readonly isCarried: boolean;
  /** The failed assertion's text. */
  readonly message?: string;
}

/** A program with tests, and how to start it. */
export interface TestRun {
  readonly program: string;
  /** The package's folder in the source. */
  readonly cwd: string;
  /** Beside the environment that Go needs: some suites build a program of their module, without a network. */
  readonly env: Readonly<Record<string, string>>;
}

/** The entry in a report, or the line of a log, of a specification that called Plexus. */
const mark = "called Plexus";

/** The directory of the program `go`. */
export function goDirectory(): string {
  const found = spawnSync("sh", ["-c", 'dirname "$(command -v go)"'], { encoding: "utf8" });
  return found.stdout.trim();
}

function environment(env: TestRun["env"]): NodeJS.ProcessEnv {
  const go = { GOPROXY: "off", GOFLAGS: "-mod=mod", GOTOOLCHAIN: "local", CGO_ENABLED: "0" };
  return { HOME: process.env["HOME"], PATH: `${process.env["PATH"]}:${goDirectory()}`, ...go, ...env };
}

/** Runs Ginkgo's specifications, in order. */
export async function runGinkgo({
  program,
  cwd,
  env,
  report,
}: TestRun & { readonly report: string }): Promise<readonly Specification[]> {
  const args = [`--ginkgo.json-report=${report}`, "--ginkgo.no-color", "--ginkgo.silence-skips"];
  const child = spawn(program, args, { cwd, stdio: ["ignore", "pipe", "inherit"], env: environment(env) });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout = (stdout + chunk.toString()).slice(-4000);
  });
  const [code] = await once(child, "close");
  if (!existsSync(report)) throw new Error(`${program} ended with ${String(code)} before it wrote its report:\n${stdout}`);
  const specifications = ginkgoSpecifications(JSON.parse(readFileSync(report, "utf8")));
  if (specifications.length === 0) throw new Error(`${program} ended with ${String(code)} and ran no specification:\n${stdout}`);
  return specifications;
}

interface GinkgoReport {
  readonly SpecReports: readonly {
    readonly LeafNodeType: string;
    readonly LeafNodeText: string;
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly State: string;
    readonly Failure?: { readonly Message: string };
    readonly ReportEntries?: readonly { readonly Name: string }[] | null;
  }[];
}

function ginkgoSpecifications(reports: readonly GinkgoReport[]): readonly Specification[] {
  return reports
    .flatMap(({ SpecReports }) => SpecReports)
    .filter(({ LeafNodeType }) => LeafNodeType === "It")
    .map(({ ContainerHierarchyTexts, LeafNodeText, State, Failure, ReportEntries }) => ({
      title: [...(ContainerHierarchyTexts ?? []), LeafNodeText].join(" "),
      state: State === "passed" ? "passed" : State === "skipped" || State === "pending" ? "skipped" : "failed",
      isCarried: (ReportEntries ?? []).some(({ Name }) => Name === mark),
      ...(Failure === undefined ? {} : { message: Failure.Message }),
    }));
}

/** Runs a package's test functions, in order. */
export async function runGoTests({ program, cwd, env }: TestRun): Promise<readonly Specification[]> {
  const child = spawn(program, ["-test.v"], { cwd, stdio: ["ignore", "pipe", "inherit"], env: environment(env) });
  let stdout = "";
  child.stdout.on("data", (chunk: Buffer) => {
    stdout += chunk.toString();
  });
  await once(child, "close");
  return goTests(stdout);
}

/** The outcomes in the text of `go test -v`. A test without a line of its end ended the program. */
export function goTests(text: string): readonly Specification[] {
  return text
    .split(/^=== RUN +/m)
    .slice(1)
    .map((part) => {
      const [title = ""] = part.split("\n");
      const end = /^--- (PASS|FAIL|SKIP): /m.exec(part)?.[1];
      const state = end === "PASS" ? "passed" : end === "SKIP" ? "skipped" : "failed";
      const isCarried = part.includes(mark);
      return state === "failed" ? { title, state, isCarried, message: part } : { title, state, isCarried };
    });
}
