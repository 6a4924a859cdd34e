// Public keys of the configuration: a PEM text, or the path of such a file.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { readRegularFile } from "../../store/files/regular-file.ts";
import { statsOf } from "../../store/files/stats-of.ts";

const maxKeyBytes = 16 * 1024;

/** The key's PEM text. Fault SIGNATURE_KEY_UNUSABLE. */
export function readKeyText(key: string, name: string): Result<string> {
  if (!key.startsWith("/")) return ok(key);
  try {
    return ok(readRegularFile(key, { maxBytes: maxKeyBytes, foreign: true }));
  } catch (error) {
    return failed(fault("SIGNATURE_KEY_UNUSABLE", `the key ${name}: ${error instanceof Error ? error.message : String(error)}`));
  }
}

/** Names the key's content: the text itself, or the identity of its file. */
export function keyIdentity(key: string): string {
  if (!key.startsWith("/")) return key;
  const stats = statsOf(key);
  return stats === undefined ? "" : `${key}:${stats.dev}:${stats.ino}:${stats.size}:${stats.mtimeMs}:${stats.ctimeMs}`;
}
