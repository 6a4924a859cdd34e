// Whether an answer is a status as this plexusctl knows it: who answers on the socket may be of another version, or no daemon at all.

import { isJsonObject } from "../../src/json/document.ts";
import { inertText } from "../sandbox/inert-text.ts";
import type { RoundReport } from "../reconcile/finding.ts";
import type { StatusDocument } from "../telemetry/status-document.ts";

/** UTF-16 units of a text in it. */
const longestText = 8192;

/** Why an answer was not read. */
export const notOurs = "its answer is none that this plexusctl reads: are both of one version?";

const text = "";
const number = 0;
const truth = false;

/** One of each member that is read; a list's only element stands for all. */
const daemon = {
  version: text,
  pid: number,
  since: text,
  socket: text,
  ready: truth,
  checks: [{ name: text, ok: truth, message: text }],
  queue: { active: number, waiting: number, mostActive: number, mostWaiting: number },
  sandboxes: { idle: number, busy: number, starting: number, restarts: number },
  information: {},
};
const entries = { entries: number, bytes: number };
const attachment = { pod: text, container: text, ifname: text, network: text, source: text, state: text, failures: number };
const node = {
  stateDirectory: text,
  journal: entries,
  leftBehind: entries,
  attachments: [{ ...attachment, addresses: [text] }],
  networks: [{ name: text, source: text, chain: [text], attachments: number }],
  pools: [{ directory: text, used: number }],
  problems: [text],
};
const failed = { time: text, request: text, verb: text, pod: text, container: text, network: text };
const failure = { ...failed, fault: text, code: number, msg: text, remedy: text, times: number };
const document = { apiVersion: "plexus/v1", kind: "NodeStatus", time: text, nodes: [node], failures: [failure] };

const finding = { kind: text, directory: text, id: text, why: text, handling: text };
const report = {
  started: text,
  ms: number,
  hands: truth,
  dryRun: truth,
  entries: number,
  findings: [finding],
  problems: [text],
};

/** The status, its texts made harmless for a terminal; undefined where it is none. */
export function statusOf(answer: string): StatusDocument | undefined {
  const value = harmless(answer);
  return isStatus(value) ? value : undefined;
}

/** A round's report, likewise. */
export function reportOf(answer: string): RoundReport | undefined {
  const value = harmless(answer);
  return isReport(value) ? value : undefined;
}

function harmless(answer: string): unknown {
  try {
    return JSON.parse(answer, (_, each: unknown) => (typeof each === "string" ? inertText(each, longestText) : each));
  } catch {
    return undefined;
  }
}

function isReport(value: unknown): value is RoundReport {
  return isLike(value, report);
}

function isStatus(value: unknown): value is StatusDocument {
  if (!isLike(value, document) || !isJsonObject(value)) return false;
  if (value["apiVersion"] !== document.apiVersion || value["kind"] !== document.kind) return false;
  const told = value["daemon"];
  if (told === null) return true;
  if (!isLike(told, daemon) || !isJsonObject(told)) return false;
  return Object.entries(Object(told["information"])).every(
    ([name, said]) => typeof said === "string" && inertText(name, 64) === name,
  );
}

function isLike(value: unknown, form: unknown): boolean {
  if (Array.isArray(form)) return Array.isArray(value) && value.every((each) => isLike(each, form[0]));
  if (!isJsonObject(form)) return typeof value === typeof form;
  return isJsonObject(value) && Object.entries(form).every(([name, member]) => isLike(value[name], member));
}
