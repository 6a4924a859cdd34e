// Cleans the state directories of files that only Plexus 0.1.0 used: it recycled the files of journal and result cache, too.

import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { removeEarlierRecycledFiles } from "../../store/files/recycled-files.ts";

/** Maximum number of state directories that are remembered. A node has one or two. */
const maxDirectories = 64;

/** Removes what 0.1.0 left. The daemon learns a state directory with a call. */
export class EarlierState {
  readonly #cleaned = new Set<string>();

  /** Cleans the state directory of a call's configuration, once for each directory. It never fails. Call it after the runtime has its answer. */
  clean({ cniDir }: Pick<HostConfiguration, "cniDir">): void {
    if (this.#cleaned.has(cniDir) || this.#cleaned.size >= maxDirectories) return;
    this.#cleaned.add(cniDir);
    removeEarlierRecycledFiles(cniDir);
  }
}
