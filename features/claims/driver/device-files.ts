// Files about a claim's exclusive devices, which Prepare writes after the claim's own file and Unprepare removes before it: a killed daemon leaves none that
// the claim's file does not name.

import { chmodSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { devicePluginFile } from "../../../src/npwg/device-info.ts";
import { storeFault } from "../../../host/store/files/durable-file.ts";
import { makeDirectory } from "../../../host/store/files/make-directory.ts";
import { cdiFile, cdiSpecification, type ExclusiveDevice, exclusiveDevices, pciDeviceInfo } from "../rules/device-files.ts";
import type { PreparedClaim } from "../rules/prepared-claim.ts";

interface File {
  readonly path: string;
  readonly content: object;
}

/** The files of one node. Faults: STORE_FAILED. */
export class DeviceFiles {
  /** The runtime's directory of CDI specifications; undefined: none are written. */
  readonly #cdiDirectory: string | undefined;
  readonly #root: string;

  /** `root`: the root of the node's file system, for tests. */
  constructor(cdiDirectory?: string, root = "/") {
    this.#cdiDirectory = cdiDirectory;
    this.#root = root;
  }

  /** Whether containers get their devices' addresses by CDI. */
  get hasCdi(): boolean {
    return this.#cdiDirectory !== undefined;
  }

  /** Writes the files. Programs of other users read them. */
  write(claim: PreparedClaim): Result<void> {
    const devices = exclusiveDevices(claim);
    const specification = devices.length === 0 ? [] : this.#specificationOf(claim.uid, devices);
    for (const { path, content } of [...this.#informationOf(claim), ...specification]) {
      try {
        makeDirectory(dirname(path), 0o755);
        writeFileSync(temporaryOf(path), `${JSON.stringify(content)}\n`);
        // The umask may have taken the right to read from other users.
        chmodSync(temporaryOf(path), 0o644);
        renameSync(temporaryOf(path), path);
      } catch (error) {
        return failed(storeFault("writing", path, error));
      }
    }
    return ok(undefined);
  }

  /**
   * Removes the files; those that are not there count as removed. `claim` is undefined if its own file is lost or torn: device information, whose name only
   * the claim has, lies in a directory of one boot. Information about a device of `others` stays: after a forced deletion the scheduler gives the device to
   * another claim, which may be prepared before the earlier one is unprepared.
   */
  remove(uid: string, claim: PreparedClaim | undefined, others: readonly PreparedClaim[]): Result<void> {
    const kept = new Set(others.flatMap((each) => this.#informationOf(each)).map(({ path }) => path));
    const information = claim === undefined ? [] : this.#informationOf(claim).filter(({ path }) => !kept.has(path));
    for (const { path } of [...information, ...this.#specificationOf(uid, [])]) {
      try {
        for (const each of [temporaryOf(path), path]) rmSync(each, { force: true });
      } catch (error) {
        return failed(storeFault("removing", path, error));
      }
    }
    return ok(undefined);
  }

  #informationOf(claim: PreparedClaim): readonly File[] {
    return exclusiveDevices(claim).flatMap(({ pciAddress, resourceName }) =>
      resourceName === undefined
        ? []
        : [{ path: join(this.#root, devicePluginFile(resourceName, pciAddress)), content: pciDeviceInfo(pciAddress) }],
    );
  }

  #specificationOf(uid: string, devices: readonly ExclusiveDevice[]): readonly File[] {
    return this.#cdiDirectory === undefined
      ? []
      : [{ path: join(this.#cdiDirectory, cdiFile(uid)), content: cdiSpecification(uid, devices) }];
  }
}

/** CDI reads files that end in `.json` or `.yaml` only. */
function temporaryOf(path: string): string {
  return `${path}.tmp`;
}
