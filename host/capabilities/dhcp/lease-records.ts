// The leases of DHCP servers that attachments of this node hold: one file each, `<state directory>/dhcp/<network>/<container>@<ifname>.json`, durable, so that
// a daemon renews them after its restart and after the node's.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { checkNetworkName } from "../../../src/cni/attachment.ts";
import { type LeaseHolder, type LeaseRecord, leaseRecordText, readLeaseRecord } from "../../../src/dhcp/lease-record.ts";
import { ok, type Result } from "../../../src/fault/result.ts";
import { removeFile, writeDurably } from "../../store/files/durable-file.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";

const rules = { maxBytes: 65_536, foreign: false } as const;
/** Container IDs of the CNI specification. */
const containerIds = /^[a-zA-Z0-9][a-zA-Z0-9_.-]*$/;

/** The records in a state directory. */
export class LeaseRecords {
  readonly #directory: string;

  constructor(stateDirectory: string) {
    this.#directory = join(stateDirectory, "dhcp");
  }

  /** The lease of an attachment; undefined if it has none, or a damaged record. */
  find(holder: LeaseHolder): LeaseRecord | undefined {
    const path = this.#path(holder);
    const lease = path === undefined ? undefined : read(path);
    return lease !== undefined && isOf(lease, holder) ? lease : undefined;
  }

  /** Writes a lease. Fault STORE_FAILED. */
  keep(lease: LeaseRecord): Result<void> {
    const path = this.#path(lease);
    return path === undefined ? ok(undefined) : writeDurably(path, leaseRecordText(lease));
  }

  /** Forgets a lease. Succeeds also without one. Fault STORE_FAILED. */
  forget(holder: LeaseHolder): Result<void> {
    const path = this.#path(holder);
    return path === undefined ? ok(undefined) : removeFile(path);
  }

  /** The leases of one network, or of all. */
  all(network?: string): readonly LeaseRecord[] {
    const networks = network === undefined ? namesIn(this.#directory) : [network];
    return networks
      .filter((name) => checkNetworkName(name).ok)
      .flatMap((name) => namesIn(join(this.#directory, name)).map((file) => join(this.#directory, name, file)))
      .filter((path) => path.endsWith(".json"))
      .flatMap((path) => read(path) ?? []);
  }

  #path({ network, containerId, ifname }: LeaseHolder): string | undefined {
    const isSafe = checkNetworkName(network).ok && containerIds.test(containerId) && ifname !== "" && !ifname.includes("/");
    // A container's ID has no `@`, so that no two attachments have one file.
    return isSafe ? join(this.#directory, network, `${containerId}@${ifname}.json`) : undefined;
  }
}

function isOf(lease: LeaseRecord, { network, containerId, ifname }: LeaseHolder): boolean {
  return lease.network === network && lease.containerId === containerId && lease.ifname === ifname;
}

function read(path: string): LeaseRecord | undefined {
  try {
    return readLeaseRecord(readRegularFile(path, rules));
  } catch {
    return undefined;
  }
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory);
  } catch {
    return []; // none yet
  }
}
