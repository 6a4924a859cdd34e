// What Multus keeps of a container until its DEL: `<cniDir>/<containerID>`, a JSON list of its delegates in the order in which
// they were attached. Read for pods that Multus attached and Plexus takes away; never written.

import { lstatSync } from "node:fs";
import { inlineNetwork } from "../../src/cni/inline-network.ts";
import type { NetworkList } from "../../src/cni/network-list.ts";
import { isJsonObject, parseArray, parseDocument } from "../../src/json/document.ts";
import { removeFile } from "../files/durable-file.ts";
import { readRegularFile } from "../files/regular-file.ts";

export interface ScratchedNetwork {
  readonly list: NetworkList;
  readonly ifname: string;
}

/** Multus writes the configurations of one pod's networks. */
const scratchFile = { most: 16 * 1024 * 1024, foreign: false } as const;

export class MultusScratch {
  readonly #directories: readonly string[];
  readonly #warn: (text: string) => void;

  /** `directories`: what may have been Multus' `cniDir`. */
  constructor(directories: readonly string[], warn: (text: string) => void) {
    this.#directories = directories.filter((each, index) => directories.indexOf(each) === index);
    this.#warn = warn;
  }

  /** In the order in which they were attached; `ifname` is the default network's. What can't be read is warned of. */
  networks(containerId: string, ifname: string): readonly ScratchedNetwork[] {
    return this.#directories.flatMap((directory) => this.#read(`${directory}/${containerId}`, ifname));
  }

  has(containerId: string): boolean {
    return this.#directories.some((directory) => isFile(`${directory}/${containerId}`));
  }

  remove(containerId: string): void {
    for (const directory of this.#directories) {
      const path = `${directory}/${containerId}`;
      // Our own rooms stand beside it: a container may have the name of one.
      if (isFile(path)) removeFile(path);
    }
  }

  #read(path: string, ifname: string): readonly ScratchedNetwork[] {
    let text: string;
    try {
      if (!isFile(path)) return [];
      text = readRegularFile(path, scratchFile);
    } catch (error) {
      this.#warn(`what Multus kept is passed over: ${message(error)}`);
      return [];
    }
    const delegates = parseArray(text, { what: path });
    if (!delegates.ok) {
      this.#warn(`what Multus kept is passed over: ${delegates.fault.msg}`);
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
      this.#warn(`what Multus kept is passed over: ${list.fault.msg}`);
      return [];
    }
    // As Multus names them (MA-07): a request's, the runtime's for the first, else by position.
    const generated = index === 0 ? ifname : `net${index}`;
    return [{ list: list.value, ifname: textAt(value["ifnameRequest"]) || generated }];
  }
}

function textAt(value: unknown): string {
  return typeof value === "string" ? value : "";
}

/** A brain of little privilege may not even look there; then it is none of ours to take away. */
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
