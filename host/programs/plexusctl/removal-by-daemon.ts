// plexusctl uninstall --wait: takes Plexus out of the path of new pods, waits for the pods that need it, and then lets the daemon remove its
// network configuration. Where no daemon answers, the command removes that configuration itself.

import { inertLine } from "../../../src/text/inert-text.ts";
import { removeMarkedFiles } from "../../node/cni-configuration/remove-marked-files.ts";
import type { RemovalReport } from "../../node/uninstall/removal-report.ts";
import { systemClock } from "../../system/clock.ts";
import { otherRelease, takeRemovalStep } from "./take-removal-step.ts";

/** Interval in ms of the requests to the daemon while the command waits for pods, and while it only holds a finished removal. */
const pollMs = 1000;
const holdMs = 5000;
/** Milliseconds without a pod that needs Plexus before the configuration is removed: a runtime may just be starting an ADD. */
const quietMs = 5000;
/** After this time without an answer no daemon runs. A new container of the daemon is ready within it, in ms. */
const maxSilenceMs = 20_000;
/** Maximum length of a line, in UTF-16 units, and maximum pods in it. */
const maxLine = 2048;
const maxNames = 10;

/** The outcome of the command: the daemon's last report, and whether pods remain because the time was over. */
export interface RemovalOutcome extends RemovalReport {
  readonly timedOut: boolean;
  /** Why no daemon took part; null: one did. The pods are then unknown. */
  readonly withoutDaemon: string | null;
}

/**
 * Takes Plexus out of the path of new pods, and waits for its pods. Answers the last report, or the reason why there is none. stderr gets a
 * line when the awaited pods change. `timeoutMs`: how long to wait for pods, in ms. `held`: whether the removal ends when this command, or
 * another one like it, no longer requests it. `configDirectory`: the runtime's directory, from which the configuration is removed if no
 * daemon answers; undefined: the command then fails.
 */
export async function removeThroughDaemon(
  socketPath: string,
  timeoutMs: number,
  held: boolean,
  configDirectory: string | undefined,
): Promise<RemovalOutcome | string> {
  const end = systemClock.now() + timeoutMs;
  const silence = new Silence();
  let quietSince: number | undefined;
  for (;;) {
    const report = await takeRemovalStep(socketPath, "begin", held);
    const now = systemClock.now();
    if (typeof report === "string") {
      if (configDirectory === undefined || (report === otherRelease && now >= end)) return report;
      if (report === otherRelease) silence.end();
      if (silence.lastsAt(now)) return removeWithoutDaemon(configDirectory, report);
      say(`no report of the daemon: ${report}`);
      quietSince = undefined;
    } else {
      silence.end();
      // An earlier command has finished the removal.
      if (report.standing === "withdrawn") return { ...report, timedOut: false, withoutDaemon: null };
      const isQuiet = report.pods.length === 0 && report.problems.length === 0 && report.calls === 0;
      quietSince = isQuiet ? (quietSince ?? now) : undefined;
      if (now >= end || (quietSince !== undefined && now - quietSince >= quietMs)) {
        const finished = await takeRemovalStep(socketPath, "finish", held);
        if (typeof finished !== "string") return { ...finished, timedOut: !isQuiet, withoutDaemon: null };
        if (configDirectory === undefined) return finished;
      } else if (!isQuiet) say(waitLine(report));
    }
    await pause(pollMs);
  }
}

/**
 * Repeats the request for a finished removal until the process is killed. Without the requests new pods would get their networks again.
 * `configDirectory`: as for `removeThroughDaemon`.
 */
export async function holdRemoval(socketPath: string, configDirectory: string | undefined): Promise<never> {
  const silence = new Silence();
  for (;;) {
    const report = await takeRemovalStep(socketPath, "finish", true);
    if (typeof report !== "string" || report === otherRelease) silence.end();
    else if (silence.lastsAt(systemClock.now()) && configDirectory !== undefined) {
      // A daemon that crashes again and again may write the file in between.
      const { removed, problems } = await removeMarkedFiles(configDirectory);
      if (removed.length + problems.length > 0) say([...removed.map((path) => `${path}: removed`), ...problems].join("; "));
    }
    await pause(holdMs);
  }
}

/** Ends a removal: new pods get their networks again. */
export async function cancelRemoval(socketPath: string): Promise<RemovalOutcome | string> {
  const report = await takeRemovalStep(socketPath, "cancel", false);
  return typeof report === "string" ? report : { ...report, timedOut: false, withoutDaemon: null };
}

/** Whether the administrator still has something to do. */
export function removalNeedsAttention({ timedOut, problems }: RemovalOutcome): boolean {
  return timedOut || problems.length > 0;
}

/** The last report as text. */
export function removalText({ configuration, standing, pods, problems, withoutDaemon }: RemovalOutcome): string {
  const rest = pods.map(
    ({ pod, networks }) => `Remains: ${pod} has ${networks.join(", ")}; a DEL without Plexus does not undo them`,
  );
  const file = configuration === "" ? "Plexus' configuration" : configuration;
  const unknown = `Remains: unknown, because no daemon answers (${withoutDaemon}): pods may have networks of Plexus`;
  const ends: Readonly<Record<RemovalOutcome["standing"], string>> = {
    "in-force": `${file}: new pods get their networks`,
    retired: `${file}: new pods get the default network only`,
    withdrawn: `${file}: removed; the runtime uses the node's next configuration`,
  };
  const lines = [
    ...problems.map((problem) => `Problem: ${problem}`),
    ...(standing === "in-force" ? [] : rest),
    ...(withoutDaemon === null ? [] : [unknown]),
  ];
  return [...lines, ...(problems.length === 0 ? [ends[standing]] : [])].map((line) => `${inertLine(line, maxLine)}\n`).join("");
}

/** How long no daemon has answered. */
class Silence {
  #since: number | undefined;

  /** Notes that no daemon answered at `now`. True: no daemon has answered for `maxSilenceMs`. */
  lastsAt(now: number): boolean {
    this.#since ??= now;
    return now - this.#since >= maxSilenceMs;
  }

  end(): void {
    this.#since = undefined;
  }
}

async function removeWithoutDaemon(directory: string, why: string): Promise<RemovalOutcome> {
  const { removed, problems } = await removeMarkedFiles(directory);
  const nothing = { pods: [], defaultOnly: 0, calls: 0, runtime: null, timedOut: false };
  return { ...nothing, configuration: removed.join(", "), standing: "withdrawn", problems, withoutDaemon: why };
}

let lastLine = "";

/** Writes a line to stderr, unless it is the last one. */
function say(line: string): void {
  if (line !== lastLine) process.stderr.write(`plexusctl: ${inertLine(line, maxLine)}\n`);
  lastLine = line;
}

function waitLine(report: RemovalReport): string {
  const calls = report.calls === 0 ? [] : [`waits for ${report.calls} calls that were begun before`];
  return [...report.problems, ...(report.pods.length === 0 ? [] : [`waits for ${podNames(report)}`]), ...calls].join("; ");
}

function podNames({ pods }: RemovalReport): string {
  const names = pods.slice(0, maxNames).map(({ pod, networks }) => `${pod} (${networks.join(", ")})`);
  const more = pods.length > maxNames ? `, and ${pods.length - maxNames} more` : "";
  return `${pods.length} pods with networks of Plexus: ${names.join(", ")}${more}`;
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
