// The reference plugins' releases that the delegates are compared with: the distribution's and the newest.

import { join } from "node:path";
import { newer, newerPlugins, newerRelease } from "./newer-plugins.ts";
import { referencePlugin, referencePlugins, type Requirement } from "./requires.ts";

export interface ReferenceRelease {
  readonly release: string;
  /** The path of a plugin, or undefined. */
  readonly plugin: (name: string) => string | undefined;
  /** Requires all of these plugins of this release. */
  readonly requires: (...names: string[]) => Requirement;
}

export const referenceReleases: readonly ReferenceRelease[] = [
  { release: "the distribution's", plugin: referencePlugin, requires: referencePlugins },
  {
    release: newerRelease,
    plugin(name) {
      const directory = newerPlugins();
      return directory === undefined ? undefined : join(directory, name);
    },
    requires: () => newer,
  },
];
