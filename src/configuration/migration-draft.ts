// The chart's values while a migration from Multus fills them in, and what its rules need to know about Multus' configuration.

import { directoryOf, nameOf, onNode } from "./multus-paths.ts";
import type { MultusConfiguration } from "./multus-configuration.ts";

/** A key of Multus in force, and the file that it comes from. */
interface KeyInForce {
  readonly value: unknown;
  readonly source: string;
}

/** The sections of the chart's values that a migration sets. */
type Section = "cni" | "config" | "daemon" | "metrics";

const defaultDirectory = "/etc/cni/net.d";

/**
 * Sorts before Multus' own file. Thick Multus takes no file with the prefix `00-multus` as its default network, so a Multus that starts
 * while Plexus is active does not delegate to Plexus.
 */
const configName = "00-multus-plexus.conflist";

/** The values of one migration. */
export class MigrationDraft {
  /** Multus' keys in force. */
  readonly keys: ReadonlyMap<string, KeyInForce>;
  /** The runtime's directory of network configurations, as the node sees it. */
  readonly confDir: string;
  /** Whether Multus chooses its default network itself. */
  readonly isAutomatic: boolean;
  readonly #chroot: string;
  readonly #sections: Record<Section, Record<string, unknown>> = { cni: { configName }, config: {}, daemon: {}, metrics: {} };

  constructor(configurations: readonly MultusConfiguration[]) {
    const ranked = [...configurations].toSorted((a, b) => Number(a.role === "daemon") - Number(b.role === "daemon"));
    this.keys = new Map(ranked.flatMap(({ source, keys }) => [...keys].map(([key, value]) => [key, { value, source }] as const)));
    // The daemon's configuration has no name of the network: the CNI configuration's counts.
    const cni = ranked.find(({ role, keys }) => role === "cni" && keys.has("name"));
    if (cni !== undefined) this.keys = new Map([...this.keys, ["name", { value: cni.keys.get("name"), source: cni.source }]]);
    this.#chroot = this.#text("chrootDir") ?? "";
    this.confDir = this.nodePath(this.#text("cniConfigDir") ?? defaultDirectory);
    const file = this.#text("multusConfigFile");
    this.isAutomatic = file === undefined ? this.#text("type") !== "multus" : file === "auto";
  }

  set(section: Section, key: string, value: unknown): void {
    this.#sections[section][key] = value;
  }

  /** Pins the file of the default network; false if it is not in the runtime's directory. */
  pinClusterNetwork(path: string): boolean {
    if (directoryOf(path) !== this.confDir) return false;
    this.set("cni", "clusterNetwork", nameOf(path));
    return true;
  }

  /** A path of Multus' container as the node sees it. */
  nodePath(path: string): string {
    return onNode(path, this.#chroot);
  }

  /** The values, without empty sections. */
  values(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(Object.entries(this.#sections).filter(([, section]) => Object.keys(section).length > 0));
  }

  #text(key: string): string | undefined {
    const value = this.keys.get(key)?.value;
    return typeof value === "string" && value !== "" ? value : undefined;
  }
}
