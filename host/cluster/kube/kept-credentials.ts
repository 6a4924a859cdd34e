// Credentials as a resident brain keeps them: read again when one of their files has changed, so that every call has the current ones
// (MC-14) and none pays for reading them.

import { type BigIntStats, statSync } from "node:fs";
import { ok, type Result } from "../../src/fault/result.ts";
import { identityOf, isSettled } from "../files/file-identity.ts";
import { type Credentials, type CredentialSource, kubeconfigCredentials } from "./credentials.ts";

interface Known {
  readonly credentials: Credentials;
  /** Identities of the files that they are from, by path. */
  readonly files: ReadonlyMap<string, string>;
  /** False: a change since might not show in them. */
  readonly settled: boolean;
}

/**
 * Answers the same object as long as no file has changed. A file that is being rewritten, or is gone, leaves the credentials
 * that were read before in force, and `warn` is told, once for each reason.
 */
export function keptCredentials(
  path: string,
  rules: { readonly allowInsecure: boolean },
  warn: (text: string) => void,
): CredentialSource {
  let known: Known | undefined;
  let told = "";
  return async () => {
    if (known?.settled === true && isUnchanged(known.files)) return ok(known.credentials);
    const seen = new Map<string, BigIntStats>();
    const readAt = Date.now();
    const source = kubeconfigCredentials(path, { ...rules, note: (file, stats) => void seen.set(file, stats) });
    const read: Result<Credentials> = await source();
    if (!read.ok) {
      if (known === undefined) return read;
      if (told !== read.fault.msg) warn(`going on with the credentials that were read before: ${read.fault.msg}`);
      told = read.fault.msg;
      return ok(known.credentials);
    }
    told = "";
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
