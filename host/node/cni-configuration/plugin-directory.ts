// The directory of plugins as plexusd sees it: whether a type is installed there, and whether the runtime would find the shim.

import { join } from "node:path";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { statsOf } from "../../store/files/stats-of.ts";

/** Whether the directory has an executable file of this name, as a runtime looks for a plugin. */
export function isInstalled(directory: string, type: string): boolean {
  if (type === "" || type === "." || type === ".." || /[/\0]/.test(type)) return false;
  const file = statsOf(join(directory, type));
  return file !== undefined && file.isFile() && (file.mode & 0o111) !== 0;
}

/** Looks for the shim under the type of the written configuration. */
export class ShimPresence {
  readonly #directory: string;
  #isRequired: boolean;

  /** `isRequired`: whether a shim that was never seen is missed, too. */
  constructor(directory: string, isRequired: boolean) {
    this.#directory = directory;
    this.#isRequired = isRequired;
  }

  /** SHIM_MISSING if each call of the runtime would fail; undefined: the shim is there, or may be in a directory that plexusd does not know. */
  missing(type: string): Fault | undefined {
    if (isInstalled(this.#directory, type)) {
      this.#isRequired = true;
      return undefined;
    }
    if (!this.#isRequired) return undefined;
    const path = join(this.#directory, type);
    const what = statsOf(path) === undefined ? "does not exist" : "is not an executable file";
    return fault("SHIM_MISSING", `${path} ${what}, so each pod would fail`);
  }
}
