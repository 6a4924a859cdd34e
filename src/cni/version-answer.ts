// The VERSION verb, both sides: what Plexus answers (L-05, L-58), and how another plugin's answer is understood (L-13).

import { fault } from "../fault/fault.ts";
import { failed, ok, type Result } from "../fault/result.ts";
import { describeJson, memberValue, parseDocument } from "../json/document.ts";
import type { StepOutcome } from "./chain-step.ts";
import type { CniCall } from "./environment.ts";
import { CURRENT_VERSION, SUPPORTED_VERSIONS } from "./versions.ts";

/** The answer to VERSION; a delegate's is made with the versions that it declares. */
export function printVersionAnswer(supportedVersions: readonly string[] = SUPPORTED_VERSIONS): string {
  return JSON.stringify({ cniVersion: CURRENT_VERSION, supportedVersions });
}

/** stdin of a VERSION probe. */
export const VERSION_PROBE_STDIN = JSON.stringify({ cniVersion: CURRENT_VERSION });

/** Plugins built with an old skel want these variables set even for VERSION. */
export const VERSION_PROBE_CALL: Omit<CniCall, "netnsOverride"> = {
  verb: "VERSION",
  containerId: "",
  netns: "dummy",
  ifname: "dummy",
  args: "",
  path: "dummy",
};

/**
 * The versions that a plugin speaks, from how its VERSION step ended. A plugin of the time before VERSION says so in exactly
 * one way, and speaks 0.1.0. Faults: the plugin's, or RESULT_INVALID (6).
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
