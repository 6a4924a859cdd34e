// Reports the statuses of claims after an ADD, a DEL and a change of a pod's links, off the call's path. The API server and an admission policy let only the daemon of the claim's node write.

import { isJsonObject } from "../../../src/json/document.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { HostConfiguration } from "../../../src/configuration/host-configuration.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import type { Reply } from "../../../host/protocol/messages.ts";
import type { JournalReader } from "../../../host/store/journal/journal.ts";
import type { JournalKey } from "../../../host/store/journal/entry-file.ts";
import type { Clock } from "../../../host/system/clock.ts";
import type { ClaimCandidates } from "../node/claim-store.ts";
import type { PreparedClaim } from "../rules/prepared-claim.ts";
import type { AttachmentOutcome } from "../rules/device-status.ts";
import { type Report, ReportWriter, type StatusApi } from "./report-writer.ts";

/** Interval in ms of the search for attachments without a report: a one-shot engine serves calls while the daemon is busy, and reports nothing. */
const searchMs = 30_000;
/** Time in ms after the start in which the link watch, if it is on, has looked into each container. */
const firstLooksMs = 150_000;
const maxFailure = 2048;

/** Why interfaces of a container are lost, by interface. */
type LinkFaults = ReadonlyMap<string, { readonly why: string }>;

const noFaults: LinkFaults = new Map();

/** The reports of one daemon. */
export class ClaimReports {
  readonly #store: ClaimCandidates;
  readonly #journal: JournalReader;
  readonly #writer: ReportWriter;
  #search: NodeJS.Timeout | undefined;
  /** Attachments whose reports were queued, by their journal entries. */
  #seen = new Set<string>();
  /** The claims of closed journal entries, by entry: a DEL reads the entries of its pod's claims only, and those that are not known yet. */
  readonly #claimed = new Map<string, ReadonlySet<string>>();
  /** The last look at the links of running containers, by their journal entries. */
  readonly #faults = new Map<string, LinkFaults>();
  #firstLooks: NodeJS.Timeout | undefined;
  #isLookedAt = false;

  constructor(
    store: ClaimCandidates,
    api: () => Promise<StatusApi | undefined>,
    journal: JournalReader,
    clock: Clock,
    log: (level: "info" | "warn", text: string) => void,
  ) {
    this.#store = store;
    this.#journal = journal;
    this.#writer = new ReportWriter(api, clock, log);
  }

  /** Reports the attachments of running pods anew: the daemon may have ended between an ADD and its report. */
  async start(): Promise<void> {
    this.#search = setInterval(() => void this.#reportUnseen(), searchMs).unref();
    this.#firstLooks = setTimeout(() => {
      this.#isLookedAt = true;
      // Without a link watch no look comes, and what an earlier daemon has seen counts no longer.
      this.#seen = new Set([...this.#seen].filter((id) => this.#faults.has(id)));
      void this.#reportUnseen();
    }, firstLooksMs).unref();
    await this.#reportUnseen();
  }

  stop(): void {
    this.#writer.stop();
    clearInterval(this.#search);
    clearTimeout(this.#firstLooks);
  }

  /** Reports the attachments of entries that were closed without a report. */
  async #reportUnseen(): Promise<void> {
    const keys = this.#journal.list();
    if (!keys.ok) return;
    const unseen = keys.value.filter((key) => !this.#seen.has(idOf(key)));
    const ids = new Set(keys.value.map(idOf));
    this.#seen = new Set([...this.#seen].filter((id) => ids.has(id)));
    for (const known of [this.#faults, this.#claimed]) for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
    for (const key of unseen) this.#queueAttached(key);
    await this.#writer.work();
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
    const failed = reply.status !== 0;
    if (verb === "ADD" && !failed) this.#look({ containerId, network: configuration.name, ifname }, noFaults);
    else if (verb === "ADD") for (const report of this.#failed(args, errorOf(reply.stdout))) this.#writer.queue(report);
    // A DEL that failed has left the interface, and comes again.
    else if (!failed) for (const report of this.#detached(args)) this.#writer.queue(report);
    void this.#writer.work();
  }

  /** Reports the claims of a running container whose links have changed. `faults`: by interface. */
  noteLinks(key: JournalKey, faults: LinkFaults): void {
    this.#look(key, faults);
    void this.#writer.work();
  }

  #look(key: JournalKey, faults: LinkFaults): void {
    this.#faults.set(idOf(key), faults);
    this.#queueAttached(key);
  }

  /** Queues the reports of a journal entry. An entry that is still open is looked at again by the search. */
  #queueAttached(key: JournalKey): void {
    const reports = this.#attached(key);
    if (reports === undefined) return;
    this.#seen.add(idOf(key));
    for (const report of reports) this.#writer.queue(report);
  }

  /** The reports of a closed journal entry; undefined if it is open or gone. */
  #attached(key: JournalKey): readonly Report[] | undefined {
    const faults = this.#faults.get(idOf(key));
    const seen = faults === undefined && !this.#isLookedAt ? ({ isUnseen: true } as const) : {};
    const read = this.#journal.load(key);
    if (!read.ok || read.value?.closed !== true) return undefined;
    const { plan, progress } = read.value;
    this.#claimed.set(idOf(key), new Set(plan.attachments.flatMap(({ claim }) => claim?.uid ?? [])));
    const byClaim = new Map<string, Report>();
    for (const [index, { claim, ifname }] of plan.attachments.entries()) {
      const text = progress[index]?.result;
      if (claim === undefined || text === undefined || progress[index]?.undone === true) continue;
      const result = readResult(text, "1.1.0", "the journal's result");
      if (!result.ok) continue;
      const { namespace, name, uid, ...device } = claim;
      const known = byClaim.get(uid)?.devices ?? [];
      const lost = faults?.get(ifname)?.why;
      const outcome = { ifname, result: result.value.result, ...(lost === undefined ? {} : { lost }), ...seen };
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
    const mayHold = keys.value.filter((key) => {
      const claimed = this.#claimed.get(idOf(key));
      return claimed === undefined || claims.some(({ claim }) => claimed.has(claim.uid));
    });
    const attached = new Map(mayHold.flatMap((key) => this.#attached(key) ?? []).map((report) => [report.uid, report]));
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
