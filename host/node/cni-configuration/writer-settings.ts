// The settings of the writer of plexusd's file, and the parts of the daemon that it calls.

import type { Fault } from "../../../src/fault/fault.ts";
import type { Clock } from "../../system/clock.ts";
import type { ForeignStepsPolicy } from "./kept-steps.ts";
import type { OwnFiles } from "./own-file.ts";

/** Where the configuration comes from and where it goes. */
export interface WriterSettings {
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
