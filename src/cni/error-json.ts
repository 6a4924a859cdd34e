// Errors on stdout (CNI 1.1.0 section 5 "Error"): prints Plexus' own (L-59) and reads a failed native plugin's (L-11).

import { type Fault, fault } from "../fault/fault.ts";
import { memberValue, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { CURRENT_VERSION } from "./versions.ts";

/** Maximum length of an excerpt of a plugin's output in a message, in UTF-16 units. */
const MAX_EXCERPT = 2048;

/** The error as JSON, in the request's version if known. libcni's error type has no cniVersion and ignores it. */
export function printError(error: Fault, cniVersion: string = CURRENT_VERSION): string {
  const { code, msg, details } = error;
  return JSON.stringify({ cniVersion, code, msg, ...(details === undefined ? {} : { details }) });
}

/** A plugin's process that did not succeed. `ended` is in Go's wording: "exit status 1", "signal: killed". */
export interface FailedProcess {
  readonly ended: string;
  readonly stdout: string;
  readonly stderr: string;
}

function failure(msg: string, extra: { readonly code?: number; readonly details?: string } = {}): Fault {
  return fault("PLUGIN_FAILED", msg, extra);
}

/**
 * The fault of a native plugin that did not succeed: its own code, message and details if it printed them, else libcni's message,
 * literally. stderr goes into the details, because libcni drops it (L-11).
 */
export function readPluginFailure({ ended, stdout, stderr }: FailedProcess): Fault {
  if (stdout === "") {
    if (stderr === "") return failure(`netplugin failed with no error message: ${ended}`);
    return failure(`netplugin failed: ${quote(stderr, MAX_EXCERPT)}: ${ended}`);
  }
  const unreadable = (why: string): Fault =>
    failure(
      `netplugin failed but error parsing its diagnostic message ${quote(stdout, MAX_EXCERPT)}: ${why}`,
      shown("stderr: ", stderr),
    );
  const document = parseDocument(stdout, { what: "its stdout" });
  if (!document.ok) return unreadable(document.fault.msg);
  const code = memberValue(document.value, "code") ?? 0;
  const msg = memberValue(document.value, "msg") ?? "";
  const details = memberValue(document.value, "details") ?? "";
  if (typeof code !== "number" || !Number.isSafeInteger(code) || code < 0)
    return unreadable("code must be an integer of 0 or more");
  if (typeof msg !== "string" || typeof details !== "string") return unreadable("msg and details must be strings");
  const more = [details, stderr === "" ? "" : `stderr: ${quote(stderr, MAX_EXCERPT)}`].filter((part) => part !== "").join("\n");
  // Code 0 is not an error code: a runtime could take the failure for success.
  return failure(msg === "" ? `netplugin failed without a message: ${ended}` : msg, {
    ...(code === 0 ? {} : { code }),
    ...(more === "" ? {} : { details: more }),
  });
}

function shown(label: string, text: string): { readonly details?: string } {
  return text === "" ? {} : { details: label + quote(text, MAX_EXCERPT) };
}
