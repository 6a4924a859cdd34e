// A machine of the test of random orders: a node with a daemon whose clocks a test moves, and whose way to the API server a test breaks.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ApiServer } from "../lab/kube/api-server.ts";
import { type FaultProxy, startFaultProxy } from "../lab/kube/fault-proxy.ts";
import { root } from "../lab/compiled.ts";
import { setClocks } from "../lab/set-clocks.ts";
import { openPoolNode, type PoolNode } from "./pool-node.ts";

/** How a machine is partitioned from the API server. `answers`: requests arrive, and their answers are lost. `late`: requests arrive late. */
export const partitions = ["requests", "answers", "late"] as const;
export type Partition = (typeof partitions)[number];

/** Milliseconds by which late requests are late. */
const lateMs = 200;

/** A machine. */
export class PoolMachine {
  readonly node: PoolNode;
  readonly #proxy: FaultProxy;
  readonly #directory: string;
  #monotonicMs = 0;
  #wallMs = 0;
  /** Whether the processes are stopped. */
  isStopped = false;
  /** Whether the clocks stand still besides, until the machine goes on: the hypervisor has stopped it. */
  #isFrozen = false;

  private constructor(node: PoolNode, proxy: FaultProxy, directory: string) {
    this.node = node;
    this.#proxy = proxy;
    this.#directory = directory;
  }

  static async open(name: string, api: ApiServer): Promise<PoolMachine> {
    const directory = mkdtempSync(join(tmpdir(), "plexus-machine-"));
    setClocks(clocksIn(directory), 0, 0);
    const proxy = await startFaultProxy(api);
    const node = await openPoolNode(name, await proxy.kubeconfig(), {
      sandboxes: 1,
      nodeArgs: ["--import", join(root, "test", "lab", "moved-clocks.ts")],
      env: { CLOCKS: clocksIn(directory) },
    });
    return new PoolMachine(node, proxy, directory);
  }

  partition(kind: Partition | undefined): void {
    this.#proxy.script(() => {
      if (kind === "requests") return { reset: true };
      if (kind === "answers") return { lose: () => Promise.resolve() };
      return kind === "late" ? { delayMs: lateMs } : undefined;
    });
    if (kind !== undefined) this.#proxy.cut();
  }

  /** Time passes. A frozen machine's wall clock has the time when the machine goes on, and its monotonic clock never has it. */
  pass(ms: number): void {
    if (!this.#isFrozen) this.#monotonicMs += ms;
    this.#wallMs += ms;
    this.#write();
  }

  /** The wall clock is set, or the monotonic clock jumps ahead as after a pause of all processes. */
  jump(clock: "wall" | "monotonic", ms: number): void {
    if (clock === "wall") this.#wallMs += ms;
    else this.#monotonicMs += Math.abs(ms);
    this.#write();
  }

  stop(isFrozen: boolean): void {
    this.node.daemon()?.signal("SIGSTOP");
    this.isStopped = true;
    this.#isFrozen = isFrozen;
  }

  goOn(): void {
    this.node.daemon()?.signal("SIGCONT");
    this.isStopped = false;
    this.#isFrozen = false;
  }

  /** Kills the daemon and starts it. */
  async restart(): Promise<void> {
    await this.node.kill();
    this.isStopped = false;
    this.#isFrozen = false;
    await this.node.start();
  }

  async dispose(): Promise<void> {
    this.goOn();
    await this.node.dispose();
    await this.#proxy.dispose();
    rmSync(this.#directory, { recursive: true });
  }

  #write(): void {
    setClocks(clocksIn(this.#directory), this.#monotonicMs, this.#wallMs);
  }
}

function clocksIn(directory: string): string {
  return join(directory, "clocks");
}
