// One round over one state directory: what is there, what of it is stale, what is done about it.

import type { Fault } from "../../src/fault/fault.ts";
import type { Verdict } from "../../src/reconcile/judge-entry.ts";
import { Retries } from "../../src/reconcile/retries.ts";
import type { BrainDeps } from "../brain/answer.ts";
import { callLocks } from "../brain/locks.ts";
import { fileNameOf } from "../journal/entry-file.ts";
import { Journal } from "../journal/journal.ts";
import { LeftBehind, type LeftBehindFile } from "../journal/left-behind.ts";
import { Cleaner, type Handled, type RoundHands } from "./clean.ts";
import { type Clocks, EntryJudge } from "./entry-judge.ts";
import { EntryList, type ListedEntry } from "./entry-list.ts";
import type { Finding, Handling } from "./finding.ts";
import { apartFromNode } from "./host-links.ts";
import { KeptConfigurations } from "./kept-configurations.ts";
import { type LeaseFindings, LeaseWatch } from "./lease-watch.ts";
import { leftoversIn, removeLeftovers } from "./leftovers.ts";

export interface RoundDeps extends Clocks {
  readonly resident: RoundHands | undefined;
  /** True: it is told what would be done, and nothing is. */
  readonly dryRun: boolean;
  readonly takeLock: BrainDeps["takeLock"];
  /** Whether there is time for one thing more. */
  readonly hasTime: () => boolean;
  /** Whether what failed is tried again before its pause is over: a person asked, who may have removed the reason. */
  readonly impatient: boolean;
  /** Something was undone, or tried to be. */
  readonly worked: () => void;
  readonly log: (lines: string) => void;
}

export interface Round {
  /** How many entries the journal has. */
  readonly entries: number;
  readonly findings: readonly Finding[];
  readonly problems: readonly Fault[];
}

const retryTerms = { firstMs: 60_000, longestMs: 3_600_000 };
/** What killed calls leave is at least so old, in ms: a file is written within less. */
const leftoverMs = 10_000;

/** For these no plugin was asked. */
const idle: ReadonlySet<Handling> = new Set(["reported", "busy", "dry-run"]);

type Verdicts = ReadonlyMap<string, Verdict>;

/** What is remembered of a state directory from one round to the next. */
export class StateRounds {
  readonly directory: string;
  readonly configurations: KeptConfigurations;
  readonly #graceMs: number;
  readonly #leftBehind: LeftBehind;
  readonly #list: EntryList;
  readonly #judge: EntryJudge;
  readonly #leases = new LeaseWatch();
  readonly #retries = new Retries(retryTerms);
  readonly #runDirectories = new Set<string>();
  /** Why the hands of this round may do nothing. */
  #apart: string | undefined;

  /** `directory`: absolute, without a slash at its end. */
  constructor(directory: string, graceMs: number) {
    this.directory = directory;
    this.#graceMs = graceMs;
    this.#leftBehind = new LeftBehind(directory);
    this.#list = new EntryList(new Journal(directory));
    this.#judge = new EntryJudge(graceMs);
    this.configurations = new KeptConfigurations(directory);
  }

  /** Directories of nested calls that calls with this state directory use. */
  runDirectory(path: string): void {
    this.#runDirectories.add(path);
  }

  /** One round. Throws HandsGone. */
  async round(deps: RoundDeps): Promise<Round> {
    // Before the journal: whoever's lease comes in between is in it.
    const leases = await this.#leases.read();
    const listed = await this.#list.refresh();
    if (!listed.ok) return { entries: 0, findings: [], problems: [listed.fault] };
    const { entries, damaged } = listed.value;
    const departed = this.#leases.note(entries, leases, deps.date().getTime());
    const verdicts = await this.#judge.judge([...entries, ...departed], deps.resident, deps);
    const live = entries.filter(({ id }) => verdicts.get(id)?.what === "live");
    this.#apart =
      deps.resident &&
      (await apartFromNode(
        deps.resident,
        live.map(({ entry }) => entry),
      ));
    const files = this.#leftBehind.list();
    const leftBehind = files.ok ? files.value : [];
    const containers = leftBehind.map(({ key }) => key.containerId);
    const findings: Finding[] = [
      ...damaged.map(({ key, why }) =>
        this.#finding("damaged", fileNameOf(key), "unreadable", { handling: "reported", note: why }),
      ),
      ...(await this.#attachments(entries, verdicts, deps)),
      ...(await this.#leftBehindOnes(leftBehind, deps)),
      ...(await this.#leaseFindings(this.#leases.findings(leases, listed.value, containers), verdicts, deps)),
      ...(await this.#leftovers(deps)),
    ];
    this.#retries.keep(new Set(findings.map(({ id }) => id)));
    return { entries: entries.length + damaged.length, findings, problems: files.ok ? [] : [files.fault] };
  }

  async #attachments(entries: readonly ListedEntry[], verdicts: Verdicts, deps: RoundDeps): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const entry of entries) {
      const verdict = verdicts.get(entry.id);
      if (verdict === undefined || verdict.what === "live") continue;
      // Where nothing is seen all of them may well be alive.
      if (verdict.what === "doubtful" && verdict.why === "unseen") continue;
      const name = fileNameOf(entry.key);
      const handled = await this.#handle(name, verdict, deps, (cleaner, why) => cleaner.entry(entry, why));
      findings.push(this.#finding("attachment", name, verdict.why, handled));
    }
    return findings;
  }

  async #leftBehindOnes(files: readonly LeftBehindFile[], deps: RoundDeps): Promise<readonly Finding[]> {
    const findings: Finding[] = [];
    for (const file of files) {
      const loaded = this.#leftBehind.load(file);
      const entry = loaded.ok ? loaded.value : undefined;
      if (loaded.ok && entry === undefined) continue;
      const handled: Handled =
        entry === undefined
          ? { handling: "reported", ...(loaded.ok ? {} : { note: loaded.fault.msg }) }
          : await this.#try(file.path, deps, (cleaner) => cleaner.leftBehind(file, entry));
      findings.push(this.#finding("left-behind", file.path, "given-up", handled));
    }
    return findings;
  }

  async #leaseFindings({ kept, unknown }: LeaseFindings, verdicts: Verdicts, deps: RoundDeps): Promise<readonly Finding[]> {
    const findings = unknown.map(({ path }) => this.#finding("lease", path, "not-ours", { handling: "reported" }));
    for (const { lease, attachment } of kept) {
      // The entry may have been lost, and not undone: its pod must be gone.
      const verdict = verdicts.get(attachment.listed.id) ?? { what: "live" };
      const settled = deps.date().getTime() - attachment.departedMs >= this.#graceMs;
      const handled: Handled = settled
        ? await this.#handle(lease.path, verdict, deps, (cleaner) => cleaner.departed(attachment.listed.entry, lease))
        : { handling: "reported" };
      findings.push(this.#finding("lease", lease.path, "kept-lease", handled));
    }
    return findings;
  }

  async #leftovers({ takeLock, resident, date, dryRun }: RoundDeps): Promise<readonly Finding[]> {
    const places = { stateDirectory: this.directory, runDirectories: [...this.#runDirectories] };
    const found = leftoversIn(places, date().getTime() - Math.max(this.#graceMs, leftoverMs));
    if (found.length === 0) return [];
    const hands = resident?.hands ?? { ensureThere: () => {} };
    const gone =
      !dryRun &&
      (await removeLeftovers(
        places,
        callLocks({ hands, takeLock }, this.directory, () => 0),
      ));
    const handling = dryRun ? "dry-run" : gone ? "cleaned" : "busy";
    return found.map((path) => this.#finding("leftover", path, "killed-call", { handling }));
  }

  /** Cleans what is stale, and nothing else. */
  async #handle(
    id: string,
    verdict: Verdict,
    deps: RoundDeps,
    act: (cleaner: Cleaner, why: Extract<Verdict, { what: "stale" }>["why"]) => Promise<Handled>,
  ): Promise<Handled> {
    if (verdict.what !== "stale") return { handling: "reported" };
    return this.#try(id, deps, (cleaner) => act(cleaner, verdict.why));
  }

  /** Does it now, if there are hands, time, and no pause after a failure. */
  async #try(id: string, deps: RoundDeps, act: (cleaner: Cleaner) => Promise<Handled>): Promise<Handled> {
    const { resident, dryRun, takeLock, log, now, hasTime, impatient } = deps;
    if (resident === undefined) return { handling: "reported", note: "no resident hands are connected" };
    if (this.#apart !== undefined) return { handling: "reported", note: this.#apart };
    if (!impatient && !this.#retries.isDue(id, now())) return { handling: "paused" };
    if (!hasTime()) return { handling: "postponed" };
    const { configurations, directory: stateDirectory } = this;
    const entries = async (): Promise<readonly ListedEntry[]> => {
      const listed = await this.#list.refresh();
      return listed.ok ? listed.value.entries : [];
    };
    const handled = await act(new Cleaner({ stateDirectory, configurations, resident, takeLock, dryRun, entries, log }));
    if (!idle.has(handled.handling)) deps.worked();
    if (handled.handling === "failed") this.#retries.failed(id, now());
    return handled;
  }

  #finding(kind: Finding["kind"], id: string, why: Finding["why"], handled: Handled): Finding {
    return { kind, directory: this.directory, id, why, ...handled };
  }
}
