// The devices that the node offers now: the settings' file and the node's links, looked at again and again.

import { readFileSync, statSync } from "node:fs";
import type { DeviceSettings } from "../rules/device-settings.ts";
import { readDeviceSettings } from "../rules/device-settings.ts";
import { type OfferedDevice, offeredDevices } from "../rules/offered-devices.ts";
import { type ReachedNetwork, withReachedNetworks } from "../rules/reaching-devices.ts";
import { readLinks } from "./read-links.ts";

/** Settings. */
export interface NodeDevicesInit {
  /** The settings' file. */
  readonly path: string;
  readonly warn: (text: string) => void;
  /** The PodNetworks that name devices. */
  readonly networks?: () => readonly ReachedNetwork[];
  /** The mount point of sysfs. */
  readonly sysfs?: string;
}

/** Reads the devices. */
export class NodeDevices {
  readonly #init: NodeDevicesInit;
  #settings: readonly DeviceSettings[] = [];
  /** The version of the file that was read last. */
  #version = "";
  #devices: readonly OfferedDevice[] = [];
  #problems = "";

  constructor(init: NodeDevicesInit) {
    this.#init = init;
  }

  /** The devices of the last look. */
  get devices(): readonly OfferedDevice[] {
    return this.#devices;
  }

  /** Looks at the file and the links. A file that cannot be read leaves the settings as they are. */
  look(): readonly OfferedDevice[] {
    this.#readSettings();
    const names = this.#settings.flatMap(({ match }) => (match.name === undefined ? [] : [match.name]));
    const isWanted = (link: string): boolean =>
      names.some((name) => name === link || (name.includes("*") && link.startsWith(name.split("*")[0] ?? "")));
    const reached = withReachedNetworks(this.#settings, this.#init.networks?.() ?? []);
    const { devices, problems } = offeredDevices(reached.settings, readLinks(isWanted, this.#init.sysfs));
    this.#devices = devices;
    this.#tell([...reached.problems, ...problems].join("; "));
    return devices;
  }

  #tell(problems: string): void {
    if (problems !== "" && problems !== this.#problems) this.#init.warn(`claims: ${problems}`);
    this.#problems = problems;
  }

  #readSettings(): void {
    const { path, warn } = this.#init;
    try {
      // A ConfigMap's file is a link that is replaced.
      const { ino, mtimeMs, size } = statSync(path);
      const version = `${ino}:${mtimeMs}:${size}`;
      if (version === this.#version) return;
      this.#version = version;
      const read = readDeviceSettings(readFileSync(path, "utf8"));
      if (read.ok) this.#settings = read.value;
      else warn(`claims: ${path} ${read.problem}; the node's devices stay as they were`);
    } catch (error) {
      const why = `${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`;
      if (this.#version !== why) warn(`claims: ${why}; the node's devices stay as they were`);
      this.#version = why;
    }
  }
}
