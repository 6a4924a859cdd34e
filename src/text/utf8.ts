// Decodes bytes from outside as text. JSON is UTF-8 (RFC 8259). Other bytes would change on their way through the chain, so they are
// refused.

import { fault } from "../fault/fault.ts";
import type { FaultKind } from "../fault/catalogue.ts";
import { failed, ok, type Result } from "../fault/result.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text; a fault of `kind` if the bytes are not UTF-8. `what` names the bytes in the fault. */
export function textOf(bytes: Uint8Array, what: string, kind: FaultKind = "CONFIG_NOT_JSON"): Result<string> {
  try {
    return ok(strict.decode(bytes));
  } catch {
    return failed(fault(kind, `${what} is not UTF-8 text`));
  }
}

/** The text, with U+FFFD for each invalid byte sequence. It is for reading only and must not be passed on. */
export function lenientText(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
