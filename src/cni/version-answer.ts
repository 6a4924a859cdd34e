// Both sides of the VERSION verb: Plexus' own answer (L-05, L-58), and the reader of another plugin's answer (L-13).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, memberValue, parseDocument } from "../json/document.ts";
import type { StepOutcome } from "./chain-step.ts";
import type { CniCall } from "./environment.ts";
import { CURRENT_VERSION, SUPPORTED_VERSIONS } from "./versions.ts";

/** The answer to VERSION; a delegate's answer has the versions that the delegate declares. */
export function printVersionAnswer(supportedVersions: readonly string[] = SUPPORTED_VERSIONS): string {
  return JSON.stringify({ cniVersion: CURRENT_VERSION, supportedVersions });
}

/** stdin of a VERSION probe. */
export const VERSION_PROBE_STDIN = JSON.stringify({ cniVersion: CURRENT_VERSION });

/** Plugins built with an old skel require these variables even for VERSION. */
export const VERSION_PROBE_CALL: Omit<CniCall, "netnsOverride"> = {
  verb: "VERSION",
  containerId: "",
  netns: "dummy",
  ifname: "dummy",
  args: "",
  path: "dummy",
};

/**
 * The versions that a plugin supports, from the outcome of its VERSION step. A plugin older than VERSION answers with one certain
 * error and supports 0.1.0. Faults: the plugin's, or RESULT_INVALID (6).
 */
export function readVersionAnswer(outcome: StepOutcome, what = "answer to VERSION"): Result<readonly string[]> {
  if (!outcome.ok) return outcome.fault.msg === "unknown CNI_COMMAND: VERSION" ? ok(["0.1.0"]) : failed(outcome.fault);
  const document = parseDocument(outcome.stdout, { what, kind: "RESULT_INVALID" });
  if (!document.ok) return document;
  const version = memberValue(document.value, "cniVersion") ?? "";
  if (typeof version !== "string" || version === "") {
    return failed(
      fault(
        "RESULT_INVALID",
        `${what}: cniVersion must be a version, but is ${version === "" ? "missing" : describeJson(version)}`,
      ),
    );
  }
  const supported = memberValue(document.value, "supportedVersions") ?? [];
  if (!Array.isArray(supported) || !supported.every((entry) => typeof entry === "string")) {
    return failed(fault("RESULT_INVALID", `${what}: supportedVersions must be a list of strings`));
  }
  if (supported.length > 0) return ok(supported);
  if (version === "0.2.0") return ok(["0.1.0", "0.2.0"]);
  return failed(fault("RESULT_INVALID", `${what}: supportedVersions is missing`));
}
