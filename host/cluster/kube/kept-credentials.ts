// Credentials of a daemon: read again when one of their files has changed, so that every call has the current ones (MC-14) and no
// call pays for reading them.

import { type BigIntStats, statSync } from "node:fs";
import { ok, type Result } from "../../../src/fault/result.ts";
import type { Clock } from "../../system/clock.ts";
import { identityOf, isSettled } from "../../store/files/file-identity.ts";
import {
  type Credentials,
  type CredentialSource,
  kubeconfigCredentials,
  type NoteFile,
  serviceAccountCredentials,
} from "./credentials.ts";

interface Known {
  readonly credentials: Credentials;
  /** Identities of the credentials' files, by path. */
  readonly files: ReadonlyMap<string, string>;
  /** False: a later change may leave the identities unchanged. */
  readonly settled: boolean;
}

/** The credentials of a kubeconfig, kept. */
export function keptCredentials(
  path: string,
  rules: { readonly allowInsecure: boolean },
  warn: (text: string) => void,
  clock: Clock,
): CredentialSource {
  return kept((note) => kubeconfigCredentials(path, { ...rules, note }), warn, clock);
}

/** The credentials of a pod's service account, kept. The kubelet replaces the token's file before the token ends. */
export function keptServiceAccount(
  directory: string,
  server: string,
  warn: (text: string) => void,
  clock: Clock,
): CredentialSource {
  return kept((note) => serviceAccountCredentials(directory, server, note), warn, clock);
}

/**
 * Answers the same object while no file has changed. If a file is missing or being rewritten, the previous credentials stay in
 * force; `warn` is called once for each reason.
 */
function kept(open: (note: NoteFile) => CredentialSource, warn: (text: string) => void, { date }: Clock): CredentialSource {
  let known: Known | undefined;
  let lastWarning = "";
  return async () => {
    if (known?.settled === true && isUnchanged(known.files)) return ok(known.credentials);
    const seen = new Map<string, BigIntStats>();
    const readAt = date().getTime();
    const source = open((file, stats) => void seen.set(file, stats));
    const read: Result<Credentials> = await source();
    if (!read.ok) {
      if (known === undefined) return read;
      if (lastWarning !== read.fault.msg) warn(`the previously read credentials stay in use: ${read.fault.msg}`);
      lastWarning = read.fault.msg;
      return ok(known.credentials);
    }
    lastWarning = "";
    const same = known !== undefined && JSON.stringify(known.credentials) === JSON.stringify(read.value);
    known = {
      credentials: same && known !== undefined ? known.credentials : read.value,
      files: new Map([...seen].map(([file, stats]) => [file, identityOf(stats)])),
      settled: [...seen.values()].every((stats) => isSettled(stats, readAt)),
    };
    return ok(known.credentials);
  };
}

function isUnchanged(files: Known["files"]): boolean {
  for (const [path, identity] of files) {
    try {
      const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
      if (stats === undefined || identityOf(stats) !== identity) return false;
    } catch {
      return false;
    }
  }
  return true;
}
