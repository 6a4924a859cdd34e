// `npm run demo` in namespaces of its own, as scripts/run.sh starts it.

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { missing, privateNamespaces, referencePlugins } from "../lab/requires.ts";
import { type Report, showReport, succeeded } from "../../scripts/demo/report.ts";

interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the demo with its own /run, where a daemon has its default socket, and with its own links. `before` is a shell command. */
function runDemo(args: readonly string[], before = "true"): Promise<Finished> {
  const script = `set -e; ${before}; exec sh scripts/private.sh demo "$@"`;
  const command = ["--net", "--mount", "--propagation", "private", "--", "sh", "-c", script, "sh", ...args];
  return new Promise((resolve) => {
    execFile("unshare", command, { cwd: root, maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
      resolve({ status: error === null ? 0 : Number(error.code ?? 255), stdout, stderr });
    });
  });
}

/** The beginnings of a picture's lines. Numbers, and spaces that depend on their width, are replaced. */
function withoutNumbers(svg: string): readonly string[] {
  return [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, line = ""]) =>
    line
      .replaceAll(/[0-9a-f]*\d[0-9a-f.:/]*/g, "#")
      .replaceAll(/ +/g, " ")
      .slice(0, 50),
  );
}

describe.skipIf(missing("the demo", privateNamespaces, referencePlugins("bridge", "ptp", "tuning")))("the demo", () => {
  let finished: Finished;
  let reports: readonly Report[];
  const directory = mkdtempSync(join(tmpdir(), "plexus-demo-"));
  const picture = join(directory, "demo.svg");
  beforeAll(async () => {
    finished = await runDemo(["--json", "--picture", picture]);
    reports = JSON.parse(finished.stdout) as readonly Report[];
  }, 600_000);
  afterAll(() => rmSync(directory, { recursive: true }));

  const report = (index: number): Report => {
    const found = reports[index];
    if (found === undefined) throw new Error(`no report ${index}: ${finished.stdout}${finished.stderr}`);
    return found;
  };

  test("both runs succeed", () => {
    expect(finished).toMatchObject({ status: 0, stderr: "" });
    expect(reports.map(({ faults }) => faults)).toEqual([[], []]);
    expect(reports.map(succeeded)).toEqual([true, true]);
  });

  test("all calls but one are served by the daemon", () => {
    // 21 ADDs and DELs of one pod, the DEL of the call without a daemon, then ADD, CHECK and DEL of two pods.
    const calls = 2 * 21 + 1 + 3 * 2;
    expect(reports.map(({ daemonCalls }) => daemonCalls)).toEqual([
      { sent: calls, served: calls },
      { sent: calls, served: calls },
    ]);
    expect(report(1).executed).toMatchObject({
      calls: { plexus: calls, node: 0, sandboxes: 0 },
      callWithoutDaemon: { plexus: 1 },
    });
  });

  test("the call without a daemon starts an engine and a sandbox process for each component", () => {
    const counts = report(1).executed?.callWithoutDaemon;
    // Four components of the default network, and three of the namespace's definitions.
    expect(counts).toMatchObject({ sandboxes: 7, node: 8 });
  });

  test("the steps are those of the two pods, native and WASM", () => {
    const verbs = reports.map(({ steps }) => [...new Set(steps.map(({ verb, kind }) => `${verb} ${kind}`))].toSorted());
    expect(verbs).toEqual([
      ["ADD native", "ADD wasm", "CHECK native", "CHECK wasm", "DEL native", "DEL wasm"],
      ["ADD wasm", "CHECK wasm", "DEL wasm"],
    ]);
    expect(new Set(report(0).steps.map(({ containerId }) => containerId))).toEqual(new Set(["demo-web", "demo-database"]));
  });

  test("the text has the daemon's first call, its warm calls, and the call without a daemon", () => {
    const { addTimes } = report(0);
    const text = showReport({
      ...report(0),
      addTimes: { ...addTimes, warmMs: [20, 40, 21], firstMs: 123, withoutDaemonMs: 456 },
    });
    expect(text).toMatch(/through plexusd, warm +21 ms/);
    expect(text).toMatch(/through plexusd, first +123 ms/);
    expect(text).toMatch(/without a daemon +456 ms .*an engine and its sandbox processes start for this one call/);
  });

  test("docs/pictures/demo.svg has the lines that the demo prints, with other numbers", () => {
    const committed = join(root, "docs", "pictures", "demo.svg");
    const [ofThisRun, shown] = [picture, committed].map((path) => withoutNumbers(readFileSync(path, "utf8")));
    expect(shown).toEqual(ofThisRun);
  });

  test.each<[string, (good: Report) => Partial<Report>]>([
    ["a call that another engine served", ({ daemonCalls: { sent } }) => ({ daemonCalls: { sent, served: sent - 1 } })],
    ["a call that the daemon should not have got", ({ daemonCalls: { sent } }) => ({ daemonCalls: { sent, served: sent + 1 } })],
    ["no calls", () => ({ daemonCalls: { sent: 0, served: 0 } })],
    ["a failed call", () => ({ faults: ["ADD web"] })],
    ["a ping without answer", ({ pings }) => ({ pings: pings.map((ping) => ({ ...ping, answered: false })) })],
    ["no ping", () => ({ pings: [] })],
    ["a lease that is left", ({ left }) => ({ left: { ...left, leases: ["pods/10.10.0.2"] } })],
    ["a socket that is left", ({ left }) => ({ left: { ...left, daemonSockets: ["/run/plexus/plexus.sock"] } })],
    ["another program", ({ executed }) => (executed === undefined ? {} : { executed: { ...executed, others: ["/bin/sh"] } })],
    ["a native step", ({ executed }) => (executed === undefined ? {} : { executed: { ...executed, nativeSteps: 1 } })],
  ])("%s is a failure", (_, change) => {
    const changed = { ...report(1), ...change(report(1)) };
    expect(succeeded(changed)).toBe(false);
    expect(showReport(changed)).toContain("Something failed");
  });

  test("the demo ends with status 1 if its calls fail", async () => {
    // The native bridge refuses a link of that name that is no bridge.
    const failed = await runDemo(["--mixed"], "ip link add plexus0 type veth peer name peer0");
    expect(failed.status).toBe(1);
    expect(failed.stdout).toMatch(/ADD web \(daemon\): .*already exists but is not a bridge/);
    expect(failed.stdout).toContain("Something failed");
  });
});
