// Checks the form of a daemon's answer: the program that answers may have another version, or be no daemon.

import { isJsonObject } from "../../../src/json/document.ts";
import { inertText } from "../../../src/text/inert-text.ts";
import type { RoundReport } from "../../node/reconcile/finding.ts";
import type { RecentCall } from "../../telemetry/recent-calls-document.ts";
import type { StatusDocument } from "../../telemetry/status-document.ts";

/** Maximum length of a text in an answer, in UTF-16 units. */
const maxText = 8192;

/** The reason given for an answer of another form. */
export const unknownForm = "this plexusctl cannot read the answer: do plexusctl and plexusd have the same version?";

const text = "";
const number = 0;
const truth = false;

// Samples of each document: an answer must have these members with these types. A list's only element stands for all elements.
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
const network = { name: text, source: text, chain: [text], attachments: number };
const node = {
  stateDirectory: text,
  journal: entries,
  abandoned: entries,
  attachments: [{ ...attachment, addresses: [text] }],
  networks: [{ ...network, links: [{ kind: text, name: text, type: text }], pools: [text] }],
  pools: [{ directory: text, used: number }],
  problems: [text],
};
const failed = { time: text, request: text, verb: text, pod: text, container: text, network: text };
const failure = { ...failed, fault: text, code: number, msg: text, remedy: text, times: number };
const document = { apiVersion: "plexus/v1", kind: "NodeStatus", time: text, nodes: [node], failures: [failure] };

const recentFault = { fault: text, code: number, msg: text, remedy: text };
const place = { network: text, ifname: text, verb: text };
const recentStep = { ...place, type: text, kind: text, nested: truth, startMs: number, ms: number };
const recentCall = {
  request: text,
  time: text,
  ...place,
  pod: text,
  container: text,
  ms: number,
  running: truth,
  moreSteps: number,
};
const recentCalls = { apiVersion: "plexus/v1", kind: "RecentCalls", calls: [{ ...recentCall, steps: [recentStep] }] };

const finding = { kind: text, directory: text, id: text, why: text, handling: text };
const report = {
  started: text,
  ms: number,
  agent: truth,
  dryRun: truth,
  entries: number,
  findings: [finding],
  problems: [text],
};

/** The status document, with texts that a terminal can print safely; undefined if the answer has another form. */
export function statusOf(answer: string): StatusDocument | undefined {
  const value = parsedInert(answer);
  return isStatus(value) ? value : undefined;
}

/** The report of a reconciler round, with texts that a terminal can print safely; undefined if the answer has another form. */
export function reportOf(answer: string): RoundReport | undefined {
  const value = parsedInert(answer);
  return isReport(value) ? value : undefined;
}

/** The daemon's last calls, with texts that a terminal can print safely; undefined if the answer has another form. */
export function callsOf(answer: string): readonly RecentCall[] | undefined {
  const value = parsedInert(answer);
  return areCalls(value) ? value.calls : undefined;
}

/** The parsed JSON, without control characters in its texts; undefined if the answer is not JSON. */
function parsedInert(answer: string): unknown {
  try {
    return JSON.parse(answer, (_, each: unknown) => (typeof each === "string" ? inertText(each, maxText) : each));
  } catch {
    return undefined;
  }
}

function isReport(value: unknown): value is RoundReport {
  return isLike(value, report);
}

function areCalls(value: unknown): value is { readonly calls: readonly RecentCall[] } {
  if (!isLike(value, recentCalls) || !isJsonObject(value) || value["kind"] !== recentCalls.kind) return false;
  const calls = value["calls"];
  const all: readonly unknown[] = Array.isArray(calls) ? calls.flatMap((call) => [call, ...Object(call)["steps"]]) : [];
  return all.every((each) => {
    const reason: unknown = Object(each)["failure"];
    return reason === null || isLike(reason, recentFault);
  });
}

function isStatus(value: unknown): value is StatusDocument {
  if (!isLike(value, document) || !isJsonObject(value)) return false;
  if (value["apiVersion"] !== document.apiVersion || value["kind"] !== document.kind) return false;
  const daemonMember = value["daemon"];
  if (daemonMember === null) return true;
  if (!isLike(daemonMember, daemon) || !isJsonObject(daemonMember)) return false;
  return Object.entries(Object(daemonMember["information"])).every(
    ([name, sentence]) => typeof sentence === "string" && inertText(name, 64) === name,
  );
}

/** Whether `value` has the members of the sample `form`, with their types. */
function isLike(value: unknown, form: unknown): boolean {
  if (Array.isArray(form)) return Array.isArray(value) && value.every((each) => isLike(each, form[0]));
  if (!isJsonObject(form)) return typeof value === typeof form;
  return isJsonObject(value) && Object.entries(form).every(([name, member]) => isLike(value[name], member));
}
