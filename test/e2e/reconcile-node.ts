// A node whose daemon reconciles: a stage, a daemon in this process whose rounds the test asks for, resident hands, and what may
// befall such a node.

import { readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

import { vi } from "vitest";
import { Daemon } from "../../host/daemon/daemon.ts";
import { isSpare } from "../../host/files/spares.ts";
import type { Finding, RoundReport } from "../../host/reconcile/finding.ts";
import { filesBelow } from "../harness/namespaces.ts";
import { type Answer, dist } from "../harness/plexus.ts";
import { startResidentHands, type TestResidentHands } from "../harness/resident-hands.ts";
import { mixedInstallation } from "./mixed-network.ts";
import { type Attaching, type LeftFiles, openStage, type Stage } from "./stage.ts";

/** Makes a journal entry one that was written before this boot. */
export function asOfEarlierBoot(path: string): void {
  const [plan = "", ...rest] = readFileSync(path, "utf8").split("\n");
  const earlier = { ...JSON.parse(plan), bootId: "11111111-2222-3333-4444-555555555555", begun: "2001-01-01T00:00:00.000Z" };
  writeFileSync(path, [JSON.stringify(earlier), ...rest].join("\n"));
  utimesSync(path, 978_307_200, 978_307_200);
}

export interface Terms {
  readonly graceMs?: number;
  readonly dryRun?: boolean;
}

export class ReconcileNode {
  readonly stage: Stage;
  readonly warnings: string[] = [];
  #daemon: Daemon | undefined;
  readonly #hands: TestResidentHands[] = [];

  constructor() {
    this.stage = openStage(mixedInstallation);
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

  /** Starts the daemon, anew where there is one. No round begins by itself. */
  async start({ graceMs = 0, dryRun = false }: Terms = {}): Promise<void> {
    await this.#daemon?.stop(10_000);
    this.#daemon = new Daemon({
      server: { socket: this.socket, active: 8, waiting: 8, uids: [0, process.getuid?.() ?? 0], requestMs: 10_000 },
      delegates: { entry: join(dist, "brain", "guest-process.cjs"), warm: 1, most: 2 },
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
      endpoint: { socket: join(this.stage.plexus.directory, "status.sock"), uids: [0], address: undefined },
      reconcile: { directories: [this.state], intervalMs: 0, graceMs, dryRun },
    });
    const started = await this.#daemon.start();
    if (!started.ok) throw new Error(started.fault.msg);
    if (this.#hands.length > 0) await this.#connected(this.#hands.length);
  }

  /** Starts resident hands; resolves when the daemon has them. */
  async hands(env: Readonly<Record<string, string>> = {}, command = this.stage.entrance()): Promise<TestResidentHands> {
    const path = "/usr/sbin:/usr/bin:/sbin:/bin";
    const hands = startResidentHands({
      command,
      env: { PATH: path, CNI_PATH: this.stage.plexus.cniPath, PLEXUS_SOCKET: this.socket, ...env },
    });
    this.#hands.push(hands);
    await this.#connected(this.#hands.length);
    return hands;
  }

  /** SIGKILL for resident hands. */
  async kill(hands: TestResidentHands): Promise<void> {
    this.#hands.splice(this.#hands.indexOf(hands), 1);
    hands.signal("SIGKILL");
    await hands.ended;
    await this.#connected(this.#hands.length);
  }

  #connected(count: number): Promise<boolean> {
    return vi.waitUntil(() => this.daemon.residentHands.count === count, { timeout: 20_000 });
  }

  /** A call of the runtime, served by the daemon and nobody else. */
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

  /** Rounds until nothing changes any more; answers the last one's findings. */
  async settle(): Promise<readonly Finding[]> {
    let last: readonly Finding[] = [];
    for (let rounds = 0; rounds < 4; rounds++) ({ findings: last } = await this.round());
    return last;
  }

  /** As if the machine had been started anew since: their journal is of another boot, /run is empty. Pods are the test's matter. */
  reboot(...containerIds: readonly string[]): void {
    for (const name of readdirSync(join(this.state, "journal"))) {
      if (containerIds.length > 0 && !containerIds.some((id) => name.startsWith(`${id}@`))) continue;
      asOfEarlierBoot(join(this.state, "journal", name));
    }
    rmSync(join(this.stage.plexus.directory, "run"), { recursive: true, force: true });
  }

  /** What is left, but for the configurations that are kept. */
  left(): LeftFiles {
    const files = this.stage.files();
    return { ...files, state: files.state.filter((path) => !path.startsWith("configurations/")) };
  }

  /** Every file of state and leases with its content, but for spare files. */
  contents(): ReadonlyMap<string, string> {
    const all = [this.state, this.stage.leases].flatMap((root) => filesBelow(root).map((path) => join(root, path)));
    return new Map(all.filter((path) => !isSpare(basename(path))).map((path) => [path, readFileSync(path, "latin1")]));
  }

  async dispose(): Promise<void> {
    await Promise.all(this.#hands.splice(0).map((hands) => hands.stop()));
    await this.#daemon?.stop(10_000);
    this.stage.dispose();
  }
}
