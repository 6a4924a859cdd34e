// The prepared claims of a node: one durable file for each, which the ADD of the claim's pods reads. The file's name says whose the claim is, so that
// the ADD of another pod reads no file: `UID.POD-UID.json`, or `UID.NAMESPACE.shared.json` for a claim that several pods may name.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { errnoOf } from "../../../host/store/files/errno.ts";
import { removeFile, storeFault } from "../../../host/store/files/durable-file.ts";
import { replaceDurably } from "../../../host/store/files/replace-durably.ts";
import { type PreparedClaim, printPreparedClaim, readPreparedClaim } from "../rules/prepared-claim.ts";

/** A uid of Kubernetes; it becomes a file's name. */
const uidForm = /^[0-9A-Za-z-]{1,64}$/;

/** The directory within a state directory. */
export function claimDirectory(stateDirectory: string): string {
  return join(stateDirectory, "claims");
}

/** Writes and reads the files of one state directory. Faults: STORE_FAILED. */
export class ClaimStore {
  readonly #directory: string;

  constructor(stateDirectory: string) {
    this.#directory = claimDirectory(stateDirectory);
  }

  /** Writes the claim, durably. The same content again writes nothing. Fault CLAIM_UNUSABLE for a uid that is no file's name. */
  async write(claim: PreparedClaim): Promise<Result<void>> {
    const [pod = ""] = claim.pods;
    const suffix = claim.isShareable ? `${claim.namespace}.shared` : pod;
    if (!uidForm.test(claim.uid) || (!claim.isShareable && !uidForm.test(pod)))
      return failed(
        fault("CLAIM_UNUSABLE", `resource claim ${claim.namespace}/${claim.name}: its uid or its pod's uid is no uid`),
      );
    const path = join(this.#directory, `${claim.uid}.${suffix}.json`);
    const text = printPreparedClaim(claim);
    if (textAt(path) === text) return ok(undefined);
    return replaceDurably(path, text);
  }

  /** Removes the claim; a claim that is not there counts as removed. */
  remove(uid: string): Result<void> {
    const names = this.#names();
    if (!names.ok) return names;
    for (const name of names.value) {
      if (!name.startsWith(`${uid}.`)) continue;
      const removed = removeFile(join(this.#directory, name));
      if (!removed.ok) return removed;
    }
    return this.#removeTemporary((name) => name.startsWith(`.${uid}.`));
  }

  /** Removes what writes of an earlier daemon have left. No write may run meanwhile. */
  removeTemporary(): Result<void> {
    return this.#removeTemporary(() => true);
  }

  /** The uids of all prepared claims. */
  uids(): Result<readonly string[]> {
    const names = this.#names();
    return names.ok ? ok(names.value.map((name) => name.split(".")[0] ?? "")) : names;
  }

  /** The claim of this uid; undefined if it is not prepared. */
  claim(uid: string): Result<PreparedClaim | undefined> {
    const names = this.#names();
    if (!names.ok) return names;
    const name = names.value.find((each) => each.startsWith(`${uid}.`));
    return name === undefined ? ok(undefined) : this.#read(name);
  }

  /** The claims that may be the pod's: those made for it, and those that several pods of its namespace may name. By name. */
  candidates(namespace: string, podUid: string): Result<readonly PreparedClaim[]> {
    const names = this.#names();
    if (!names.ok) return names;
    const claims: PreparedClaim[] = [];
    for (const name of names.value) {
      if (!name.endsWith(`.${podUid}.json`) && !name.endsWith(`.${namespace}.shared.json`)) continue;
      const claim = this.#read(name);
      if (!claim.ok) return claim;
      if (claim.value?.namespace === namespace) claims.push(claim.value);
    }
    return ok(claims.toSorted((a, b) => (a.name < b.name ? -1 : 1)));
  }

  #removeTemporary(isIt: (name: string) => boolean): Result<void> {
    const names = this.#entries();
    if (!names.ok) return names;
    for (const name of names.value) {
      if (!name.startsWith(".") || !isIt(name)) continue;
      const removed = removeFile(join(this.#directory, name));
      if (!removed.ok) return removed;
    }
    return ok(undefined);
  }

  #names(): Result<readonly string[]> {
    const names = this.#entries();
    return names.ok ? ok(names.value.filter((name) => name.endsWith(".json") && !name.startsWith("."))) : names;
  }

  #entries(): Result<readonly string[]> {
    try {
      return ok(readdirSync(this.#directory));
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok([]) : failed(storeFault("reading", this.#directory, error));
    }
  }

  /** A claim that was unprepared meanwhile is undefined. Fault CLAIM_UNUSABLE for another file, because the pod would start without its network. */
  #read(name: string): Result<PreparedClaim | undefined> {
    const path = join(this.#directory, name);
    try {
      const claim = readPreparedClaim(readFileSync(path, "utf8"));
      if (claim !== undefined) return ok(claim);
      return failed(
        fault("CLAIM_UNUSABLE", `${path} is no prepared claim; restart the kubelet, which prepares the pod's claims again`),
      );
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(storeFault("reading", path, error));
    }
  }
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
