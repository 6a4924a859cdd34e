// Addresses that another host was found to have (announce.probe): the capability `leases` gives them to no pod for an hour. One file for each address,
// `<state directory>/conflicts/<network>/<address>`, so that a daemon and one-shot engines need no lock. A lost file costs a further probe.

import { readdirSync, rmdirSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { checkNetworkName } from "../../../src/cni/attachment.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { type IpAddress, readAddress } from "../../../src/net/ip.ts";
import { storeFault } from "../../store/files/durable-file.ts";
import { makeDirectory } from "../../store/files/make-directory.ts";
import { writeShared } from "../../store/files/shared-file.ts";

/** The memory of taken addresses. */
export interface TakenAddresses {
  /** The addresses of a network that another host had within the last hour. */
  readonly of: (network: string) => readonly IpAddress[];
  /** Notes that another host has an address. Fault STORE_FAILED. */
  readonly note: (network: string, address: string, mac: string) => Result<void>;
}

const maxAgeMs = 3_600_000;
/** Maximum addresses of one network: a host that answers to every probe must not fill the disk. Further ones are not noted. */
const maxAddresses = 256;

/** The memory in a state directory. `date`: the time of day. */
export function takenAddressesIn(stateDirectory: string, date: () => Date): TakenAddresses {
  const all = join(stateDirectory, "conflicts");
  const directoryOf = (network: string): string | undefined => (checkNetworkName(network).ok ? join(all, network) : undefined);
  return {
    of: (network) => {
      const directory = directoryOf(network);
      return directory === undefined ? [] : freshIn(directory, date().getTime());
    },
    note: (network, address, mac) => {
      const directory = directoryOf(network);
      if (directory === undefined || readAddress(address) === undefined) return ok(undefined);
      if (freshIn(directory, date().getTime()).length >= maxAddresses) return ok(undefined);
      try {
        if (makeDirectory(directory)) forgetOld(all, network, date().getTime());
      } catch (error) {
        return failed(storeFault("making", directory, error));
      }
      return writeShared(join(directory, address), `${mac}\n`, false);
    },
  };
}

/** Removes the directories of other networks without a note of the last hour: networks come and go for as long as a node lives. */
function forgetOld(all: string, network: string, nowMs: number): void {
  for (const name of namesIn(all)) {
    const directory = join(all, name);
    if (name === network || freshIn(directory, nowMs).length > 0) continue;
    try {
      rmdirSync(directory);
    } catch {
      // Another process has just written a note, or something else is there.
    }
  }
}

/** The addresses whose file is younger than an hour; older files are removed. A file from the future is as old as its clock's mistake, so it goes, too. */
function freshIn(directory: string, nowMs: number): readonly IpAddress[] {
  const fresh: IpAddress[] = [];
  for (const name of namesIn(directory)) {
    const address = readAddress(name);
    if (address === undefined) continue;
    const path = join(directory, name);
    const ageMs = nowMs - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    if (Math.abs(ageMs) < maxAgeMs) fresh.push(address);
    else rmSync(path, { force: true });
  }
  return fresh;
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // none yet
  }
}
