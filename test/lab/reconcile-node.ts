// A node for tests of the reconciler: a stage, a daemon in this process, agents, and events such as a reboot. The test starts each round.

import { defaultJail } from "../../host/sandbox/launcher/jail.ts";
import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";

import { vi } from "vitest";
import { Daemon } from "../../host/programs/plexusd/daemon.ts";
import type { Finding, RoundReport } from "../../host/node/reconcile/finding.ts";
import { residentFeatures } from "../../features/list.ts";
import { filesBelow } from "./namespaces.ts";
import { type Answer, dist, type InstallationInit } from "./plexus.ts";
import { startAgent, type TestAgent } from "./agent.ts";
import { mixedInstallation } from "./mixed-network.ts";
import { type Attaching, isPermanent, type LeftFiles, openStage, type Stage } from "./stage.ts";

/** Changes a journal entry as if it had been written in an earlier boot. */
export function asOfEarlierBoot(path: string): void {
  const [plan = "", ...rest] = readFileSync(path, "utf8").split("\n");
  const earlier = { ...JSON.parse(plan), bootId: "11111111-2222-3333-4444-555555555555", begun: "2001-01-01T00:00:00.000Z" };
  writeFileSync(path, [JSON.stringify(earlier), ...rest].join("\n"));
  utimesSync(path, 978_307_200, 978_307_200);
}

/** Findings as `kind why handling`. */
export function shownFindings(findings: readonly Finding[]): readonly string[] {
  return findings.map(({ kind, why, handling }) => `${kind} ${why} ${handling}`);
}

export interface ReconcileSettings {
  readonly graceMs?: number;
  readonly dryRun?: boolean;
}

export class ReconcileNode {
  readonly stage: Stage;
  readonly warnings: string[] = [];
  #daemon: Daemon | undefined;
  readonly #agents: TestAgent[] = [];

  constructor(installation: InstallationInit = mixedInstallation) {
    this.stage = openStage(installation);
  }

  get daemon(): Daemon {
    if (this.#daemon === undefined) throw new Error("no daemon was started");
    return this.#daemon;
  }

  get socket(): string {
    return join(this.stage.plexus.directory, "plexus.sock");
  }

  get state(): string {
    return this.stage.plexus.state("cni");
  }

  /** Starts or restarts the daemon. Only `round` starts a round. */
  async start({ graceMs = 0, dryRun = false }: ReconcileSettings = {}): Promise<void> {
    await this.#daemon?.stop(10_000);
    this.#daemon = new Daemon({
      calls: { socket: this.socket, uids: [0, process.getuid?.() ?? 0] },
      queue: { active: 8, waiting: 8 },
      delegates: {
        entry: join(dist, "engine", "guest-process.cjs"),
        isolation: "process",
        jail: defaultJail(),
        warm: 1,
        most: 2,
      },
      clusters: { nodeName: undefined, kubeconfig: undefined },
      telemetry: {
        log: {
          write: (level, _, text) => void (level === "warn" && this.warnings.push(text)),
          has: () => true,
          flush: () => true,
        },
        version: "",
        stateDirectory: this.state,
        collector: undefined,
      },
      status: { socket: join(this.stage.plexus.directory, "status.sock"), uids: [0] },
      metricsListen: undefined,
      reconcile: { directories: [this.state], intervalMs: 0, graceMs, dryRun },
      residents: (await residentFeatures()).flatMap(({ read }) => read({}) ?? []),
    });
    const started = await this.#daemon.start();
    if (!started.ok) throw new Error(started.fault.msg);
    if (this.#agents.length > 0) await this.#connected(this.#agents.length);
  }

  /** Ends the daemon. `start` starts the next one. */
  async stopDaemon(): Promise<void> {
    await this.#daemon?.stop(10_000);
    this.#daemon = undefined;
  }

  /** Starts an agent. Resolves when the agent is connected. */
  async startAgent(
    env: Readonly<Record<string, string>> = {},
    command = this.stage.entrance(),
    options: readonly string[] = [],
  ): Promise<TestAgent> {
    const path = "/usr/sbin:/usr/bin:/sbin:/bin";
    const { cniPath } = this.stage.plexus;
    const agent = startAgent({
      command,
      options,
      env: { PATH: path, CNI_PATH: cniPath, PLEXUS_SOCKET: this.socket, ...env },
    });
    this.#agents.push(agent);
    await this.#connected(this.#agents.length);
    return agent;
  }

  /** Kills an agent and waits until the daemon has lost its connection. */
  async kill(agent: TestAgent): Promise<void> {
    this.#agents.splice(this.#agents.indexOf(agent), 1);
    agent.signal("SIGKILL");
    await agent.ended;
    await this.#connected(this.#agents.length);
  }

  #connected(count: number): Promise<boolean> {
    return vi.waitUntil(() => this.daemon.calls.agents.count === count, { timeout: 60_000 });
  }

  /** A call of the runtime. Without the daemon the call fails, because PLEXUS_HOME has no one-shot engine. */
  call(verb: string, { config, containerId, pod, ifname = "eth0", args }: Attaching): Promise<Answer> {
    return this.stage.request({
      verb,
      config,
      containerId,
      ifname,
      netns: typeof pod === "string" ? pod : pod.path,
      ...(args === undefined ? {} : { args }),
      env: { PLEXUS_SOCKET: this.socket, PLEXUS_HOME: "/nowhere" },
    });
  }

  async succeed(verb: string, attaching: Attaching): Promise<Answer> {
    const answer = await this.call(verb, attaching);
    if (answer.status !== 0 || answer.stderr !== "")
      throw new Error(`${verb}: ${answer.status}: ${answer.stdout}${answer.stderr}`);
    return answer;
  }

  round(): Promise<RoundReport> {
    return this.daemon.reconciler.round();
  }

  /** Runs four rounds, after which nothing changes, and answers the findings of the last round. */
  async settle(): Promise<readonly Finding[]> {
    let last: readonly Finding[] = [];
    for (let rounds = 0; rounds < 4; rounds++) ({ findings: last } = await this.round());
    return last;
  }

  /** Simulates a reboot: journal entries of these containers (default: all) are of another boot, the run directory is gone. Pods stay. */
  reboot(...containerIds: readonly string[]): void {
    for (const name of readdirSync(join(this.state, "journal"))) {
      if (containerIds.length > 0 && !containerIds.some((id) => name.startsWith(`${id}@`))) continue;
      asOfEarlierBoot(join(this.state, "journal", name));
    }
    rmSync(join(this.stage.plexus.directory, "run"), { recursive: true, force: true });
  }

  /** Remaining files, except the stored configurations. */
  left(): LeftFiles {
    const files = this.stage.files();
    return { ...files, state: files.state.filter((path) => !path.startsWith("configurations/")) };
  }

  /** Contents of all files of state and leases, except recycled files and the list of lease directories. */
  contents(): ReadonlyMap<string, string> {
    const all = [this.state, this.stage.leases].flatMap((root) => filesBelow(root).map((path) => join(root, path)));
    return new Map(
      all.filter((path) => !isPermanent(relative(this.state, path))).map((path) => [path, readFileSync(path, "latin1")]),
    );
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#agents.splice(0).map((agent) => agent.stop()));
    await this.#daemon?.stop(10_000);
    this.stage.dispose();
  }
}
