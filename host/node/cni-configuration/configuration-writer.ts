// Keeps plexusd's network configuration in the runtime's directory: written when the daemon can serve, renewed when the template or the
// node's default network changes, removed when there is no network to delegate to (MO-21, MO-24, MO-26).

import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { findDirectoryNetwork } from "../../../src/configuration/directory-network.ts";
import { readMark, readTemplate, type Retirement, writtenText } from "../../../src/configuration/written-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { memberValue } from "../../../src/json/document.ts";
import { configurationFile, readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { DirectoryChanges } from "./directory-changes.ts";
import { readBefore } from "./other-files.ts";
import { removeTemporaries } from "./own-file.ts";
import { shimLinks } from "./shim-links.ts";
import { WrittenFile } from "./written-file.ts";

/** Where the configuration comes from and where it goes. */
export interface ConfigurationWriterInit {
  /** The runtime's directory of network configurations. */
  readonly directory: string;
  /** Path of the template. */
  readonly template: string;
  /** Name of the file that is written. */
  readonly fileName: string;
  /** Name of the default network's file; undefined: the first one that does not run Plexus. */
  readonly pinned: string | undefined;
  /** The directory of plugins in which links to the shim are recognised. */
  readonly binDir: string;
  /** The kubeconfig that the configuration names unless the template has a source of pods. */
  readonly kubeconfig: string | undefined;
  /** Whether nothing is written while `binDir` has no shim: each pod would then fail. */
  readonly needsShim: boolean;
}

/** The rest of the daemon, as the writer sees it. */
export interface ConfigurationWriterDeps {
  /** Whether a call would be served now. Until then nothing is written. */
  readonly canServe: () => boolean;
  readonly log: (level: "info" | "warn", text: string) => void;
  /** Called with each new problem, besides its line in the log. */
  readonly onProblem: (problem: Fault) => void;
  /** Called after each attempt to change the file. */
  readonly onChange: (outcome: "written" | "removed" | "failed") => void;
}

/**
 * Plexus' place on the node. `retired`: the file says that new pods get the default network only. `withdrawn`: the file is removed, so the
 * runtime uses the node's next configuration.
 */
export type Standing = "in-force" | "retired" | "withdrawn";

/** The state of the file. */
export interface WrittenState {
  /** Whether the file is there with the right content. */
  readonly written: boolean;
  /** Path of the default network's file in the written configuration. */
  readonly clusterNetwork: string | undefined;
  readonly standing: Standing;
  /** The mark of Plexus' removal in the file; undefined unless `retired`. */
  readonly retirement: Retirement | undefined;
  /** The problem that keeps the configuration from being written or in force. */
  readonly problem: Fault | undefined;
}

/** The state of the directory at one look. */
type FileState = Omit<WrittenState, "standing" | "retirement">;

/** Interval of the looks that do not rely on inotify, in ms. */
const intervalMs = 5_000;
/** A default network that is missing for less time is being replaced, in ms. */
const absenceMs = 5_000;

/** The writer of one daemon. */
export class ConfigurationWriter {
  readonly #init: ConfigurationWriterInit;
  readonly #deps: ConfigurationWriterDeps;
  readonly #path: string;
  readonly #file: WrittenFile;
  #changes: DirectoryChanges | undefined;
  #again: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #state: WrittenState = {
    written: false,
    clusterNetwork: undefined,
    standing: "in-force",
    retirement: undefined,
    problem: undefined,
  };
  /** Since when there is no network to delegate to, in ms of the monotonic clock. */
  #absentSince: number | undefined;
  #stateDirectory: string | undefined;
  #lastLogged = "";
  #lastPassedOver = "";
  #stopped = false;

  constructor(init: ConfigurationWriterInit, deps: ConfigurationWriterDeps) {
    this.#init = init;
    this.#deps = deps;
    this.#path = join(init.directory, init.fileName);
    this.#file = new WrittenFile(this.#path, {
      log: deps.log,
      onChange: deps.onChange,
      lookAgain: (ms) => this.#lookAgain(ms),
    });
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
    return this.#stateDirectory;
  }

  /** Begins to watch the directory and the template. */
  async start(): Promise<void> {
    const { directory, template } = this.#init;
    await removeTemporaries(directory);
    // A removal of Plexus that was begun goes on after a restart of the daemon.
    const before = this.#file.read();
    const retirement = before.ok && before.value !== undefined ? readMark(before.value)?.retirement : undefined;
    if (retirement !== undefined) this.#state = { ...this.#state, standing: "retired", retirement };
    if (this.#stopped) return;
    this.#changes = new DirectoryChanges([directory, dirname(template)], intervalMs, () => void this.look());
    await this.look();
  }

  /** Looks at directory and template, and brings the file up to date. Looks follow each other. */
  look(): Promise<void> {
    this.#looking = this.#looking.then(() => (this.#changes === undefined ? undefined : this.#update()));
    return this.#looking;
  }

  /** Sets Plexus' place on the node; `retirement` is written into a retired file. Resolves with the problem that keeps the file from it. */
  async take(standing: Standing, retirement: Retirement = { daemonSet: undefined, held: false }): Promise<Fault | undefined> {
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
    const updated = await this.#bringUpToDate();
    this.#state = { ...this.#state, ...updated };
    const { problem } = updated;
    const text = problem === undefined ? "" : `${problem.msg}. To do: ${problem.details ?? ""}`;
    if (problem !== undefined && text !== this.#lastLogged) {
      this.#deps.log("warn", text);
      this.#deps.onProblem(problem);
    }
    this.#lastLogged = text;
  }

  async #bringUpToDate(): Promise<FileState> {
    const { directory, pinned, binDir, kubeconfig, needsShim, template: templatePath } = this.#init;
    const { written, clusterNetwork, standing, retirement } = this.#state;
    const unchanged = (problem: Fault | undefined): FileState => ({ written, clusterNetwork, problem });
    if (standing === "withdrawn") {
      const removed = await this.#file.remove();
      return { written: !removed.ok, clusterNetwork, problem: removed.ok ? undefined : removed.fault };
    }
    if (!written && !this.#deps.canServe()) {
      this.#lookAgain(250);
      return unchanged(undefined);
    }
    if (!written && needsShim && !existsSync(join(binDir, "plexus")))
      return unchanged(fault("SHIM_MISSING", `${join(binDir, "plexus")} does not exist, so each pod would fail`));
    const templateText = readText(templatePath);
    const template = templateText.ok ? readTemplate(templateText.value, templatePath) : templateText;
    if (!template.ok) return unchanged(template.fault);
    const cniDir = memberValue(template.value.plugin, "cniDir");
    if (typeof cniDir === "string") this.#stateDirectory = cniDir;
    const read = readConfigurationDirectory(directory);
    if (!read.ok) return unchanged(read.fault);
    const plexusTypes = [template.value.type, ...shimLinks(binDir)];
    const network = findDirectoryNetwork(read.value, { pinned, plexusTypes });
    if (!network.ok) return this.#withoutNetwork(network.fault);
    this.#absentSince = undefined;
    const text = writtenText(template.value, {
      clusterNetwork: network.value.path,
      capabilities: network.value.capabilities,
      kubeconfig,
      retirement,
    });
    const problem = await this.#file.write(text, {
      directory: read.value,
      network: network.value.path,
      retired: standing === "retired",
      wasWritten: written,
    });
    const failure = problem ?? readBefore(read.value, this.#path);
    const passedOver = network.value.passedOver.join("; ");
    if (passedOver !== this.#lastPassedOver && passedOver !== "") this.#deps.log("warn", `passed over: ${passedOver}`);
    this.#lastPassedOver = passedOver;
    return { written: problem === undefined, clusterNetwork: network.value.path, problem: failure };
  }

  /** The network's file may be about to be replaced, so the configuration stays for a while. */
  async #withoutNetwork(problem: Fault): Promise<FileState> {
    const now = performance.now();
    this.#absentSince ??= now;
    const leftMs = this.#absentSince + absenceMs - now;
    if (leftMs > 0) {
      this.#lookAgain(leftMs);
      return { written: this.#state.written, clusterNetwork: this.#state.clusterNetwork, problem };
    }
    const removed = await this.#file.remove();
    return { written: false, clusterNetwork: undefined, problem: removed.ok ? problem : removed.fault };
  }

  #lookAgain(ms: number): void {
    clearTimeout(this.#again);
    this.#again = setTimeout(() => void this.look(), ms).unref();
  }
}

function readText(path: string): Result<string> {
  try {
    return ok(readRegularFile(path, configurationFile));
  } catch (error) {
    return failed(fault("TEMPLATE_INVALID", `${path}: ${error instanceof Error ? error.message : String(error)}`));
  }
}
