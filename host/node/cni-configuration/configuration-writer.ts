// Keeps plexusd's network configuration in the runtime's directory: written when the daemon can serve, renewed when the template or the
// node's default network changes, removed when there is no network to delegate to (MO-21, MO-24, MO-26).

import { dirname, join } from "node:path";
import { readMark, type Retirement } from "../../../src/configuration/written-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import type { Result } from "../../../src/fault/result.ts";
import { DirectoryChanges } from "./directory-changes.ts";
import { DirectoryLooks } from "./directory-looks.ts";
import { LostMount } from "./lost-mount.ts";
import { directFiles, removeTemporaries } from "./own-file.ts";
import type { ConfigurationWriterDeps, WriterSettings } from "./writer-settings.ts";
import { WrittenFile } from "./written-file.ts";
import type { Standing, WrittenState } from "./written-state.ts";

/** Interval of the looks that do not rely on inotify, in ms. */
const intervalMs = 5_000;

/** The writer of one daemon. */
export class ConfigurationWriter {
  readonly #settings: WriterSettings;
  readonly #deps: ConfigurationWriterDeps;
  readonly #path: string;
  readonly #file: WrittenFile;
  readonly #looks: DirectoryLooks;
  readonly #mounts: LostMount;
  #changes: DirectoryChanges | undefined;
  #again: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #state: WrittenState = {
    written: false,
    clusterNetwork: undefined,
    steps: [],
    omitted: [],
    standing: "in-force",
    retirement: undefined,
    problem: undefined,
  };
  #lastLogged = "";
  #isMountLost = false;
  #stopped = false;

  constructor(settings: WriterSettings, deps: ConfigurationWriterDeps) {
    this.#settings = settings;
    this.#deps = deps;
    this.#path = join(settings.directory, settings.fileName);
    this.#file = new WrittenFile(this.#path, {
      files: settings.files ?? directFiles,
      clock: deps.clock,
      log: deps.log,
      onChange: deps.onChange,
      lookAgain: (ms) => this.#lookAgain(ms),
      onEdit: (edit) => this.#tell(edit),
    });
    this.#mounts = new LostMount([settings.directory, settings.binDir]);
    this.#looks = new DirectoryLooks(settings, deps, this.#path, this.#file, (ms) => this.#lookAgain(ms));
  }

  /** Path of the file. */
  get path(): string {
    return this.#path;
  }

  get state(): WrittenState {
    return this.#state;
  }

  /** The template's `cniDir`, which has the journal of the calls; undefined if the template names none or was never read. */
  get stateDirectory(): string | undefined {
    return this.#looks.stateDirectory;
  }

  /** Begins to watch the directory and the template. */
  async start(): Promise<void> {
    const { directory, template, binDir } = this.#settings;
    await removeTemporaries(directory, this.#settings.files ?? directFiles);
    // A removal of Plexus that was begun goes on after a restart of the daemon.
    const before = this.#file.read();
    const retirement = before.ok && before.value !== undefined ? readMark(before.value)?.retirement : undefined;
    if (retirement !== undefined) this.#state = { ...this.#state, standing: "retired", retirement };
    if (this.#stopped) return;
    this.#changes = new DirectoryChanges([directory, dirname(template), binDir], intervalMs, () => void this.look());
    await this.look();
  }

  /** Looks at directory and template, and brings the file up to date. Looks follow each other. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => (this.#changes === undefined ? undefined : this.#update()));
    return this.#looking;
  }

  /**
   * Sets Plexus' place on the node; `retirement` is written into a retired file. Resolves with the problem that keeps the file from it: DAEMON_BUSY before
   * `start` and after `stop`, when the writer does not run.
   */
  async take(standing: Standing, retirement: Retirement = { daemonSet: undefined, held: false }): Promise<Fault | undefined> {
    if (this.#changes === undefined) return fault("DAEMON_BUSY", `${this.#path} is not written now: the daemon starts or stops`);
    this.#state = { ...this.#state, standing, retirement: standing === "retired" ? retirement : undefined };
    await this.look();
    const { problem } = this.#state;
    // Without a default network there is no file, and behind another file Plexus gets no calls: new pods are as wanted.
    return problem?.kind === "NO_DEFAULT_NETWORK" || problem?.kind === "CNI_FILE_BEHIND" ? undefined : problem;
  }

  /** Stops watching; the file stays. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#changes?.stop();
    this.#changes = undefined;
    clearTimeout(this.#again);
    await this.#looking;
  }

  /** Stops, and removes the file: the runtime then uses the node's next configuration. */
  async leave(): Promise<Result<void>> {
    await this.stop();
    const removed = await this.#file.remove();
    if (removed.ok) this.#state = { ...this.#state, written: false };
    return removed;
  }

  async #update(): Promise<void> {
    const lost = this.#isMountLost ? undefined : this.#mounts.find();
    if (lost !== undefined) {
      this.#isMountLost = true;
      this.#deps.onLostMount(lost);
    }
    const { written, clusterNetwork, steps, omitted, problem } = await this.#looks.bringUpToDate(this.#state);
    // `take` may have changed the standing meanwhile.
    this.#state = { ...this.#state, written, clusterNetwork, steps, omitted, problem };
    const text = problem === undefined ? "" : `${problem.kind}: ${problem.msg}`;
    if (problem !== undefined && text !== this.#lastLogged) this.#tell(problem);
    this.#lastLogged = text;
  }

  #tell(problem: Fault): void {
    this.#deps.log("warn", `${problem.msg}. To do: ${problem.details ?? ""}`);
    this.#deps.onProblem(problem);
  }

  #lookAgain(ms: number): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.look(), ms).unref();
  }
}
