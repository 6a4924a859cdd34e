// One look at the template, the shim and the runtime's directory: by what is there, plexusd's file is written, left or removed.

import { join } from "node:path";
import type { ConfigDirectory } from "../../../src/cni/config-directory.ts";
import { configurationFiles, findDirectoryNetwork } from "../../../src/configuration/directory-network.ts";
import { readWrittenContent } from "../../../src/configuration/foreign-steps.ts";
import { type ConfigurationTemplate, readTemplate, writtenText } from "../../../src/configuration/written-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { memberValue } from "../../../src/json/document.ts";
import { configurationFile, readConfigurationDirectory } from "../../store/files/configuration-directory.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import type { ConfigurationWriterDeps, WriterSettings } from "./writer-settings.ts";
import { KeptSteps } from "./kept-steps.ts";
import { readBefore, writtenBesides } from "./other-files.ts";
import { ShimPresence } from "./plugin-directory.ts";
import { shimLinks } from "./shim-links.ts";
import type { WrittenFile } from "./written-file.ts";
import type { FileState, WrittenState } from "./written-state.ts";

/** The inputs of one look. */
interface Look {
  readonly template: ConfigurationTemplate;
  readonly directory: ConfigDirectory;
  readonly plexusTypes: readonly string[];
}

/** A default network or a shim that is missing for less time is being replaced, in ms. */
const graceMs = 5_000;
/** Interval of the looks until the daemon can serve calls, in ms. */
const pollMs = 250;

/** The looks of one daemon. */
export class DirectoryLooks {
  readonly #settings: WriterSettings;
  readonly #deps: ConfigurationWriterDeps;
  readonly #path: string;
  readonly #file: WrittenFile;
  readonly #lookAgain: (ms: number) => void;
  readonly #shim: ShimPresence;
  readonly #steps: KeptSteps;
  /** Since when the network to delegate to, or the shim, is missing, in ms of the monotonic clock. */
  #absentSince: number | undefined;
  /** The type under which the runtime calls Plexus, by the last template that was right. */
  #type = "plexus";
  #stateDirectory: string | undefined;
  #lastPassedOver = "";

  /** `path`: that of the file. `lookAgain`: requests a look after `ms`. */
  constructor(
    settings: WriterSettings,
    deps: ConfigurationWriterDeps,
    path: string,
    file: WrittenFile,
    lookAgain: (ms: number) => void,
  ) {
    this.#settings = settings;
    this.#deps = deps;
    this.#path = path;
    this.#file = file;
    this.#lookAgain = lookAgain;
    this.#shim = new ShimPresence(settings.binDir, settings.needsShim);
    this.#steps = new KeptSteps(settings.foreignSteps, settings.binDir);
  }

  /** The template's `cniDir`; undefined if the template names none or was never read. */
  get stateDirectory(): string | undefined {
    return this.#stateDirectory;
  }

  /** Writes or removes the file. `state`: the state after the last look, and Plexus' place on the node now. */
  async bringUpToDate(state: WrittenState): Promise<FileState> {
    const { pinned, binDir } = this.#settings;
    const unchanged = (problem: Fault | undefined): FileState => ({ ...state, problem });
    if (state.standing === "withdrawn") {
      const removed = await this.#file.remove();
      return { ...state, written: !removed.ok, problem: removed.ok ? undefined : removed.fault };
    }
    if (!state.written && !this.#deps.canServe()) {
      this.#lookAgain(pollMs);
      return unchanged(undefined);
    }
    const templateText = readText(this.#settings.template);
    const template = templateText.ok ? readTemplate(templateText.value, this.#settings.template) : templateText;
    if (template.ok) this.#type = template.value.type;
    // Also with a file in force: a runtime that finds no shim fails each pod, and nothing else says so.
    const shimMissing = this.#shim.missing(this.#type);
    if (shimMissing !== undefined) return this.#withoutPart(state, shimMissing);
    if (!template.ok) return unchanged(template.fault);
    const cniDir = memberValue(template.value.plugin, "cniDir");
    if (typeof cniDir === "string") this.#stateDirectory = cniDir;
    const read = readConfigurationDirectory(this.#settings.directory);
    if (!read.ok) return unchanged(read.fault);
    const look: Look = {
      template: template.value,
      directory: read.value,
      plexusTypes: [template.value.type, ...shimLinks(binDir)],
    };
    const network = findDirectoryNetwork(read.value, { pinned, plexusTypes: look.plexusTypes });
    if (!network.ok)
      return pinned === undefined
        ? this.#withoutPart(state, network.fault)
        : this.#withoutPinned(state, look, pinned, network.fault);
    this.#absentSince = undefined;
    const passedOver = network.value.passedOver.join("; ");
    if (passedOver !== this.#lastPassedOver && passedOver !== "") this.#deps.log("warn", `passed over: ${passedOver}`);
    this.#lastPassedOver = passedOver;
    const types = network.value.list.plugins.map(({ type }) => type);
    return this.#write(state, look, { ...network.value, types });
  }

  /** Writes the file with this default network. `types`: those of the network's list; undefined: the list is unknown. */
  async #write(
    state: WrittenState,
    { template, directory, plexusTypes }: Look,
    network: {
      readonly path: string;
      readonly capabilities: readonly string[] | undefined;
      readonly types: readonly string[] | undefined;
    },
  ): Promise<FileState> {
    const { written, standing, retirement } = state;
    const read = this.#file.read();
    if (!read.ok) return { ...state, written: false, problem: read.fault };
    const current =
      read.value === undefined ? undefined : { text: read.value, content: readWrittenContent(read.value, plexusTypes) };
    const steps = this.#steps.decide(current?.content);
    const omitted = steps.superseded.filter((type) => network.types?.includes(type) ?? current?.content?.omitted.includes(type));
    const known = current?.content?.clusterNetwork === network.path ? current.content.capabilities : [];
    const text = writtenText(template, {
      clusterNetwork: network.path,
      capabilities: network.capabilities ?? known,
      kubeconfig: this.#settings.kubeconfig,
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
  async #withoutPart(state: WrittenState, problem: Fault): Promise<FileState> {
    const now = this.#deps.clock.now();
    this.#absentSince ??= now;
    const leftMs = this.#absentSince + graceMs - now;
    // Without the file, pods would use the network that the pin excludes.
    if (leftMs > 0 || this.#settings.pinned !== undefined) {
      if (leftMs > 0) this.#lookAgain(leftMs);
      return { ...state, problem };
    }
    const removed = await this.#file.remove();
    return { written: false, clusterNetwork: undefined, steps: [], omitted: [], problem: removed.ok ? problem : removed.fault };
  }

  /**
   * The pinned network is missing or broken: calls wait for it, then fail. Without the file a runtime would use another network of the
   * directory. A directory without any network needs no file, and without one the node is not ready.
   */
  async #withoutPinned(state: WrittenState, look: Look, pinned: string, problem: Fault): Promise<FileState> {
    const ours = new Set([this.#path, ...writtenBesides(look.directory, this.#path)]);
    const isAlone = configurationFiles(look.directory.files).every(({ path }) => ours.has(path));
    const read = this.#file.read();
    if (isAlone && read.ok && read.value === undefined) return { ...state, written: false, problem };
    const path = join(this.#settings.directory, pinned);
    const after = await this.#write(state, look, { path, capabilities: undefined, types: undefined });
    return { ...after, problem: after.written ? problem : after.problem };
  }
}

function readText(path: string): Result<string> {
  try {
    return ok(readRegularFile(path, configurationFile));
  } catch (error) {
    return failed(fault("TEMPLATE_INVALID", `${path}: ${error instanceof Error ? error.message : String(error)}`));
  }
}
