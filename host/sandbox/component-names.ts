// Under which name what is known of a component is kept: by its bytes, so that a copy, a second path or a new date make nothing new.

import { hash } from "node:crypto";

/** A component as the hands found it. */
export interface FoundComponent {
  readonly path: string;
  /** `dev:ino:size:mtime-ns:ctime-ns` (host/hands/PROTOCOL.md). */
  readonly identity: string;
}

/** Clocks of file systems go in steps; a file may change again within the one in which it was read. */
const coarsestStepMs = 2_000;

const mostFiles = 256;

/** Remembers which bytes a file had: a file that is what it was needs no reading. */
export class ComponentNames {
  readonly #digests = new Map<string, string>();

  /** The name of what this file holds; undefined where it has to be read. */
  known({ path, identity }: FoundComponent): string | undefined {
    return this.#digests.get(`${path}:${identity}`);
  }

  /** The name of `bytes`, which were read from the file after it had this identity. */
  learn({ path, identity }: FoundComponent, bytes: Uint8Array): string {
    const digest = nameOf(bytes);
    if (!isSettled(identity)) return digest;
    const [oldest] = this.#digests.keys();
    if (this.#digests.size >= mostFiles && oldest !== undefined) this.#digests.delete(oldest);
    this.#digests.set(`${path}:${identity}`, digest);
    return digest;
  }
}

/** The name of these bytes. */
export function nameOf(bytes: Uint8Array): string {
  return `sha256:${hash("sha256", bytes, "hex")}`;
}

/** A change after this moment shows in the identity. One without a time of change is never relied on. */
function isSettled(identity: string): boolean {
  const changedNs = Number(identity.split(":")[4] ?? Number.NaN);
  return Date.now() - changedNs / 1e6 > coarsestStepMs;
}
