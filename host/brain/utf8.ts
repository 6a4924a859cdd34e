// Bytes from outside as text. JSON is UTF-8 (RFC 8259); what isn't would change on its way through the chain.

import { fault } from "../../src/fault/fault.ts";
import type { FaultKind } from "../../src/fault/catalogue.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The text; a fault of `kind` where the bytes are not UTF-8, `what` naming them. */
export function textOf(bytes: Uint8Array, what: string, kind: FaultKind = "CONFIG_NOT_JSON"): Result<string> {
  try {
    return ok(strict.decode(bytes));
  } catch {
    return failed(fault(kind, `${what} is not UTF-8 text`));
  }
}
