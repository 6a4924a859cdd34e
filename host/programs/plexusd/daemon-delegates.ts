// Delegates in a resident brain: admitted once, run in sandbox processes that are warm before the first call.

import { admitDelegate, type DelegateHost, runDelegateStep } from "../brain/delegate-step.ts";
import type { DelegateRunner } from "../brain/step-runner.ts";
import type { HostConfiguration } from "../../src/configuration/host-configuration.ts";
import { fault } from "../../src/fault/fault.ts";
import { failed, ok } from "../../src/fault/result.ts";
import type { Hands } from "../hands/hands.ts";
import { runAsync } from "../leases/effect.ts";
import { LeaseMemory } from "../leases/lease-memory.ts";
import type { TakeLock } from "../brain/answer.ts";
import { Admission } from "../sandbox/admission/admit.ts";
import { ComponentNames, nameOf } from "../sandbox/component-names.ts";
import { defaultLimits, limitsOf } from "../sandbox/limits.ts";
import { type PoolCounts, ProcessPool } from "../sandbox/process/pool.ts";
import { ComponentCopies } from "./component-copies.ts";
import { ReadyComponents } from "./ready-components.ts";

export interface ResidentDelegatesInit {
  /** The program of a sandbox process, by its true path. */
  readonly entry: string;
  /** Sandbox processes kept warm, and at most, for guests with the default memory. */
  readonly warm: number;
  readonly most: number;
  /** A directory for copies of the components that were used, for the next run; none are kept if it is undefined. */
  readonly copies?: string;
}

/** What a call brings along for its delegates. */
export interface CallOfDelegates {
  readonly hands: Hands;
  readonly takeLock: TakeLock;
  /** Takes whole lines. */
  readonly log: (line: string) => void;
}

export class ResidentDelegates {
  readonly #init: ResidentDelegatesInit;
  readonly #admission = new Admission();
  readonly #names = new ComponentNames();
  readonly #ready: ReadyComponents;
  readonly #copies: ComponentCopies | undefined;
  readonly #leaseMemory = new LeaseMemory();
  /** By the pages of memory that their processes may give a guest. */
  readonly #pools = new Map<number, ProcessPool>();

  constructor(init: ResidentDelegatesInit) {
    this.#init = init;
    this.#pool(defaultLimits.memoryPages);
    this.#ready = new ReadyComponents({
      largest: defaultLimits.componentBytes,
      take: (bytes) => this.#prepare(bytes, nameOf(bytes)),
    });
    this.#copies = init.copies === undefined ? undefined : new ComponentCopies(init.copies, defaultLimits.componentBytes);
  }

  /** Readies the components of the last run. */
  start(): void {
    this.#ready.start();
    void this.#copies?.load((bytes, name) => this.#prepare(bytes, name));
  }

  /** Starts sandbox processes again where none could be started. */
  warmUp(): void {
    this.#pool(defaultLimits.memoryPages).warmUp();
  }

  /** Runs delegates for one call. */
  open({ hands, takeLock, log }: CallOfDelegates): DelegateRunner {
    const hostFor = ({ wasm }: Pick<HostConfiguration, "wasm">): DelegateHost => ({
      admission: this.#admission,
      names: {
        known: (file) => {
          this.#ready.used(file.path);
          return this.#names.known(file);
        },
        learn: (file, bytes) => {
          const name = this.#names.learn(file, bytes);
          this.#prepare(bytes, name);
          void this.#copies?.keep(name, bytes);
          return name;
        },
      },
      runner: this.#pool(limitsOf(wasm.limits).memoryPages),
      read: async (path, cap) => {
        const { errno, content } = await hands.read({ path, cap });
        if (errno === 0) return ok(content);
        const why = `component ${path} could not be read: errno ${errno} (at most ${cap} bytes are read)`;
        return failed(fault("COMPONENT_REFUSED", why));
      },
      hands,
      lease: (operation) => runAsync(operation, takeLock),
      leaseMemory: this.#leaseMemory,
      log: (type, level, message) => log(`${type}: ${level}: ${message}\n`),
    });
    return {
      run: (configuration, step, ...more) => runDelegateStep(hostFor(configuration), configuration, step, ...more),
      admit: (configuration, type, file) => admitDelegate(hostFor(configuration), configuration, type, file),
    };
  }

  /** Of all pools together. */
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

  async close(): Promise<void> {
    this.#ready.close();
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
  }

  /** One that is refused is the business of the call that wants it. Larger limits than the default are prepared by their first call. */
  #prepare(bytes: Uint8Array, name: string): void {
    if (bytes.length > defaultLimits.componentBytes) return;
    const component = this.#admission.examined(bytes, defaultLimits, name);
    if (component.ok) this.#pool(defaultLimits.memoryPages).prepare(component.value);
  }

  /** Few sizes are configured: those up to the default share its processes, which V8 bounds at the default. */
  #pool(pages: number): ProcessPool {
    const memoryPages = Math.max(pages, defaultLimits.memoryPages);
    let pool = this.#pools.get(memoryPages);
    if (pool === undefined) {
      const { entry, warm, most } = this.#init;
      const usual = memoryPages === defaultLimits.memoryPages;
      pool = new ProcessPool({ entry, memoryPages, warm: usual ? warm : 1, most: usual ? most : 2 });
      this.#pools.set(memoryPages, pool);
    }
    return pool;
  }
}
