// The prepared claims of a node: one file for each, which the ADD of the claim's pods reads. The file's name says whose the claim is, so that the ADD of
// another pod reads no file: `UID.BOOT.POD-UID.json`, or `UID.BOOT.NAMESPACE.shared.json` for a claim that several pods may name.
//
// No write needs fsync, because an ADD reads files of this boot only, and a power loss tears files of earlier boots only. A kubelet that starts takes no claim
// for prepared (`ClaimInfo.prepared` is in its memory): it prepares the claims of a pod again before it makes the pod's sandbox.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { errnoOf } from "../../../host/store/files/errno.ts";
import { removeFile, removeTornWrites, storeFault, writeWhole } from "../../../host/store/files/durable-file.ts";
import { bootId } from "../../../host/system/boot-id.ts";
import { isUid, type PreparedClaim, printPreparedClaim, readPreparedClaim } from "../rules/prepared-claim.ts";

/** The boots whose files count: an ADD attaches what this boot prepared, and a DEL may end what an earlier boot did. */
export type Boots = "this boot" | "all boots";

/** The claims that may be a pod's. */
export interface Candidates {
  /** By name. */
  readonly claims: readonly PreparedClaim[];
  /** The uids of claims of several pods whose file of this boot is damaged. */
  readonly damaged: readonly string[];
}

/** The directory within a state directory. */
export function claimDirectory(stateDirectory: string): string {
  return join(stateDirectory, "claims");
}

/** Finds the claims of a pod. */
export interface ClaimCandidates {
  /** The claims that may be the pod's, as `ClaimStore.candidates` says. */
  candidates(namespace: string, podUid: string, boots: Boots): Result<Candidates>;
}

/** Writes and reads the files of one state directory. Faults: STORE_FAILED. */
export class ClaimStore implements ClaimCandidates {
  readonly #directory: string;

  constructor(stateDirectory: string) {
    this.#directory = claimDirectory(stateDirectory);
  }

  /** Writes the claim. The same content again writes nothing. Fault CLAIM_UNUSABLE for a uid that is no file's name. */
  write(claim: PreparedClaim): Result<void> {
    const [pod = ""] = claim.pods;
    if (!isUid(claim.uid) || (!claim.isShareable && !isUid(pod)))
      return failed(
        fault("CLAIM_UNUSABLE", `resource claim ${claim.namespace}/${claim.name}: its uid or its pod's uid is no uid`),
      );
    const name = `${claim.uid}.${bootName()}.${claim.isShareable ? sharedBy(claim.namespace) : pod}.json`;
    const path = join(this.#directory, name);
    const text = printPreparedClaim(claim);
    if (textAt(path) === text) return ok(undefined);
    const written = writeWhole(path, text);
    return written.ok ? this.#removeOf(claim.uid, name) : written;
  }

  /** Removes the claim's files; a claim that is not there counts as removed. */
  remove(uid: string): Result<void> {
    return this.#removeOf(uid);
  }

  /** Removes what writes of an earlier daemon have left. No write may run meanwhile. */
  removeTemporary(): void {
    removeTornWrites(this.#directory);
  }

  /** The uids of all claims that have a file. */
  uids(): Result<readonly string[]> {
    const names = this.#names();
    return names.ok ? ok(names.value.map((name) => partsOf(name).uid)) : names;
  }

  /** The claim of this uid; undefined if it is not prepared, or if a power loss has torn its file. */
  claim(uid: string): Result<PreparedClaim | undefined> {
    const names = this.#names();
    if (!names.ok) return names;
    const name = names.value.find((each) => partsOf(each).uid === uid);
    return name === undefined ? ok(undefined) : this.#read(name);
  }

  /** The other claims that this boot has prepared. A damaged file counts as none. */
  others(uid: string): Result<readonly PreparedClaim[]> {
    const names = this.#names();
    if (!names.ok) return names;
    const claims = names.value
      .filter((name) => partsOf(name).uid !== uid && partsOf(name).boot === bootName())
      .map((name) => this.#read(name));
    return ok(claims.flatMap((claim) => (claim.ok && claim.value !== undefined ? [claim.value] : [])));
  }

  /**
   * The claims that may be the pod's: those made for it, and those that several pods of its namespace may name. Fault CLAIM_UNUSABLE for a damaged claim that
   * is the pod's alone.
   */
  candidates(namespace: string, podUid: string, boots: Boots): Result<Candidates> {
    const names = this.#names();
    if (!names.ok) return names;
    const claims: PreparedClaim[] = [];
    const damaged: string[] = [];
    for (const name of names.value) {
      const { uid, boot, owner } = partsOf(name);
      if (owner !== podUid && owner !== sharedBy(namespace)) continue;
      if (boots === "this boot" && boot !== bootName()) continue;
      const claim = this.#read(name);
      if (claim.ok) {
        if (claim.value?.namespace === namespace) claims.push(claim.value);
      } else if (owner === podUid) {
        return claim;
      } else {
        damaged.push(uid);
      }
    }
    return ok({ claims: claims.toSorted((a, b) => (a.name < b.name ? -1 : 1)), damaged });
  }

  /** Removes the files of a claim, and what its writes have left, but not `kept`. */
  #removeOf(uid: string, kept?: string): Result<void> {
    const names = this.#entries();
    if (!names.ok) return names;
    for (const name of names.value) {
      const isOfClaim = name.startsWith(`${uid}.`) || name.startsWith(`.${uid}.`);
      if (!isOfClaim || name === kept) continue;
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

  /**
   * A claim that was unprepared meanwhile is undefined, and so is a torn file of an earlier boot. Fault CLAIM_UNUSABLE for another file that is no claim,
   * because the pod would start without its network.
   */
  #read(name: string): Result<PreparedClaim | undefined> {
    const path = join(this.#directory, name);
    try {
      const claim = readPreparedClaim(readFileSync(path, "utf8"));
      if (claim !== undefined || partsOf(name).boot !== bootName()) return ok(claim);
      return failed(
        fault("CLAIM_UNUSABLE", `${path} is no prepared claim; restart the kubelet, which prepares the pod's claims again`),
      );
    } catch (error) {
      return errnoOf(error) === "ENOENT" ? ok(undefined) : failed(storeFault("reading", path, error));
    }
  }
}

/** The boot in files' names. Without /proc all boots count as the same. */
function bootName(): string {
  const id = bootId();
  return id === "" ? "boot" : id;
}

/** The owner of a claim that several pods of a namespace may name, in files' names. */
function sharedBy(namespace: string): string {
  return `${namespace}.shared`;
}

/** The parts of a file's name. `owner`: a pod's uid, or `sharedBy`. */
function partsOf(name: string): { readonly uid: string; readonly boot: string; readonly owner: string } {
  const [uid = "", boot = "", ...owner] = name.replace(/\.json$/, "").split(".");
  return { uid, boot, owner: owner.join(".") };
}

function textAt(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}
