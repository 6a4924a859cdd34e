// The devices that the node offers now: the settings' file and the node's links, which `look` reads anew.

import { readFileSync, statSync } from "node:fs";
import { type DeviceSettings, readDeviceSettings } from "../rules/device-settings.ts";
import { type OfferedDevice, offeredDevices } from "../rules/offered-devices.ts";
import { type ReachedNetwork, withReachedNetworks } from "../rules/reaching-devices.ts";
import { readLinks } from "./read-links.ts";

/** Reads the devices. */
export class NodeDevices {
  /** The settings' file. */
  readonly #path: string;
  readonly #warn: (text: string) => void;
  /** The PodNetworks that name devices. */
  readonly #networks: (() => readonly ReachedNetwork[]) | undefined;
  /** The mount point of sysfs. */
  readonly #sysfs: string | undefined;
  #settings: readonly DeviceSettings[] = [];
  /** The version of the file that was read last. */
  #version = "";
  #devices: readonly OfferedDevice[] = [];
  #problems = "";

  constructor(path: string, warn: (text: string) => void, networks?: () => readonly ReachedNetwork[], sysfs?: string) {
    this.#path = path;
    this.#warn = warn;
    this.#networks = networks;
    this.#sysfs = sysfs;
  }

  /** The devices of the last look. */
  get devices(): readonly OfferedDevice[] {
    return this.#devices;
  }

  /** Looks at the file and the links. A file that cannot be read leaves the settings as they are. */
  look(): readonly OfferedDevice[] {
    this.#readSettings();
    const names = this.#settings.flatMap(({ match }) => (match.name === undefined ? [] : [match.name]));
    // Only these links are read whole. `offeredDevices` compares their names with the whole patterns.
    const isWanted = (link: string): boolean =>
      names.some((name) => name === link || (name.includes("*") && link.startsWith(name.split("*")[0] ?? "")));
    const reached = withReachedNetworks(this.#settings, this.#networks?.() ?? []);
    const { devices, problems } = offeredDevices(reached.settings, readLinks(isWanted, this.#sysfs));
    this.#devices = devices;
    this.#tell([...reached.problems, ...problems].join("; "));
    return devices;
  }

  #tell(problems: string): void {
    if (problems !== "" && problems !== this.#problems) this.#warn(`claims: ${problems}`);
    this.#problems = problems;
  }

  #readSettings(): void {
    try {
      // A ConfigMap's file is a link that is replaced.
      const { ino, mtimeMs, size } = statSync(this.#path);
      const version = `${ino}:${mtimeMs}:${size}`;
      if (version === this.#version) return;
      this.#version = version;
      const read = readDeviceSettings(readFileSync(this.#path, "utf8"));
      if (read.ok) this.#settings = read.value;
      else this.#warn(`claims: ${this.#path} ${read.problem}; the node's devices stay as they were`);
    } catch (error) {
      const why = `${this.#path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
      if (this.#version !== why) this.#warn(`claims: ${why}; the node's devices stay as they were`);
      this.#version = why;
    }
  }
}
