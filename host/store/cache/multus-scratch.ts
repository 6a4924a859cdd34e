// Multus' state of a container until its DEL: `<cniDir>/<containerID>`, a JSON list of its delegates in the order of their
// attachment. Read for pods that Multus attached and Plexus detaches; never written.

import { lstatSync } from "node:fs";
import { inlineNetwork } from "../../../src/cni/inline-network.ts";
import type { NetworkList } from "../../../src/cni/network-list.ts";
import { isJsonObject, parseArray, parseDocument } from "../../../src/json/document.ts";
import { removeFile } from "../files/durable-file.ts";
import { readRegularFile } from "../files/regular-file.ts";

/** A network from Multus' state, with the interface name that Multus gave. */
export interface ScratchedNetwork {
  readonly list: NetworkList;
  readonly ifname: string;
}

/** The configurations of one pod's networks. */
const scratchFile = { maxBytes: 16 * 1024 * 1024, foreign: false } as const;

/** Reads and removes Multus' state. */
export class MultusScratch {
  readonly #directories: readonly string[];
  readonly #warn: (text: string) => void;

  /** `directories`: candidates for Multus' `cniDir`. */
  constructor(directories: readonly string[], warn: (text: string) => void) {
    this.#directories = directories.filter((each, index) => directories.indexOf(each) === index);
    this.#warn = warn;
  }

  /** The networks in the order of their attachment; `ifname` is the default network's. Unreadable ones cause a warning. */
  networks(containerId: string, ifname: string): readonly ScratchedNetwork[] {
    return this.#directories.flatMap((directory) => this.#read(`${directory}/${containerId}`, ifname));
  }

  has(containerId: string): boolean {
    return this.#directories.some((directory) => isFile(`${directory}/${containerId}`));
  }

  remove(containerId: string): void {
    for (const directory of this.#directories) {
      const path = `${directory}/${containerId}`;
      // Plexus' own directories are in the same place, and a container may have the name of one of them.
      if (isFile(path)) removeFile(path);
    }
  }

  #read(path: string, ifname: string): readonly ScratchedNetwork[] {
    let text: string;
    try {
      if (!isFile(path)) return [];
      text = readRegularFile(path, scratchFile);
    } catch (error) {
      this.#warn(`ignoring Multus' state: ${message(error)}`);
      return [];
    }
    const delegates = parseArray(text, { what: path });
    if (!delegates.ok) {
      this.#warn(`ignoring Multus' state: ${delegates.fault.msg}`);
      return [];
    }
    return delegates.value.flatMap((delegate, index) => this.#network(delegate, `${path}[${index}]`, index, ifname));
  }

  #network(text: string, what: string, index: number, ifname: string): readonly ScratchedNetwork[] {
    const delegate = parseDocument(text, { what });
    const value = delegate.ok ? delegate.value.parsed : {};
    // Go's encoder writes the configuration's bytes as base64.
    const bytes = value["Bytes"];
    const configuration = typeof bytes === "string" ? Buffer.from(bytes, "base64").toString("utf8") : "";
    const conf = isJsonObject(value["Conf"]) ? value["Conf"] : {};
    const holder = { name: textAt(conf["name"]), cniVersion: textAt(conf["cniVersion"]) };
    const list = inlineNetwork(configuration, what, holder);
    if (!list.ok) {
      this.#warn(`ignoring Multus' state: ${list.fault.msg}`);
      return [];
    }
    // Multus' interface names (MA-07): the requested name, the runtime's for the first network, else `net` and the position.
    const generated = index === 0 ? ifname : `net${index}`;
    return [{ list: list.value, ifname: textAt(value["ifnameRequest"]) || generated }];
  }
}

function textAt(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** An unprivileged engine may not be allowed to look there; then the file is not Plexus' to remove. */
function isFile(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true;
  } catch {
    return false;
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
