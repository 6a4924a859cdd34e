// Names a component by a hash of its bytes. A copy, a second path or a new timestamp of the same component keeps the name.

import { hash } from "node:crypto";
import type { ComponentFile } from "./component-file.ts";
import type { Clock } from "../system/clock.ts";

/** Granularity of file timestamps: a file may change again with the timestamp that it had when it was read. */
const maxGranularityMs = 2_000;

const maxFiles = 256;

/** Remembers the name of each file's content, so that an unchanged file is not read again. */
export class ComponentNames {
  readonly #digests = new Map<string, string>();
  readonly #date: Clock["date"];

  constructor({ date }: Clock) {
    this.#date = date;
  }

  /** The name of the file's content; undefined if the file must be read first. */
  known({ path, identity }: ComponentFile): string | undefined {
    return this.#digests.get(`${path}:${identity}`);
  }

  /** The name of `bytes`, which were read from the file after it had this identity. */
  learn({ path, identity }: ComponentFile, bytes: Uint8Array): string {
    const digest = nameOf(bytes);
    if (!isSettled(identity, this.#date().getTime())) return digest;
    const [oldest] = this.#digests.keys();
    if (this.#digests.size >= maxFiles && oldest !== undefined) this.#digests.delete(oldest);
    this.#digests.set(`${path}:${identity}`, digest);
    return digest;
  }
}

/** The name of a component with these bytes: `sha256:` and the digest in hexadecimal. */
export function nameOf(bytes: Uint8Array): string {
  return `sha256:${hash("sha256", bytes, "hex")}`;
}

/** Whether a later change of the file changes its identity. An identity without a change time is never settled. */
function isSettled(identity: string, nowMs: number): boolean {
  const changedNs = Number(identity.split(":")[4] ?? Number.NaN);
  return nowMs - changedNs / 1e6 > maxGranularityMs;
}
