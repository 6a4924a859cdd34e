// Keeps plexusd's network configuration in the runtime's directory: written when the daemon can serve, renewed when the template or the
// node's default network changes, removed when there is no network to delegate to (MO-21, MO-24, MO-26).

import { dirname, join } from "node:path";
import type { ConfigDirectory } from "../../../src/cni/config-directory.ts";
import { configurationFiles, findDirectoryNetwork } from "../../../src/configuration/directory-network.ts";
import { readWrittenContent } from "../../../src/configuration/foreign-steps.ts";
import {
  type ConfigurationTemplate,
  readMark,
  readTemplate,
  type Retirement,
  writtenText,
} from "../../../src/configuration/written-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { memberValue } from "../../../src/json/document.ts";
import { configurationFile, readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { DirectoryChanges } from "./directory-changes.ts";
import { type ForeignStepsPolicy, KeptSteps } from "./kept-steps.ts";
import { LostMount } from "./lost-mount.ts";
import { readBefore, writtenBesides } from "./other-files.ts";
import { directFiles, type OwnFiles, removeTemporaries } from "./own-file.ts";
import { ShimPresence } from "./plugin-directory.ts";
import { shimLinks } from "./shim-links.ts";
import { WrittenFile } from "./written-file.ts";
import type { Clock } from "../../system/clock.ts";

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
  /** The directory of plugins: links to the shim are recognised there, and the shim itself is expected. */
  readonly binDir: string;
  /** The kubeconfig that the configuration names unless the template has a source of pods. */
  readonly kubeconfig: string | undefined;
  /** Whether a shim is missed in `binDir` that was never there. Once seen, its absence is a problem in any case: each pod would then fail. */
  readonly needsShim: boolean;
  /** Changes the file; by default this process does. */
  readonly files?: OwnFiles | undefined;
  /** The treatment of steps that other programs add to the file. */
  readonly foreignSteps: ForeignStepsPolicy;
}

/** The rest of the daemon, as the writer sees it. */
export interface ConfigurationWriterDeps {
  readonly clock: Clock;
  /** Whether a call would be served now. Until then nothing is written. */
  readonly canServe: () => boolean;
  readonly log: (level: "info" | "warn", text: string) => void;
  /** Called with each new problem, and with each edit of the file by another program, besides its line in the log. */
  readonly onProblem: (problem: Fault) => void;
  /** Called once if the node has removed a directory that is mounted here: only a new mount can show its successor. */
  readonly onLostMount: (directory: string) => void;
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
  /** Whether the file is there, with the right content or with an edit that is restored later. */
  readonly written: boolean;
  /** Path of the default network's file in the written configuration. */
  readonly clusterNetwork: string | undefined;
  /** Types of other programs' steps in the file, which run after Plexus. */
  readonly steps: readonly string[];
  /** Types whose steps of the default network's list are left out, because the file has or had such a step of another program. */
  readonly omitted: readonly string[];
  readonly standing: Standing;
  /** The mark of Plexus' removal in the file; undefined unless `retired`. */
  readonly retirement: Retirement | undefined;
  /** The problem that keeps the configuration from being written or in force. */
  readonly problem: Fault | undefined;
}

/** The state of the directory at one look. */
type FileState = Omit<WrittenState, "standing" | "retirement">;

/** The inputs of one look. */
interface Look {
  readonly template: ConfigurationTemplate;
  readonly directory: ConfigDirectory;
  readonly plexusTypes: readonly string[];
}

/** Interval of the looks that do not rely on inotify, in ms. */
const intervalMs = 5_000;
/** A default network or a shim that is missing for less time is being replaced, in ms. */
const absenceMs = 5_000;

/** The writer of one daemon. */
export class ConfigurationWriter {
  readonly #init: ConfigurationWriterInit;
  readonly #deps: ConfigurationWriterDeps;
  readonly #path: string;
  readonly #file: WrittenFile;
  readonly #shim: ShimPresence;
  readonly #mounts: LostMount;
  readonly #steps: KeptSteps;
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
  /** Since when the network to delegate to, or the shim, is missing, in ms of the monotonic clock. */
  #absentSince: number | undefined;
  /** The type under which the runtime calls Plexus, by the last template that was right. */
  #type = "plexus";
  #stateDirectory: string | undefined;
  #lastLogged = "";
  #lastPassedOver = "";
  #isMountLost = false;
  #stopped = false;

  constructor(init: ConfigurationWriterInit, deps: ConfigurationWriterDeps) {
    this.#init = init;
    this.#deps = deps;
    this.#path = join(init.directory, init.fileName);
    this.#file = new WrittenFile(this.#path, {
      files: init.files ?? directFiles,
      clock: deps.clock,
      log: deps.log,
      onChange: deps.onChange,
      lookAgain: (ms) => this.#lookAgain(ms),
      onEdit: (edit) => this.#tell(edit),
    });
    this.#mounts = new LostMount([init.directory, init.binDir]);
    this.#shim = new ShimPresence(init.binDir, init.needsShim);
    this.#steps = new KeptSteps(init.foreignSteps, init.binDir);
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
    const { directory, template, binDir } = this.#init;
    await removeTemporaries(directory, this.#init.files ?? directFiles);
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
   * `start` and after `stop`, when nobody would change the file.
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
    const updated = await this.#bringUpToDate();
    this.#state = { ...this.#state, ...updated };
    const { problem } = updated;
    const text = problem === undefined ? "" : `${problem.kind}: ${problem.msg}`;
    if (problem !== undefined && text !== this.#lastLogged) this.#tell(problem);
    this.#lastLogged = text;
  }

  #tell(problem: Fault): void {
    this.#deps.log("warn", `${problem.msg}. To do: ${problem.details ?? ""}`);
    this.#deps.onProblem(problem);
  }

  async #bringUpToDate(): Promise<FileState> {
    const { pinned, binDir } = this.#init;
    const state = this.#fileState;
    const unchanged = (problem: Fault | undefined): FileState => ({ ...state, problem });
    if (this.#state.standing === "withdrawn") {
      const removed = await this.#file.remove();
      return { ...state, written: !removed.ok, problem: removed.ok ? undefined : removed.fault };
    }
    if (!state.written && !this.#deps.canServe()) {
      this.#lookAgain(250);
      return unchanged(undefined);
    }
    const templateText = readText(this.#init.template);
    const template = templateText.ok ? readTemplate(templateText.value, this.#init.template) : templateText;
    if (template.ok) this.#type = template.value.type;
    // Also with a file in force: a runtime that finds no shim fails each pod, and nothing else says so.
    const shimMissing = this.#shim.missing(this.#type);
    if (shimMissing !== undefined) return this.#withoutPart(shimMissing);
    if (!template.ok) return unchanged(template.fault);
    const cniDir = memberValue(template.value.plugin, "cniDir");
    if (typeof cniDir === "string") this.#stateDirectory = cniDir;
    const read = readConfigurationDirectory(this.#init.directory);
    if (!read.ok) return unchanged(read.fault);
    const look: Look = {
      template: template.value,
      directory: read.value,
      plexusTypes: [template.value.type, ...shimLinks(binDir)],
    };
    const network = findDirectoryNetwork(read.value, { pinned, plexusTypes: look.plexusTypes });
    if (!network.ok)
      return pinned === undefined ? this.#withoutPart(network.fault) : this.#withoutPinned(look, pinned, network.fault);
    this.#absentSince = undefined;
    const passedOver = network.value.passedOver.join("; ");
    if (passedOver !== this.#lastPassedOver && passedOver !== "") this.#deps.log("warn", `passed over: ${passedOver}`);
    this.#lastPassedOver = passedOver;
    const types = network.value.list.plugins.map(({ type }) => type);
    return this.#write(look, { ...network.value, types });
  }

  /** The state without the standing, which `take` may change during a look. */
  get #fileState(): FileState {
    const { standing: _standing, retirement: _retirement, ...state } = this.#state;
    return state;
  }

  /** Writes the file with this default network. `types`: those of the network's list; undefined: the list is unknown. */
  async #write(
    { template, directory, plexusTypes }: Look,
    network: {
      readonly path: string;
      readonly capabilities: readonly string[] | undefined;
      readonly types: readonly string[] | undefined;
    },
  ): Promise<FileState> {
    const { written, standing, retirement } = this.#state;
    const read = this.#file.read();
    if (!read.ok) return { ...this.#fileState, written: false, problem: read.fault };
    const current =
      read.value === undefined ? undefined : { text: read.value, content: readWrittenContent(read.value, plexusTypes) };
    const steps = this.#steps.decide(current?.content);
    const omitted = steps.superseded.filter((type) => network.types?.includes(type) ?? current?.content?.omitted.includes(type));
    const known = current?.content?.clusterNetwork === network.path ? current.content.capabilities : [];
    const text = writtenText(template, {
      clusterNetwork: network.path,
      capabilities: network.capabilities ?? known,
      kubeconfig: this.#init.kubeconfig,
      retirement,
      steps: steps.kept,
      omitted,
    });
    const problem = await this.#file.write(text, {
      directory,
      network: network.path,
      retired: standing === "retired",
      wasWritten: written,
      current,
      steps,
      plexusTypes,
    });
    return {
      // An edited file is in force as the other program left it.
      written: problem === undefined || problem.kind === "CNI_FILE_EDITED",
      clusterNetwork: network.path,
      steps: steps.kept.map(({ type }) => type),
      omitted,
      problem: problem ?? readBefore(directory, this.#path),
    };
  }

  /** The network's file or the shim may be about to be replaced, so the configuration stays for a while. */
  async #withoutPart(problem: Fault): Promise<FileState> {
    const now = this.#deps.clock.now();
    this.#absentSince ??= now;
    const leftMs = this.#absentSince + absenceMs - now;
    // Without the file, pods would use the network that the pin excludes.
    if (leftMs > 0 || this.#init.pinned !== undefined) {
      if (leftMs > 0) this.#lookAgain(leftMs);
      return { ...this.#fileState, problem };
    }
    const removed = await this.#file.remove();
    return { written: false, clusterNetwork: undefined, steps: [], omitted: [], problem: removed.ok ? problem : removed.fault };
  }

  /**
   * The pinned network is missing or broken: calls wait for it, then fail. Without the file a runtime would use another network of the
   * directory. A directory without any network needs no file, and without one the node is not ready.
   */
  async #withoutPinned(look: Look, pinned: string, problem: Fault): Promise<FileState> {
    const ours = new Set([this.#path, ...writtenBesides(look.directory, this.#path)]);
    const isAlone = configurationFiles(look.directory.files).every(({ path }) => ours.has(path));
    const read = this.#file.read();
    if (isAlone && read.ok && read.value === undefined) return { ...this.#fileState, written: false, problem };
    const path = join(this.#init.directory, pinned);
    const state = await this.#write(look, { path, capabilities: undefined, types: undefined });
    return { ...state, problem: state.written ? problem : state.problem };
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
