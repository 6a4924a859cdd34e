// Writes the statuses of claims after an ADD, a DEL and a change of a pod's links, off the call's path. The API server and an admission policy let only the daemon of the claim's node write.

import { isJsonObject } from "../../../src/json/document.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import type { ApiObjects } from "../../../host/cluster/kube/api-objects.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import type { Reply } from "../../../host/protocol/messages.ts";
import type { Journal } from "../../../host/store/journal/journal.ts";
import type { JournalKey } from "../../../host/store/journal/entry-file.ts";
import type { Clock } from "../../../host/system/clock.ts";
import type { ClaimStore } from "../node/claim-store.ts";
import type { PreparedClaim } from "../rules/prepared-claim.ts";
import { claimPath } from "../driver/prepare-claims.ts";
import { areSameDevices, type AttachmentOutcome, type ReportedDevice, reportedDevices } from "../rules/device-status.ts";

/** A claim's status that is to be written. */
interface Report {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly devices: readonly { readonly device: ReportedDevice; readonly outcome: AttachmentOutcome }[];
}

/** The outcome of a write. `conflict`: the claim has changed meanwhile. `failed`: the API is away. Both are tried again. */
type WriteOutcome = "done" | "conflict" | "failed";

/** Reports that wait, at most; beyond it the oldest is given up. */
const maxWaiting = 1024;
/** Pause before another try, in ms. */
const retryMs = 5_000;
/** Interval in ms of the search for attachments without a report: a one-shot engine serves calls while the daemon is busy, and reports nothing. */
const searchMs = 30_000;
const maxFailure = 2048;

/** The reports of one daemon. */
export class ClaimReports {
  readonly #store: Pick<ClaimStore, "candidates">;
  readonly #api: () => Promise<Pick<ApiObjects, "get" | "patch"> | undefined>;
  readonly #journal: Pick<Journal, "list" | "load">;
  readonly #clock: Clock;
  readonly #log: (level: "info" | "warn", text: string) => void;
  readonly #waiting = new Map<string, Report>();
  #working = false;
  #stopped = false;
  /** The next try, while reports wait for it. */
  #timer: NodeJS.Timeout | undefined;
  #search: NodeJS.Timeout | undefined;
  /** Attachments whose reports were queued, by their journal entries. */
  #seen = new Set<string>();

  constructor(
    store: Pick<ClaimStore, "candidates">,
    api: () => Promise<Pick<ApiObjects, "get" | "patch"> | undefined>,
    journal: Pick<Journal, "list" | "load">,
    clock: Clock,
    log: (level: "info" | "warn", text: string) => void,
  ) {
    this.#store = store;
    this.#api = api;
    this.#journal = journal;
    this.#clock = clock;
    this.#log = log;
  }

  /** Reports the attachments of running pods anew: the daemon may have ended between an ADD and its report. */
  async start(): Promise<void> {
    this.#search = setInterval(() => void this.#reportUnseen(), searchMs).unref();
    await this.#reportUnseen();
  }

  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
    clearInterval(this.#search);
  }

  /** Reports the attachments of entries that were closed without a report. */
  async #reportUnseen(): Promise<void> {
    const keys = this.#journal.list();
    if (!keys.ok) return;
    const unseen = keys.value.filter((key) => !this.#seen.has(idOf(key)));
    const ids = new Set(keys.value.map(idOf));
    this.#seen = new Set([...this.#seen].filter((id) => ids.has(id)));
    for (const key of unseen) for (const report of this.#attached(key)) this.#queue(report);
    await this.#work();
  }

  /** Reports the claims of the pod of an ADD or a DEL. */
  noteCall(
    configuration: HostConfiguration,
    environment: ReadonlyMap<string, string>,
    reply: Pick<Reply, "status" | "stdout"> | undefined,
  ): void {
    const verb = environment.get("CNI_COMMAND");
    if ((verb !== "ADD" && verb !== "DEL") || reply === undefined) return;
    const [containerId = "", ifname = ""] = [environment.get("CNI_CONTAINERID"), environment.get("CNI_IFNAME")];
    const args = environment.get("CNI_ARGS") ?? "";
    const reports = (): readonly Report[] => {
      // A DEL that failed has left the interface, and comes again.
      if (verb === "DEL") return reply.status === 0 ? this.#detached(args) : [];
      if (reply.status !== 0) return this.#failed(args, errorOf(reply.stdout));
      return this.#attached({ containerId, network: configuration.name, ifname });
    };
    for (const report of reports()) this.#queue(report);
    void this.#work();
  }

  /** Reports the claims of a running container whose links have changed. `faults`: by interface. */
  noteLinks(key: JournalKey, faults: ReadonlyMap<string, { readonly why: string }>): void {
    for (const report of this.#attached(key, faults)) this.#queue(report);
    void this.#work();
  }

  /** The reports of a closed journal entry. */
  #attached(key: JournalKey, faults: ReadonlyMap<string, { readonly why: string }> = new Map()): readonly Report[] {
    const read = this.#journal.load(key);
    if (!read.ok || read.value?.closed !== true) return [];
    this.#seen.add(idOf(key));
    const { plan, progress } = read.value;
    const byClaim = new Map<string, Report>();
    for (const [index, { claim, ifname }] of plan.attachments.entries()) {
      const text = progress[index]?.result;
      if (claim === undefined || text === undefined || progress[index]?.undone === true) continue;
      const result = readResult(text, "1.1.0", "the journal's result");
      if (!result.ok) continue;
      const { namespace, name, uid, ...device } = claim;
      const known = byClaim.get(uid)?.devices ?? [];
      const lost = faults.get(ifname)?.why;
      const outcome = { ifname, result: result.value.result, ...(lost === undefined ? {} : { lost }) };
      byClaim.set(uid, {
        namespace,
        name,
        uid,
        devices: [...known, { device, outcome }],
      });
    }
    return [...byClaim.values()];
  }

  /** The reports of an ADD that failed: each device has the failing plugin's own error. */
  #failed(args: string, failure: string): readonly Report[] {
    return this.#claimsOf(args)
      .filter(({ isOfPod, claim }) => isOfPod && claim.networks.length > 0)
      .map(({ claim }) => reportOf(claim, { failure }));
  }

  /** The reports of a pod that was detached. Another pod's attachment by the same claim, or that of a newer sandbox, is reported in its place. */
  #detached(args: string): readonly Report[] {
    const claims = this.#claimsOf(args).filter(({ claim }) => claim.networks.length > 0);
    if (claims.length === 0) return [];
    const keys = this.#journal.list();
    if (!keys.ok) return [];
    const attached = new Map(keys.value.flatMap((key) => this.#attached(key)).map((report) => [report.uid, report]));
    return claims.flatMap(({ claim, isOfPod }) => {
      const other = attached.get(claim.uid);
      if (other !== undefined) return [other];
      // Another pod's claim is not this DEL's: its ADD may have failed.
      return isOfPod ? [reportOf(claim, { isDetached: true })] : [];
    });
  }

  /** The prepared claims that may be the pod's. `isOfPod`: the claim was prepared for this pod. */
  #claimsOf(args: string): readonly { readonly claim: PreparedClaim; readonly isOfPod: boolean }[] {
    const pod = podIdentity(args);
    if (!pod.ok || pod.value?.uid === undefined) return [];
    const { uid, namespace } = pod.value;
    const claims = this.#store.candidates(namespace, uid, "all boots");
    return claims.ok ? claims.value.claims.map((claim) => ({ claim, isOfPod: claim.pods.includes(uid) })) : [];
  }

  #queue(report: Report): void {
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size >= maxWaiting && oldest !== undefined) this.#waiting.delete(oldest);
    this.#waiting.set(report.uid, report);
  }

  /** Writes what waits, one after the other. */
  async #work(): Promise<void> {
    if (this.#working || this.#stopped || this.#timer !== undefined) return;
    this.#working = true;
    const tried = new Set<Report>();
    let outcome: WriteOutcome = "done";
    // Reports that come during the round are written in it.
    for (const [uid, report] of this.#waiting) {
      if (tried.has(report)) continue;
      tried.add(report);
      outcome = await this.#write(report).catch((error: unknown): WriteOutcome => {
        this.#lost(report, error instanceof Error ? error.message : String(error));
        return "done";
      });
      // A newer report of the claim may have come meanwhile.
      if (outcome === "done" && this.#waiting.get(uid) === report) this.#waiting.delete(uid);
      // A claim that its author changes again and again holds back no other claim.
      if (outcome === "failed" || this.#stopped) break;
    }
    this.#working = false;
    if (this.#waiting.size === 0 || this.#stopped) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#work();
    }, retryMs).unref();
  }

  #lost({ namespace, name }: Pick<Report, "namespace" | "name">, why: string): void {
    this.#log("warn", `claims: the status of resource claim ${namespace}/${name}: ${inertLine(why, maxFailure)}`);
  }

  async #write({ namespace, name, uid, devices }: Report): Promise<WriteOutcome> {
    const api = await this.#api();
    // The daemon has no credentials yet.
    if (api === undefined) return "failed";
    const path = claimPath({ namespace, name });
    const read = await api.get(path);
    if (read.kind !== "object") return read.kind === "failed" ? "failed" : "done";
    const { metadata, status } = { metadata: {}, status: {}, ...read.object };
    const { uid: uidNow, resourceVersion } = { uid: "", resourceVersion: "", ...metadata };
    // Another claim has the name now.
    if (uidNow !== uid) return "done";
    const current = "devices" in status ? status.devices : undefined;
    const written = reportedDevices(current, devices, this.#clock.date().toISOString());
    // A daemon that starts reports every claim of its node.
    if (areSameDevices(current, written)) return "done";
    // No server-side apply: it rewrites the allocation's opaque configurations, which counts as a change of the allocation.
    const answer = await api.patch(`${path}/status`, { metadata: { resourceVersion }, status: { devices: written } });
    switch (answer.kind) {
      case "object":
      case "absent":
        return "done";
      case "refused":
        this.#lost({ namespace, name }, answer.why);
        return "done";
      case "conflict":
      case "failed":
        return answer.kind;
      default:
        return answer satisfies never;
    }
  }
}

function idOf({ containerId, network, ifname }: JournalKey): string {
  return [containerId, network, ifname].join("/");
}

function reportOf({ namespace, name, uid, networks }: PreparedClaim, outcome: AttachmentOutcome): Report {
  const devices = networks.map(({ pool, device, shareId }) => ({ device: { pool, device, shareId }, outcome }));
  return { namespace, name, uid, devices };
}

/** The message of a CNI error (CNI specification, section 5). */
function errorOf(stdout: string | Uint8Array): string {
  try {
    const value: unknown = JSON.parse(typeof stdout === "string" ? stdout : Buffer.from(stdout).toString("utf8"));
    if (isJsonObject(value) && typeof value["msg"] === "string") return inertLine(value["msg"], maxFailure);
  } catch {
    // A plugin may print anything.
  }
  return "the ADD failed; the pod's Events have the reason";
}
