// The reference plugins' releases that the delegates are compared with.

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

const distributions: ReferenceRelease = { release: "the distribution's", plugin: referencePlugin, requires: referencePlugins };

const newest: ReferenceRelease = {
  release: newerRelease,
  plugin(name) {
    const directory = newerPlugins();
    return directory === undefined ? undefined : join(directory, name);
  },
  requires: () => newer,
};

/** The newest release, for delegates whose behaviour older releases do not have yet. */
export const newestRelease: readonly ReferenceRelease[] = [newest];

/** The distribution's release and the newest. */
export const referenceReleases: readonly ReferenceRelease[] = [distributions, newest];

/**
 * The releases for comparisons that take long: the newest if it was built, otherwise the distribution's. `PLEXUS_TEST_RELEASES=all` compares with both;
 * CI does so.
 */
export const comparedReleases: readonly ReferenceRelease[] =
  process.env["PLEXUS_TEST_RELEASES"] === "all" ? referenceReleases : [newer() === undefined ? newest : distributions];
