// One step of Plexus' removal from this node, by its daemon.

import { isJsonObject, parseDocument } from "../../../src/json/document.ts";
import { heldQuery, type RemovalReport, type RemovalStep } from "../../node/uninstall/removal-report.ts";
import { askDaemon } from "../../node/command-line/ask-daemon.ts";

/** Time limit of one question, in ms. */
const timeoutMs = 30_000;

/** The answer of a daemon of a release without removal. Such a daemon runs and serves pods: a caller must not take it for a daemon that is silent. */
export const otherRelease = "the daemon knows no removal: plexusctl and the daemon must be of one release";

/** Asks the daemon for the step. Answers its report, or the reason why there is none. `held`: see `Removal.step`. */
export async function takeRemovalStep(socketPath: string, step: RemovalStep, held: boolean): Promise<RemovalReport | string> {
  const path = `/removal?${step}${held ? heldQuery : ""}`;
  const answer = await askDaemon({ socketPath, method: "POST", path, timeoutMs });
  if ("why" in answer) {
    if (/ 40[45]$/u.test(answer.why)) return otherRelease;
    const writesNone = answer.why.endsWith(" 409");
    return writesNone ? "it writes no network configuration; use plexusctl uninstall without --wait" : answer.why;
  }
  const document = parseDocument(answer.body, { what: "the daemon's answer" });
  const report = document.ok ? document.value.parsed : undefined;
  return isReport(report) ? report : "its answer has an unknown form: plexusctl and the daemon must be of one release";
}

function isReport(value: unknown): value is RemovalReport {
  return (
    isJsonObject(value) &&
    typeof value["standing"] === "string" &&
    typeof value["calls"] === "number" &&
    typeof value["defaultOnly"] === "number" &&
    Array.isArray(value["pods"]) &&
    Array.isArray(value["problems"])
  );
}
