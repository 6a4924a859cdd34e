// Programs of the machine that some tests need, with what stays untested without each.

import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";

/** One program that the tests use and that a machine may lack. */
export interface OptionalProgram {
  readonly name: string;
  /** The behaviour that no test covers on a machine without the program. */
  readonly untested: string;
  /** How to get the program. */
  readonly get: string;
}

export const optionalPrograms: readonly OptionalProgram[] = [
  {
    name: "go",
    untested: "a real API server (test/api), helm, comparisons with libcni, Multus and whereabouts",
    get: "install Go 1.25 or newer (https://go.dev/dl)",
  },
  { name: "strace", untested: "crashes at each system call", get: "apt-get install strace" },
  { name: "clang", untested: "fuzzing of the shim (test/hostile/fuzz)", get: "apt-get install clang" },
  { name: "nft", untested: "firewall rules as nft(8) reads them", get: "apt-get install nftables" },
  { name: "openssl", untested: "servers with certificates: the Kubernetes API, registries", get: "apt-get install openssl" },
];

/** The programs that no directory of `path` has. */
export function absentPrograms(path: string): readonly OptionalProgram[] {
  const directories = path.split(delimiter).filter((directory) => directory !== "");
  return optionalPrograms.filter(({ name }) => !directories.some((directory) => isExecutable(join(directory, name))));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
