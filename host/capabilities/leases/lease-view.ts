// The leases of one directory as one operation sees them: read from their files, or remembered.

import { readdirSync } from "node:fs";
import type { Fault } from "../../src/fault/fault.ts";
import { type IpAddress, readAddress } from "../../src/net/ip.ts";
import { LeaseReader } from "./lease-file.ts";
import type { LeaseContents, LeaseMemory } from "./lease-memory.ts";
import { fromException } from "./store-fault.ts";

/** A lease by its file, which is named after its address. */
export interface LeaseName {
  readonly address: IpAddress;
  readonly name: string;
  readonly path: string;
}

/** Begun before the operation's first change; with a memory, only under the directory's lock. */
export class LeaseView {
  readonly #path: string;
  readonly #memory: LeaseMemory | undefined;
  /** Undefined until they are wanted. */
  #contents: LeaseContents | undefined;
  #unreadable: Fault | undefined;

  constructor(path: string, memory?: LeaseMemory) {
    this.#path = path;
    this.#memory = memory;
    this.#contents = memory?.contents(path);
  }

  /** Why the first of the leases that can't be read can't be. */
  get unreadable(): Fault | undefined {
    return this.#unreadable;
  }

  /** The leases whose content is wanted. Throws where the directory can't be read. */
  select(wanted: (content: string) => boolean): LeaseName[] {
    this.#contents ??= this.#read();
    const found: LeaseName[] = [];
    for (const [name, content] of this.#contents) {
      const address = wanted(content) ? readAddress(name) : undefined;
      if (address !== undefined) found.push({ address, name, path: `${this.#path}/${name}` });
    }
    return found;
  }

  added(name: string, content: string): void {
    this.#contents?.set(name, content);
  }

  removed(name: string): void {
    this.#contents?.delete(name);
  }

  /** For the next operation, after this one's last change. */
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
