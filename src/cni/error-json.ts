// Errors on stdout (CNI 1.1.0 section 5 "Error"): printing ours (L-59), and reading what a native plugin left behind (L-11).

import { type Fault, fault } from "../fault/fault.ts";
import { memberValue, parseDocument } from "../json/document.ts";
import { quote } from "../json/quote.ts";
import { CURRENT_VERSION } from "./versions.ts";

/** Longest excerpt of a plugin's output within a message, in UTF-16 units. */
const EXCERPT = 2048;

/** The error as JSON, in the version of the request where there is one. libcni's reader lacks cniVersion and doesn't mind it. */
export function printError(error: Fault, cniVersion: string = CURRENT_VERSION): string {
  const { code, msg, details } = error;
  return JSON.stringify({ cniVersion, code, msg, ...(details === undefined ? {} : { details }) });
}

/** How a plugin's process ended, in Go's words: "exit status 1", "signal: killed". */
export interface FailedProcess {
  readonly ended: string;
  readonly stdout: string;
  readonly stderr: string;
}

function failure(msg: string, own: { readonly code?: number; readonly details?: string } = {}): Fault {
  return fault("PLUGIN_FAILED", msg, own);
}

/**
 * The fault of a native plugin that ended with anything but success. Its own code, message and details where it printed
 * them; else what libcni says, word for word. stderr goes into the details, because libcni drops it there (L-11).
 */
export function readPluginFailure({ ended, stdout, stderr }: FailedProcess): Fault {
  if (stdout === "") {
    if (stderr === "") return failure(`netplugin failed with no error message: ${ended}`);
    return failure(`netplugin failed: ${quote(stderr, EXCERPT)}: ${ended}`);
  }
  const unreadable = (why: string): Fault =>
    failure(
      `netplugin failed but error parsing its diagnostic message ${quote(stdout, EXCERPT)}: ${why}`,
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
  const more = [details, stderr === "" ? "" : `stderr: ${quote(stderr, EXCERPT)}`].filter((part) => part !== "").join("\n");
  // Code 0 is no error code; a runtime that read it could take the failure for success.
  return failure(msg === "" ? `netplugin failed without a message: ${ended}` : msg, {
    ...(code === 0 ? {} : { code }),
    ...(more === "" ? {} : { details: more }),
  });
}

function shown(label: string, text: string): { readonly details?: string } {
  return text === "" ? {} : { details: label + quote(text, EXCERPT) };
}
