// Runs delegates for a daemon's calls: components are admitted once, and sandbox processes are started before the first call.

import type { DelegatesOfCall } from "../../engine/node.ts";
import type { DelegateRunner } from "../../capabilities/delegate-runner.ts";
import { delegateRunner } from "../../engine/steps/delegate-step.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { runAsync } from "../../capabilities/leases/effect.ts";
import { LeaseMemory } from "../../capabilities/leases/lease-memory.ts";
import { LeaseRecords } from "../../capabilities/dhcp/lease-records.ts";
import { takenAddressesIn } from "../../capabilities/leases/taken-addresses.ts";
import type { PoolSource } from "../../capabilities/leases/pool-source.ts";
import { ComponentNames } from "../../sandbox/component-names.ts";
import { ComponentDemands } from "../../sandbox/provenance/component-demands.ts";
import { RefusingRunner } from "../../sandbox/refusing-runner.ts";
import type { GuestRunner } from "../../sandbox/runner.ts";
import { artifactLimits, defaultLimits, limitsOf } from "../../sandbox/limits.ts";
import { containerMemoryBytes } from "../../sandbox/launcher/container-memory.ts";
import type { Jail } from "../../sandbox/launcher/jail.ts";
import type { SandboxIsolation } from "../../telemetry/sandbox-isolation.ts";
import { memoryBounds } from "../../sandbox/process/memory-bounds.ts";
import { AdmittedComponents } from "../../sandbox/process/admitted-components.ts";
import { ProcessMemory } from "../../sandbox/process/process-memory.ts";
import type { PoolCounts } from "../../sandbox/process/pool-settings.ts";
import { ProcessPool } from "../../sandbox/process/pool.ts";
import { SandboxAdmission } from "../../sandbox/process/sandbox-admission.ts";
import type { Clock } from "../../system/clock.ts";
import { ComponentCopies } from "./component-copies.ts";

/** The program of the daemon's sandbox processes, and their jail. */
export interface SandboxPlace {
  /** Path of the sandbox process' program, without symbolic links. */
  readonly entry: string;
  readonly jail: Jail;
}

/** The settings of the daemon's sandbox processes. */
export interface SandboxSettings extends SandboxPlace {
  /** Sandbox processes without a component that are kept ready, for guests with the default memory. */
  readonly warm: number;
  /** Maximum sandbox processes with calls, for guests with the default memory. */
  readonly most: number;
  /** `strict`: every call gets its own process. */
  readonly isolation: "process" | "strict";
  /** Directory for copies of used components, which the next daemon prepares in advance. Undefined: no copies are kept. */
  readonly copies?: string;
  /** Directory for records of admitted components. Undefined: an admission's time limit holds for components that were admitted before, too. */
  readonly admitted?: string;
}

/** Maximum components whose processes are started before the first call. */
const maxReady = 4;

/** The delegates of one daemon. */
export class DaemonDelegates {
  readonly #settings: SandboxSettings;
  readonly #clock: Clock;
  readonly #admission: SandboxAdmission;
  readonly #names: ComponentNames;
  readonly #demands = new ComponentDemands();
  readonly #copies: ComponentCopies | undefined;
  readonly #leaseMemory = new LeaseMemory();
  /** Watches the processes of all pools. */
  readonly #memory = new ProcessMemory(memoryBounds(containerMemoryBytes()));
  /** A pool for each size of guest memory, in pages. */
  readonly #pools = new Map<number, ProcessPool>();

  constructor(settings: SandboxSettings, clock: Clock) {
    this.#settings = settings;
    this.#clock = clock;
    this.#names = new ComponentNames(clock);
    const admitted = settings.admitted === undefined ? undefined : new AdmittedComponents(settings.admitted);
    this.#admission = new SandboxAdmission(({ memoryPages }) => this.#pool(memoryPages), admitted);
    this.#pool(defaultLimits.memoryPages);
    const { copies } = settings;
    this.#copies = copies === undefined ? undefined : new ComponentCopies(copies, artifactLimits.componentBytes, clock);
  }

  /**
   * Admits the components that calls of the previous daemon used, the most recently used ones, each in the process that will run it. Refusals
   * are ignored here: the call that needs the component reports them.
   */
  start(): void {
    void this.#copies?.load(maxReady, async (bytes, name) => void (await this.#admission.examine(bytes, defaultLimits, name)));
  }

  /** Tries again to start sandbox processes, after all starts have failed. */
  warmUp(): void {
    this.#pool(defaultLimits.memoryPages).warmUp();
  }

  /** Makes the runner of one call's delegates. `pools` opens the pools of the call's cluster. */
  open(
    { shim, wasm, takeLock, log, configuration }: DelegatesOfCall,
    pools: (() => Promise<PoolSource>) | undefined,
  ): DelegateRunner {
    const cniDir = configuration?.cniDir;
    return delegateRunner({
      wasm,
      admission: this.#admission,
      componentNames: {
        known: (file) => this.#names.known(file),
        learn: (file, bytes) => {
          const name = this.#names.learn(file, bytes);
          void this.#copies?.keep(name, bytes);
          return name;
        },
      },
      demands: this.#demands,
      runner: this.#runner(wasm),
      shim,
      clock: this.#clock,
      runLeaseOperation: (operation) => runAsync(operation, takeLock),
      leaseMemory: this.#leaseMemory,
      pools,
      taken: cniDir === undefined ? undefined : takenAddressesIn(cniDir, this.#clock.date),
      dhcp: cniDir === undefined ? undefined : { records: new LeaseRecords(cniDir), isRenewed: true },
      log: (type, level, message) => log(`${type}: ${level}: ${message}\n`),
    });
  }

  /** Level and uids are chosen before the first call, so a call that asks for more than this daemon has is refused. */
  #runner({ isolation, limits }: WasmConfiguration): GuestRunner {
    return isolation === "strict" && this.#settings.isolation !== "strict"
      ? new RefusingRunner("may not run: wasm.isolation is strict, but plexusd runs without --isolation strict")
      : this.#pool(limitsOf(limits).memoryPages);
  }

  /** The sums over all pools. */
  get counts(): PoolCounts {
    const sum = (of: keyof PoolCounts): number => [...this.#pools.values()].reduce((total, { counts }) => total + counts[of], 0);
    return {
      idle: sum("idle"),
      busy: sum("busy"),
      starting: sum("starting"),
      waiting: sum("waiting"),
      started: sum("started"),
      ended: sum("ended"),
    };
  }

  /** The isolation of the processes for guests with the default memory. */
  get isolation(): SandboxIsolation {
    const { controls, startProblem } = this.#pool(defaultLimits.memoryPages);
    return { level: this.#settings.isolation, controls, problem: startProblem };
  }

  async close(): Promise<void> {
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  /** The pool for guests of this memory. Sizes up to the default share one pool, because V8 limits its processes to the default. */
  #pool(pages: number): ProcessPool {
    const memoryPages = Math.max(pages, defaultLimits.memoryPages);
    let pool = this.#pools.get(memoryPages);
    if (pool === undefined) {
      const { entry, warm, most, jail, isolation } = this.#settings;
      const isDefault = memoryPages === defaultLimits.memoryPages;
      const processes = { warm: isDefault ? warm : 1, maxProcesses: isDefault ? most : 2 };
      pool = new ProcessPool({
        entry,
        memoryPages,
        jail,
        memory: this.#memory,
        processPerCall: isolation === "strict",
        ...processes,
      });
      this.#pools.set(memoryPages, pool);
    }
    return pool;
  }
}
