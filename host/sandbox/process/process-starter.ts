// Starts the sandbox processes of a pool, and tracks the living ones.

import { dirname } from "node:path";
import { fileURLToPath } from "node:url";
import { nodePath } from "../../system/node-path.ts";
import type { Control } from "../launcher/controls.ts";
import { defaultJail } from "../launcher/jail.ts";
import { defaultLimits } from "../limits.ts";
import type { ProcessMemory } from "./process-memory.ts";
import { CopyAttempts } from "./copy-attempts.ts";
import { SandboxProcess, type ProcessSettings } from "./sandbox-process.ts";

/** Starts sandbox processes that all have the same settings. */
export class ProcessStarter {
  readonly #settings: ProcessSettings;
  readonly #live = new Set<SandboxProcess>();
  readonly #copies: CopyAttempts;
  /** Processes that are starting. */
  starting = 0;
  /** Processes that were started since the pool was made. */
  started = 0;
  /** Processes that ended since the pool was made. */
  ended = 0;
  /** The controls of the jail of the last process that started; undefined: none has started yet. */
  controls: ReadonlySet<Control> | undefined;
  /** The last start's failure; undefined: it succeeded. Continues "a sandbox process …". */
  startProblem: string | undefined;

  /** `memory` answers the bounds of a process. */
  constructor(settings: Partial<ProcessSettings>, memory: ProcessMemory) {
    const entry = settings.entry ?? fileURLToPath(new URL("./main.ts", import.meta.url));
    const memoryPages = settings.memoryPages ?? defaultLimits.memoryPages;
    this.#settings = {
      node: settings.node ?? nodePath(),
      entry,
      readable:
        settings.readable ??
        (settings.entry === undefined ? fileURLToPath(new URL("../../../", import.meta.url)) : dirname(entry)),
      memoryPages,
      bytes: settings.bytes ?? memory.ofProcess(memoryPages),
      tableEntries: settings.tableEntries ?? defaultLimits.tableEntries,
      jail: "jail" in settings ? settings.jail : defaultJail(),
    };
    this.#copies = new CopyAttempts(this.#settings.jail?.server?.hasZygote ?? false);
  }

  /** Pages of linear memory of a guest. */
  get memoryPages(): number {
    return this.#settings.memoryPages;
  }

  /** The uids of the living processes. */
  get uids(): readonly number[] {
    return [...this.#live].map(({ uid }) => uid);
  }

  /**
   * Starts a process: a copy of the zygote if there is one, else a new Node. Undefined: it ended before it was ready, for the reason in
   * `startProblem`.
   */
  async start(): Promise<SandboxProcess | undefined> {
    this.starting += 1;
    const copied = await this.#startCopy();
    const process = copied ?? (await this.#startOne(false));
    this.starting -= 1;
    return process;
  }

  async #startCopy(): Promise<SandboxProcess | undefined> {
    if (!this.#copies.next()) return undefined;
    const copied = await this.#startOne(true);
    this.#copies.tried(copied !== undefined);
    return copied;
  }

  async #startOne(isCopy: boolean): Promise<SandboxProcess | undefined> {
    const process = new SandboxProcess({ ...this.#settings, isCopy });
    this.#live.add(process);
    this.started += 1;
    void process.ended.then(() => {
      this.#live.delete(process);
      this.ended += 1;
    });
    const isReady = await process.ready();
    if (isReady) this.controls = process.controls;
    // A failed copy is followed by a new Node.
    else if (isCopy) return undefined;
    this.startProblem = isReady ? undefined : (await process.ended).reason;
    return isReady ? process : undefined;
  }

  /** Ends all living processes. */
  async killAll(reason: string): Promise<void> {
    await Promise.all(
      [...this.#live].map((process) => {
        process.kill(reason);
        return process.ended;
      }),
    );
  }
}
