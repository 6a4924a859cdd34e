// One reconciler round over one state directory: lists what is there, judges it, and cleans what is stale.

import type { Fault } from "../../../src/fault/fault.ts";
import type { Verdict } from "../../../src/reconcile/judge-entry.ts";
import type { Lease } from "../../../src/reconcile/lease-owners.ts";
import { remedyOf } from "../../../src/reconcile/outlived-leases.ts";
import { Retries } from "../../../src/reconcile/retries.ts";
import type { Result } from "../../../src/fault/result.ts";
import { type LeaseOperation, runAsync } from "../../capabilities/leases/effect.ts";
import { removeOrphaned } from "../../capabilities/leases/orphaned-leases.ts";
import { removeOwnerless } from "../../capabilities/leases/ownerless.ts";
import type { TakeLock } from "../../store/locks/file-lock.ts";
import { callLocks } from "../../engine/call/call-locks.ts";
import { fileNameOf } from "../../store/journal/entry-file.ts";
import { Journal } from "../../store/journal/journal.ts";
import { Abandoned, type AbandonedFile } from "../../store/journal/abandoned.ts";
import { type CleanDeps, Cleaner, type RoundAgent } from "./clean.ts";
import { currentBoot, EntryJudge } from "./entry-judge.ts";
import { EntryList, type ListedEntry } from "./entry-list.ts";
import type { Handled, Finding, Handling } from "./finding.ts";
import { outsideNodeNamespace } from "./host-links.ts";
import { lostLinksOf } from "./lost-links.ts";
import { ServedNamespaces } from "./served-namespaces.ts";
import { KeptConfigurations } from "./kept-configurations.ts";
import { LeaseDirectories } from "../../store/files/lease-directories.ts";
import type { OwnerlessLease } from "./lease-list.ts";
import { type LeaseFindings, LeaseWatch } from "./lease-watch.ts";
import { leftoversIn, removeLeftovers } from "./leftovers.ts";
import { UnknownLeases } from "./unknown-leases.ts";
import type { Clock } from "../../system/clock.ts";

/** The dependencies of one round over one state directory. */
export interface RoundDeps extends Clock {
  readonly agent: RoundAgent | undefined;
  /** True: only report. */
  readonly dryRun: boolean;
  readonly takeLock: TakeLock;
  /** Whether the round may begin another undoing. */
  readonly hasTime: () => boolean;
  /** True: try failed findings again before their pause is over, because an administrator asked and may have removed the cause. */
  readonly impatient: boolean;
  /** Called after each undoing, successful or not. */
  readonly worked: () => void;
  readonly log: (lines: string) => void;
}

/** The result of a round over one state directory. */
export interface Round {
  /** Number of journal entries. */
  readonly entries: number;
  readonly findings: readonly Finding[];
  readonly problems: readonly Fault[];
}

const retryTerms = { firstMs: 60_000, maxMs: 3_600_000 };
/** Minimum age of leftover files, in ms: a running call writes its file in less. */
const leftoverMs = 10_000;

/** Handlings for which no plugin ran. */
const idle: ReadonlySet<Handling> = new Set(["reported", "busy", "dry-run", "waiting"]);

/** Undoes one finding. */
type Act = (cleaner: Cleaner) => Promise<Handled>;

/** The parts of a runtime's call that undo one finding. */
export interface CallOffer extends Pick<RoundDeps, "takeLock" | "log" | "now"> {
  /** The call's shim in an agent's place. */
  readonly agent: RoundAgent;
  /** Milliseconds that are left for the undoing. */
  readonly leftMs: () => number;
}

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
  readonly #retries = new Retries(retryTerms);
  /** Findings that the agent could not undo: a call of the runtime may. */
  readonly #waiting = new Map<string, { readonly kind: Finding["kind"]; readonly act: Act }>();
  /** The reason why this round's agent may change nothing; undefined without one. */
  #agentProblem: string | undefined;

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
    return this.#waiting.size;
  }

  /**
   * Undoes the finding that has waited longest through the shim of a call. Answers its kind and what was done; undefined if none waits. What was not
   * undone waits again after the next round that may try it. Throws ShimGone.
   */
  async undoWaiting({ agent, takeLock, log, now, leftMs }: CallOffer): Promise<Pick<Finding, "kind" | "handling"> | undefined> {
    const [next] = this.#waiting;
    if (next === undefined) return undefined;
    const [id, { kind, act }] = next;
    this.#waiting.delete(id);
    // Held back from the next round until it is known to be done: the call may end before.
    this.#retries.failed(id, now());
    const { handling } = await act(this.#cleaner({ agent, takeLock, dryRun: false, log }, leftMs));
    if (handling !== "failed") this.#retries.succeeded(id);
    return { kind, handling };
  }

  /** One round. Throws ShimGone. */
  async round(deps: RoundDeps): Promise<Round> {
    if (!deps.dryRun) this.#waiting.clear();
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
    this.#agentProblem =
      deps.agent &&
      (await outsideNodeNamespace(
        deps.agent.shim,
        live.map(({ entry }) => entry),
      ));
    const files = this.#abandoned.list();
    const abandoned = files.ok ? files.value : [];
    const containers = abandoned.map(({ key }) => key.containerId);
    const found = this.#leases.findings(leases, listed.value, containers);
    const outlived = new Set(this.#unknownLeases.outlived(found.unknown, currentBoot(deps)));
    const recorded = this.#unknownLeases.keep(found.unknown, currentBoot(deps));
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
    this.#retries.keep(new Set(findings.map(({ id }) => id)));
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
      const handled = await this.#handle(name, verdict, deps, "attachment", (cleaner, why) => cleaner.entry(entry, why));
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
          : await this.#try(file.path, deps, "abandoned", (cleaner) => cleaner.abandoned(file, entry));
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
      const handled = await this.#free(deps, () => removeOrphaned([lease], 0));
      findings.push(this.#finding("lease", lease.path, "earlier-boot", handled));
    }
    for (const { lease, attachment } of kept) {
      // The entry may have been lost instead of undone, so the pod must be gone, too.
      const verdict = verdicts.get(attachment.listed.id) ?? { what: "live" };
      const settled = deps.date().getTime() - attachment.departedMs >= this.#graceMs;
      const handled: Handled = settled
        ? await this.#handle(lease.path, verdict, deps, "lease", (cleaner) => cleaner.departed(attachment.listed.entry, lease))
        : { handling: "reported" };
      findings.push(this.#finding("lease", lease.path, "kept-lease", handled));
    }
    return findings;
  }

  /** Frees leases without an owner. */
  async #ownerlessFindings(leases: readonly OwnerlessLease[], deps: RoundDeps): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const { path, lasts } of this.#leases.lasting(leases)) {
      const handled: Handled = lasts
        ? await this.#free(deps, () => removeOwnerless([path], 0))
        : { handling: "reported", note: "the next round frees it" };
      findings.push(this.#finding("lease", path, "ownerless", handled));
    }
    return findings;
  }

  /** Removes leases that no pod has. No agent is needed: only host-local's lock. `removal` answers their number. */
  async #free({ dryRun, takeLock, hasTime, worked }: RoundDeps, removal: () => LeaseOperation<Result<number>>): Promise<Handled> {
    if (dryRun) return { handling: "dry-run" };
    if (!hasTime()) return { handling: "postponed" };
    worked();
    const freed = await runAsync(removal(), takeLock);
    if (freed.ok) return { handling: freed.value > 0 ? "cleaned" : "busy" };
    return freed.fault.kind === "STORE_BUSY" ? { handling: "busy" } : { handling: "failed", note: freed.fault.msg };
  }

  /** Living attachments without the links of the node that they need. A later round reports them again. */
  async #lostLinks(live: readonly ListedEntry[], { agent }: RoundDeps): Promise<readonly Finding[]> {
    if (agent === undefined || this.#agentProblem !== undefined) return [];
    const lost = await lostLinksOf(agent.shim, live);
    return lost.map(({ id, note }) => this.#finding("link", id, "lost-link", { handling: "reported", note }));
  }

  async #leftovers({ takeLock, agent, date, dryRun }: RoundDeps): Promise<readonly Finding[]> {
    const found = leftoversIn(this.directory, date().getTime() - Math.max(this.#graceMs, leftoverMs));
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

  /** Runs `act` if the verdict is stale; otherwise only reports. */
  async #handle(
    id: string,
    verdict: Verdict,
    deps: RoundDeps,
    kind: Finding["kind"],
    act: (cleaner: Cleaner, why: Extract<Verdict, { what: "stale" }>["why"]) => Promise<Handled>,
  ): Promise<Handled> {
    if (verdict.what !== "stale") return { handling: "reported" };
    return this.#try(id, deps, kind, (cleaner) => act(cleaner, verdict.why));
  }

  /** Runs `act` now, if an agent is connected, the round has time, and no pause after a failure is left. */
  async #try(id: string, deps: RoundDeps, kind: Finding["kind"], act: Act): Promise<Handled> {
    const { agent, dryRun, takeLock, log, now, hasTime, impatient } = deps;
    if (agent === undefined) return { handling: "reported", note: "no agent is connected" };
    if (this.#agentProblem !== undefined) return { handling: "reported", note: this.#agentProblem };
    if (!impatient && !this.#retries.isDue(id, now())) return { handling: "paused" };
    if (!hasTime()) return { handling: "postponed" };
    const handled = await act(this.#cleaner({ agent, takeLock, dryRun, log }, () => Infinity));
    if (!idle.has(handled.handling)) deps.worked();
    const failed = handled.handling === "failed";
    if (failed) this.#retries.failed(id, now());
    // The DEL may fail because this agent lacks a right or a plugin: the call's shim has both.
    if (handled.handling === "waiting" || (failed && !agent.runsPlugins)) this.#waiting.set(id, { kind, act });
    return handled;
  }

  #cleaner(deps: Pick<CleanDeps, "agent" | "takeLock" | "dryRun" | "log">, leftMs: () => number): Cleaner {
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
