// Writes the statuses of claims, one after the other, and again after a pause while the API is away.

import { inertLine } from "../../../src/text/inert-text.ts";
import type { ApiObjects, ObjectAnswer } from "../../../host/cluster/kube/api-objects.ts";
import type { Clock } from "../../../host/system/clock.ts";
import { claimPath } from "../driver/prepare-claims.ts";
import { areSameDevices, type AttachmentOutcome, type ReportedDevice, reportedDevices } from "../rules/device-status.ts";

/** The part of the API that is read and written. */
export type StatusApi = Pick<ApiObjects, "get" | "patch" | "replace">;

/** A claim's status that is to be written. */
export interface Report {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly devices: readonly { readonly device: ReportedDevice; readonly outcome: AttachmentOutcome }[];
}

/** The API refuses a write. */
interface Refusal {
  readonly kind: "refused";
  readonly status: number;
  readonly why: string;
}

/** The outcome of a write. `conflict`: the claim has changed meanwhile. `failed`: the API is away. Both are tried again. */
type WriteOutcome = { readonly kind: "done" | "conflict" | "failed" } | Refusal;

/** Reports that wait, at most; beyond it the oldest is given up. */
const maxWaiting = 1024;
/** Pause before another try, in ms. */
const retryMs = 5_000;
/** Tries while the rights are refused: a server that was just started refuses rights that it has not read yet. */
const maxForbidden = 6;
const forbidden = 403;
const invalid = 422;
const maxFailure = 2048;

/** The writer of one daemon. */
export class ReportWriter {
  readonly #api: () => Promise<StatusApi | undefined>;
  readonly #clock: Clock;
  readonly #log: (level: "info" | "warn", text: string) => void;
  readonly #waiting = new Map<string, Report>();
  /** How often a report was refused. */
  readonly #refusals = new WeakMap<Report, number>();
  #working = false;
  #stopped = false;
  /** The next try, while reports wait for it. */
  #timer: NodeJS.Timeout | undefined;

  constructor(api: () => Promise<StatusApi | undefined>, clock: Clock, log: (level: "info" | "warn", text: string) => void) {
    this.#api = api;
    this.#clock = clock;
    this.#log = log;
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  /** Puts a report in the place of the claim's earlier one. */
  queue(report: Report): void {
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size >= maxWaiting && oldest !== undefined) this.#waiting.delete(oldest);
    this.#waiting.set(report.uid, report);
  }

  /** Writes what waits, one after the other. */
  async work(): Promise<void> {
    if (this.#working || this.#stopped || this.#timer !== undefined) return;
    this.#working = true;
    const tried = new Set<Report>();
    // Reports that come during the round are written in it.
    for (const [uid, report] of this.#waiting) {
      if (tried.has(report)) continue;
      tried.add(report);
      const outcome = await this.#write(report).catch((error: unknown): WriteOutcome => {
        return { kind: "refused", status: 0, why: error instanceof Error ? error.message : String(error) };
      });
      const isOver = outcome.kind === "done" || (outcome.kind === "refused" && this.#isGivenUp(report, outcome));
      // A newer report of the claim may have come meanwhile.
      if (isOver && this.#waiting.get(uid) === report) this.#waiting.delete(uid);
      if (outcome.kind === "failed") this.#putLast(uid);
      // A claim that its author changes again and again holds back no other claim.
      if (outcome.kind === "failed" || this.#stopped) break;
    }
    this.#working = false;
    if (this.#waiting.size === 0 || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.work();
    }, retryMs).unref();
  }

  /** The next round begins with another claim: an admission webhook of one namespace may be away, and the API is not. */
  #putLast(uid: string): void {
    const report = this.#waiting.get(uid);
    if (report === undefined) return;
    this.#waiting.delete(uid);
    this.#waiting.set(uid, report);
  }

  #isGivenUp(report: Report, { status, why }: Refusal): boolean {
    const refusals = (this.#refusals.get(report) ?? 0) + 1;
    this.#refusals.set(report, refusals);
    if (status === forbidden && refusals < maxForbidden) return false;
    const { namespace, name } = report;
    this.#log("warn", `claims: the status of resource claim ${namespace}/${name}: ${inertLine(why, maxFailure)}`);
    return true;
  }

  async #write({ namespace, name, uid, devices }: Report): Promise<WriteOutcome> {
    const api = await this.#api();
    // The daemon has no credentials yet.
    if (api === undefined) return { kind: "failed" };
    const path = claimPath({ namespace, name });
    const read = await api.get(path);
    if (read.kind !== "object") return outcomeOf(read);
    const { metadata, status } = { metadata: {}, status: {}, ...read.object };
    const { uid: uidNow, resourceVersion } = { uid: "", resourceVersion: "", ...metadata };
    // Another claim has the name now.
    if (uidNow !== uid) return { kind: "done" };
    const current = "devices" in status ? status.devices : undefined;
    const written = reportedDevices(current, devices, this.#clock.date().toISOString());
    // A daemon that starts reports every claim of its node.
    if (areSameDevices(current, written)) return { kind: "done" };
    // No server-side apply: it rewrites the allocation's opaque configurations, which counts as a change of the allocation.
    const patched = await api.patch(`${path}/status`, { metadata: { resourceVersion }, status: { devices: written } });
    if (patched.kind !== "refused" || patched.status !== invalid) return outcomeOf(patched);
    // A patch makes the API server escape `<`, `>` and `&` in the allocation's configurations, where the author's client has not done so: a change of the allocation.
    const object = { ...read.object, status: { ...status, devices: written } };
    return outcomeOf(await api.replace(`${path}/status`, object));
  }
}

function outcomeOf(answer: ObjectAnswer): WriteOutcome {
  switch (answer.kind) {
    case "object":
    case "absent":
      return { kind: "done" };
    case "refused":
    case "conflict":
    case "failed":
      return answer;
    default:
      return answer satisfies never;
  }
}
