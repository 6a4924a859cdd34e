// The leases of one directory during one operation, from the memory or read from the files.

import { readdirSync } from "node:fs";
import type { Fault } from "../../../src/fault/fault.ts";
import { type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { LeaseReader } from "./lease-file.ts";
import type { LeaseContents, LeaseMemory } from "./lease-memory.ts";
import { fromException } from "./store-fault.ts";

/** A lease by its file, which is named after its address. */
export interface LeaseName {
  readonly address: IpAddress;
  readonly name: string;
  readonly path: string;
}

/** The leases of one directory. It is made before the operation's first change. With a memory, the caller holds the directory's lock. */
export class LeaseView {
  readonly #path: string;
  readonly #memory: LeaseMemory | undefined;
  /** Undefined until the first use. */
  #contents: LeaseContents | undefined;
  #unreadable: Fault | undefined;

  constructor(path: string, memory?: LeaseMemory) {
    this.#path = path;
    this.#memory = memory;
    this.#contents = memory?.contents(path);
  }

  /** The fault of the first unreadable lease; undefined if all were readable. */
  get unreadable(): Fault | undefined {
    return this.#unreadable;
  }

  /** The leases whose content satisfies `predicate`. Throws the system's error if the directory is not readable. */
  select(predicate: (content: string) => boolean): LeaseName[] {
    this.#contents ??= this.#read();
    const found: LeaseName[] = [];
    for (const [name, content] of this.#contents) {
      const address = predicate(content) ? readAddress(name) : undefined;
      if (address !== undefined) found.push({ address, name, path: `${this.#path}/${name}` });
    }
    return found;
  }

  /** Notes a lease that the operation has made. */
  noteAdded(name: string, content: string): void {
    this.#contents?.set(name, content);
  }

  /** Notes a lease that the operation has removed. */
  noteRemoved(name: string): void {
    this.#contents?.delete(name);
  }

  /** Stores the leases in the memory for the next operation. Call it after the operation's last change. */
  remember(): void {
    if (this.#contents !== undefined && this.#unreadable === undefined) this.#memory?.note(this.#path, this.#contents);
  }

  #read(): LeaseContents {
    const reader = new LeaseReader();
    const contents: LeaseContents = new Map();
    for (const name of readdirSync(this.#path)) {
      if (readAddress(name) === undefined) continue;
      const path = `${this.#path}/${name}`;
      try {
        const content = reader.read(path);
        if (content !== undefined) contents.set(name, content);
      } catch (error) {
        this.#unreadable ??= fromException(path, error);
      }
    }
    return contents;
  }
}
