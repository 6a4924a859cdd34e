// One reconciler round over one state directory: lists what is there, judges it, and cleans what is stale.

import type { Fault } from "../../../src/fault/fault.ts";
import type { Verdict } from "../../../src/reconcile/judge-entry.ts";
import type { Lease } from "../../../src/reconcile/lease-owners.ts";
import { remedyOf } from "../../../src/reconcile/outlived-leases.ts";
import { removeOrphaned } from "../../capabilities/leases/orphaned-leases.ts";
import { removeOwnerless } from "../../capabilities/leases/ownerless.ts";
import { callLocks } from "../../engine/call/call-locks.ts";
import { fileNameOf } from "../../store/journal/entry-file.ts";
import { Journal } from "../../store/journal/journal.ts";
import { Abandoned, type AbandonedFile } from "../../store/journal/abandoned.ts";
import { type CleanTerms, Cleaner } from "./clean.ts";
import { currentBoot, EntryJudge } from "./entry-judge.ts";
import { EntryList, type ListedEntry } from "./entry-list.ts";
import type { Finding, Handled, HandledKind } from "./finding.ts";
import { outsideNodeNamespace } from "./host-links.ts";
import { lostLinksOf } from "./lost-links.ts";
import { ServedNamespaces } from "./served-namespaces.ts";
import { KeptConfigurations } from "./kept-configurations.ts";
import { LeaseDirectories } from "../../store/files/lease-directories.ts";
import type { LeaseFile } from "../../../src/reconcile/lease-owners.ts";
import { type LeaseFindings, LeaseWatch } from "./lease-watch.ts";
import { leftoversIn, removeLeftovers } from "./leftovers.ts";
import { UnknownLeases } from "./unknown-leases.ts";
import { type CallOffer, freeOrphaned, type RoundDeps, Undoing } from "./undoing.ts";

/** The result of a round over one state directory. */
export interface Round {
  /** Number of journal entries. */
  readonly entries: number;
  readonly findings: readonly Finding[];
  readonly problems: readonly Fault[];
}

/** Minimum age of leftover files, in ms: a running call writes its file in less. */
const minAgeMs = 10_000;

type Verdicts = ReadonlyMap<string, Verdict>;

/** The rounds over one state directory, with what they remember of each other. */
export class StateRounds {
  readonly directory: string;
  readonly configurations: KeptConfigurations;
  readonly #graceMs: number;
  readonly #abandoned: Abandoned;
  readonly #list: EntryList;
  readonly #judge: EntryJudge;
  readonly #leases = new LeaseWatch();
  readonly #leaseDirectories: LeaseDirectories;
  readonly #unknownLeases: UnknownLeases;
  readonly #undoing = new Undoing((deps, leftMs) => this.#cleaner(deps, leftMs));

  /** `directory`: absolute, without a slash at its end. */
  constructor(directory: string, graceMs: number, served: ServedNamespaces = new ServedNamespaces()) {
    this.directory = directory;
    this.#graceMs = graceMs;
    this.#abandoned = new Abandoned(directory);
    this.configurations = new KeptConfigurations(directory);
    this.#list = new EntryList(new Journal(directory), directory, (name) => this.configurations.read(name));
    this.#judge = new EntryJudge(graceMs, served);
    this.#leaseDirectories = new LeaseDirectories(directory);
    this.#unknownLeases = new UnknownLeases(directory);
  }

  /** Number of findings that wait for a call of the runtime. */
  get waiting(): number {
    return this.#undoing.waiting;
  }

  /** Undoes a finding through the shim of a call, as `Undoing.undoWaiting`. */
  undoWaiting(offer: CallOffer): Promise<HandledKind | undefined> {
    return this.#undoing.undoWaiting(offer);
  }

  /** One round. Throws ShimGone. */
  async round(deps: RoundDeps): Promise<Round> {
    if (!deps.dryRun) this.#undoing.forgetWaiting();
    this.configurations.forget();
    // Leases first: an ADD writes its journal entry before its lease, so a journal read afterwards has the owner of each lease.
    const { leases, ownerless } = await this.#leases.read(this.#leaseDirectories);
    const listed = await this.#list.refresh();
    if (!listed.ok) return { entries: 0, findings: [], problems: [listed.fault] };
    const { entries, damaged } = listed.value;
    const noted = this.#leaseDirectories.add(entries.flatMap(({ leasePlaces }) => leasePlaces));
    const departed = this.#leases.note(entries, leases, deps.date().getTime());
    const verdicts = await this.#judge.judge([...entries, ...departed], deps.agent, deps);
    const live = entries.filter(({ id }) => verdicts.get(id)?.what === "live");
    this.#undoing.agentProblem =
      deps.agent &&
      (await outsideNodeNamespace(
        deps.agent.shim,
        live.map(({ entry }) => entry),
      ));
    const files = this.#abandoned.list();
    const abandoned = files.ok ? files.value : [];
    const containers = abandoned.map(({ key }) => key.containerId);
    const found = this.#leases.findings(leases, listed.value, containers);
    // A damaged entry is never undone, and an abandoned one perhaps never: their leases would stay for ever, and none outlives its boot.
    const ownerUnknown = [...found.unknown, ...found.unclear];
    const outlived = new Set(this.#unknownLeases.outlived(ownerUnknown, currentBoot(deps)));
    const recorded = this.#unknownLeases.keep(ownerUnknown, currentBoot(deps));
    const findings: Finding[] = [
      ...damaged.map(({ key, why }) =>
        this.#finding("damaged", fileNameOf(key), "unreadable", { handling: "reported", note: why }),
      ),
      ...(await this.#attachments(entries, verdicts, deps)),
      ...(await this.#abandonedFindings(abandoned, deps)),
      ...(await this.#leaseFindings(found, outlived, verdicts, deps)),
      ...(await this.#ownerlessFindings(ownerless, deps)),
      ...(await this.#leftovers(deps)),
      ...(await this.#lostLinks(live, deps)),
    ];
    this.#undoing.keep(new Set(findings.map(({ id }) => id)));
    const problems = [files, noted, recorded].flatMap((each) => (each.ok ? [] : [each.fault]));
    return { entries: entries.length + damaged.length, findings, problems };
  }

  async #attachments(entries: readonly ListedEntry[], verdicts: Verdicts, deps: RoundDeps): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const entry of entries) {
      const verdict = verdicts.get(entry.id);
      if (verdict === undefined || verdict.what === "live") continue;
      // Without a view of the namespace, the entry may be alive: it is no finding.
      if (verdict.what === "doubtful" && verdict.why === "unseen") continue;
      const name = fileNameOf(entry.key);
      const handled = await this.#undoing.ifStale(name, verdict, deps, "attachment", (cleaner, why) => cleaner.entry(entry, why));
      findings.push(this.#finding("attachment", name, verdict.why, handled));
    }
    return findings;
  }

  async #abandonedFindings(files: readonly AbandonedFile[], deps: RoundDeps): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const file of files) {
      const loaded = this.#abandoned.load(file);
      const entry = loaded.ok ? loaded.value : undefined;
      if (loaded.ok && entry === undefined) continue;
      const handled: Handled =
        entry === undefined
          ? { handling: "reported", ...(loaded.ok ? {} : { note: loaded.fault.msg }) }
          : await this.#undoing.tryNow(file.path, deps, "abandoned", (cleaner) => cleaner.abandoned(file, entry));
      findings.push(this.#finding("abandoned", file.path, "given-up", handled));
    }
    return findings;
  }

  async #leaseFindings(
    { kept, lasting }: LeaseFindings,
    outlived: ReadonlySet<Lease>,
    verdicts: Verdicts,
    deps: RoundDeps,
  ): Promise<readonly Finding[]> {
    const findings = lasting
      .filter((lease) => !outlived.has(lease))
      .map((lease) => this.#finding("lease", lease.path, "not-ours", { handling: "reported", note: remedyOf(lease) }));
    for (const lease of outlived) {
      const handled = await freeOrphaned(deps, () => removeOrphaned([lease], 0));
      findings.push(this.#finding("lease", lease.path, "earlier-boot", handled));
    }
    for (const { lease, attachment } of kept) {
      // The entry may have been lost instead of undone, so the pod must be gone, too.
      const verdict = verdicts.get(attachment.listed.id) ?? { what: "live" };
      // A clock that was set back does not delay this: the verdict has its own time, of a monotonic clock.
      const settled = Math.abs(deps.date().getTime() - attachment.departedAt) >= this.#graceMs;
      const handled: Handled = settled
        ? await this.#undoing.ifStale(lease.path, verdict, deps, "lease", (cleaner) =>
            cleaner.departed(attachment.listed.entry, lease),
          )
        : { handling: "reported" };
      findings.push(this.#finding("lease", lease.path, "kept-lease", handled));
    }
    return findings;
  }

  /** Frees leases without an owner. */
  async #ownerlessFindings(leases: readonly LeaseFile[], deps: RoundDeps): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const { path, lasts } of this.#leases.lasting(leases)) {
      const handled: Handled = lasts
        ? await freeOrphaned(deps, () => removeOwnerless([path], 0))
        : { handling: "reported", note: "the next round frees it" };
      findings.push(this.#finding("lease", path, "ownerless", handled));
    }
    return findings;
  }

  /** Living attachments without the links of the node that they need. A later round reports them again. */
  async #lostLinks(live: readonly ListedEntry[], { agent }: RoundDeps): Promise<readonly Finding[]> {
    if (agent === undefined || this.#undoing.agentProblem !== undefined) return [];
    const lost = await lostLinksOf(agent.shim, live);
    return lost.map(({ id, note }) => this.#finding("link", id, "lost-link", { handling: "reported", note }));
  }

  async #leftovers({ takeLock, agent, date, dryRun }: RoundDeps): Promise<readonly Finding[]> {
    const found = leftoversIn(this.directory, date().getTime() - Math.max(this.#graceMs, minAgeMs));
    if (found.length === 0) return [];
    const shim = agent?.shim ?? { ensureConnected: () => {} };
    const gone =
      !dryRun &&
      (await removeLeftovers(
        this.directory,
        callLocks({ shim, takeLock }, this.directory, () => 0),
      ));
    const handling = dryRun ? "dry-run" : gone ? "cleaned" : "busy";
    return found.map((path) => this.#finding("leftover", path, "killed-call", { handling }));
  }

  #cleaner(deps: CleanTerms, leftMs: () => number): Cleaner {
    const { configurations, directory: stateDirectory } = this;
    const entries = async (): Promise<readonly ListedEntry[]> => {
      const listed = await this.#list.refresh();
      return listed.ok ? listed.value.entries : [];
    };
    return new Cleaner({ ...deps, stateDirectory, configurations, entries, leftMs });
  }

  #finding(kind: Finding["kind"], id: string, why: Finding["why"], handled: Handled): Finding {
    return { kind, directory: this.directory, id, why, ...handled };
  }
}
