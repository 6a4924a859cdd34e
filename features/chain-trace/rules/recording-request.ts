// An administrator's request to a daemon to record calls, as the query of its status socket, and the daemon's answer.

import { tracedPodRule } from "../../../src/configuration/chain-trace-configuration.ts";

/** The calls to record. The first bound that is reached ends the recording. */
export interface RecordingRequest {
  /** NAMESPACE/NAME, in which `*` is a wildcard; undefined: every container. */
  readonly pod: string | undefined;
  readonly onlyFailed: boolean;
  /** Maximum traces. */
  readonly next: number;
  /** Maximum duration of the recording, in seconds. */
  readonly seconds: number;
}

/** The daemon's answer. */
export interface RecordingReport {
  /** The directory of the traces. */
  readonly directory: string;
  /** Undefined: nothing is being recorded. */
  readonly request?: RecordingRequest | undefined;
  /** When the recording ends, in the form of ISO 8601. */
  readonly until?: string | undefined;
  /** The paths of the traces of this recording, the last 100. */
  readonly written: readonly string[];
}

/** Defaults and maxima. */
export const recordingBounds = { next: 10, seconds: 600, mostNext: 1000, mostSeconds: 86_400 } as const;

/** The query for a request. */
export function recordingQuery({ pod, onlyFailed, next, seconds }: RecordingRequest): string {
  const parts = [
    `next=${next}`,
    `seconds=${seconds}`,
    ...(onlyFailed ? ["failed"] : []),
    ...(pod === undefined ? [] : [`pod=${pod}`]),
  ];
  return parts.join("&");
}

/** Reads a query; a text says what is wrong with it. */
export function readRecordingQuery(query: string): RecordingRequest | string {
  const values = new Map(
    query.split("&").map((part) => {
      const equals = part.indexOf("=");
      return equals === -1 ? [part, ""] : [part.slice(0, equals), part.slice(equals + 1)];
    }),
  );
  for (const name of values.keys())
    if (!["next", "seconds", "failed", "pod"].includes(name)) return `unknown parameter ${name.slice(0, 40)}`;
  const { mostNext, mostSeconds } = recordingBounds;
  const next = countOf(values.get("next") ?? String(recordingBounds.next), mostNext);
  const seconds = countOf(values.get("seconds") ?? String(recordingBounds.seconds), mostSeconds);
  const pod = values.get("pod");
  if (next === undefined) return `next must be a whole number from 1 to ${mostNext}`;
  if (seconds === undefined) return `seconds must be a whole number from 1 to ${mostSeconds}`;
  if (pod !== undefined && !tracedPodRule.pattern.test(pod)) return "pod must be NAMESPACE/NAME, in which * is a wildcard";
  return { pod, onlyFailed: values.has("failed"), next, seconds };
}

function countOf(text: string, max: number): number | undefined {
  const count = Number(text);
  return /^\d{1,6}$/.test(text) && count >= 1 && count <= max ? count : undefined;
}
