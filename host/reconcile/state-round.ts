// One round over one state directory: what is there, what of it is stale, what is done about it.

import { uptime } from "node:os";
import type { Fault } from "../../src/fault/fault.ts";
import { judgeEntry, type Verdict } from "../../src/reconcile/judge-entry.ts";
import { type Departed, type Lease, ownershipOf } from "../../src/reconcile/lease-owners.ts";
import { Retries } from "../../src/reconcile/retries.ts";
import { type Known, type Look, Sight } from "../../src/reconcile/sight.ts";
import type { BrainDeps } from "../brain/answer.ts";
import { bootId } from "../brain/boot-id.ts";
import { callLocks } from "../brain/locks.ts";
import { lookAtNamespace } from "../brain/namespace-gone.ts";
import type { OneCall } from "../brain/one-call.ts";
import type { Environment } from "../hands/fields.ts";
import type { Hands } from "../hands/hands.ts";
import type { JournalEntry } from "../journal/entry.ts";
import { fileNameOf } from "../journal/entry-file.ts";
import { Journal } from "../journal/journal.ts";
import { LeftBehind } from "../journal/left-behind.ts";
import { Cleaner, type Handled } from "./clean.ts";
import { EntryList, type Listed, type ListedEntry, placesOf } from "./entry-list.ts";
import type { Finding } from "./finding.ts";
import { inTurns } from "./in-turns.ts";
import { KeptConfigurations } from "./kept-configurations.ts";
import { leasesIn } from "./lease-list.ts";
import { leftoversIn, removeLeftovers } from "./leftovers.ts";

/** Hands of one connection that stay; another connection is another object. */
export interface ResidentHands {
  readonly hands: Hands;
  /** Theirs. */
  readonly environment: Environment;
  /** A call of their own. */
  readonly openCall: () => OneCall;
}

export interface ReconcileTerms {
  readonly graceMs: number;
  readonly dryRun: boolean;
}

export interface RoundDeps {
  readonly resident: ResidentHands | undefined;
  readonly takeLock: BrainDeps["takeLock"];
  /** Whether there is time for one thing more. */
  readonly hasTime: () => boolean;
  readonly log: (lines: string) => void;
  /** Milliseconds of a clock that never goes back. */
  readonly now: () => number;
  readonly date: () => Date;
}

/** How long an attachment that left the journal is remembered, in ms, and how many are. */
const departedMs = 3_600_000;
const mostDeparted = 2048;
const retryTerms = { firstMs: 60_000, longestMs: 3_600_000 };

interface DepartedAttachment extends Departed {
  readonly id: string;
  readonly entry: JournalEntry;
}

/** What is remembered of a state directory from one round to the next. */
export class StateRounds {
  readonly directory: string;
  readonly configurations: KeptConfigurations;
  readonly #terms: ReconcileTerms;
  readonly #journal: Journal;
  readonly #leftBehind: LeftBehind;
  readonly #list: EntryList;
  readonly #retries = new Retries(retryTerms);
  #sight: { readonly of: ResidentHands; readonly sight: Sight } | undefined;
  #before: ReadonlyMap<string, ListedEntry> = new Map();
  #departed: ReadonlyMap<string, DepartedAttachment> = new Map();
  #unknownLeases: ReadonlySet<string> = new Set();
  readonly #runDirectories = new Set<string>();

  /** `directory`: absolute, without a slash at its end. */
  constructor(directory: string, terms: ReconcileTerms) {
    this.directory = directory;
    this.#terms = terms;
    this.#journal = new Journal(directory);
    this.#leftBehind = new LeftBehind(directory);
    this.#list = new EntryList(this.#journal);
    this.configurations = new KeptConfigurations(directory);
  }

  /** Directories of nested calls that calls with this state directory use. */
  runDirectory(path: string): void {
    this.#runDirectories.add(path);
  }

  /** One round. Answers what was found, and how many entries there are. Throws HandsGone. */
  async round(
    deps: RoundDeps,
  ): Promise<{ readonly entries: number; readonly findings: readonly Finding[]; readonly problems: readonly Fault[] }> {
    const problems: Fault[] = [];
    const leases = await this.#readLeases();
    const listed = await this.#list.refresh();
    if (!listed.ok) return { entries: 0, findings: [], problems: [listed.fault] };
    const files = this.#leftBehind.list();
    if (!files.ok) problems.push(files.fault);
    const leftBehind = files.ok ? files.value : [];
    const cleaner = this.#cleaner(deps);
    const findings: Finding[] = [
      ...listed.value.damaged.map((each) =>
        this.#finding("damaged", fileNameOf(each.key), "unreadable", { handling: "reported", note: each.why }),
      ),
      ...(await this.#entries(listed.value, deps, cleaner)),
    ];
    for (const file of leftBehind) {
      const loaded = this.#leftBehind.load(file);
      const entry = loaded.ok ? loaded.value : undefined;
      if (loaded.ok && entry === undefined) continue;
      const handled =
        entry === undefined
          ? ({ handling: "reported", note: loaded.ok ? "" : loaded.fault.msg } as const)
          : await this.#try(file.path, deps, cleaner, (hands) => hands.leftBehind(file, entry));
      findings.push(this.#finding("left-behind", file.path, "given-up", handled));
    }
    findings.push(
      ...(await this.#leases(
        leases,
        listed.value,
        leftBehind.map(({ key }) => key.containerId),
        deps,
        cleaner,
      )),
    );
    findings.push(...(await this.#leftovers(deps)));
    this.#retries.keep(new Set(findings.map(({ id }) => id)));
    this.#before = new Map(listed.value.entries.map((each) => [each.id, each]));
    return { entries: listed.value.entries.length + listed.value.damaged.length, findings, problems };
  }

  async #entries({ entries }: Listed, deps: RoundDeps, cleaner: Cleaner | undefined): Promise<readonly Finding[]> {
    const verdicts = await this.#judge(entries, deps);
    const findings: Finding[] = [];
    for (const [index, entry] of entries.entries()) {
      const verdict = verdicts[index];
      if (verdict === undefined || verdict.what === "live") continue;
      const name = fileNameOf(entry.key);
      // Without hands nothing is seen of what may well be alive.
      if (verdict.what === "doubtful" && verdict.why === "unseen") continue;
      const handled =
        verdict.what === "doubtful"
          ? ({ handling: "reported" } as const)
          : await this.#try(name, deps, cleaner, (hands) => hands.entry(entry, verdict.why));
      findings.push(this.#finding("attachment", name, verdict.why, handled));
    }
    return findings;
  }

  async #judge(entries: readonly ListedEntry[], { resident, now, date }: RoundDeps): Promise<readonly Verdict[]> {
    const boot = bootId();
    const nowMs = date().getTime();
    // Either may be shown shorter than it is, to a container or after a sleep; the longer one makes the boot the earlier.
    const bootedMs = nowMs - Math.max(uptime() * 1000, Number(process.hrtime.bigint() / 1_000_000n));
    const looks: Look[] = [];
    for await (const { id, entry } of inTurns(entries)) {
      const path = entry.plan.netns;
      looks.push({ id, path, seen: resident === undefined ? "unknown" : await lookAtNamespace(resident.hands, path) });
    }
    const known = resident === undefined ? [] : this.#sightOf(resident).look(looks, now());
    return entries.map(({ entry, begunMs, touchedMs }, index) => {
      const { sighted, goneMs }: Known = known[index] ?? { sighted: false, goneMs: 0 };
      const { bootId: id, netns } = entry.plan;
      return judgeEntry(
        { bootId: id, netns, begunMs, touchedMs, closed: entry.closed },
        { bootId: boot, bootedMs, nowMs, seen: looks[index]?.seen ?? "unknown", goneMs, sighted, graceMs: this.#terms.graceMs },
      );
    });
  }

  /** What other hands saw counts for nothing. */
  #sightOf(resident: ResidentHands): Sight {
    if (this.#sight?.of !== resident) this.#sight = { of: resident, sight: new Sight() };
    return this.#sight.sight;
  }

  async #readLeases(): Promise<readonly Lease[]> {
    const known = [
      ...this.#before.values(),
      ...[...this.#departed.values()].map(({ entry }) => ({ leasePlaces: placesOf(entry) })),
    ];
    const places = new Set(known.flatMap(({ leasePlaces }) => leasePlaces));
    const all: Lease[] = [];
    for (const place of places) all.push(...(await leasesIn(place)));
    return all;
  }

  /** Leases were read before the journal was: whoever's came in between is in it. */
  async #leases(
    leases: readonly Lease[],
    { entries, damaged }: Listed,
    leftBehind: readonly string[],
    deps: RoundDeps,
    cleaner: Cleaner | undefined,
  ): Promise<readonly Finding[]> {
    this.#noteDepartures(entries, deps.date().getTime());
    const ours = entries.flatMap(({ entry, key: { containerId } }) =>
      [{ ifname: "" }, ...entry.plan.attachments].map(({ ifname }) => ({ containerId, ifname })),
    );
    // Of a container whose entry can't be read, or was given up, anything may be.
    const unclear = new Set([...damaged.map(({ key }) => key.containerId), ...leftBehind]);
    const ownerOf = ownershipOf(ours, this.#departed.values());
    const findings: Finding[] = [];
    const unknown = new Set<string>();
    for (const lease of leases) {
      if (unclear.has(lease.containerId)) continue;
      const owner = ownerOf(lease);
      if (owner.whose === "unknown") {
        unknown.add(lease.path);
        // Once is not enough: its DEL may have come between our two looks.
        if (this.#unknownLeases.has(lease.path))
          findings.push(this.#finding("lease", lease.path, "not-ours", { handling: "reported" }));
      } else if (owner.whose === "departed") {
        const { attachment } = owner;
        const settled = deps.date().getTime() - attachment.departedMs >= this.#terms.graceMs;
        const handled = settled
          ? await this.#try(lease.path, deps, cleaner, (hands) => hands.departed(attachment.entry))
          : ({ handling: "reported" } as const);
        findings.push(this.#finding("lease", lease.path, "kept-lease", handled));
      }
    }
    this.#unknownLeases = unknown;
    return findings;
  }

  /** Remembers attachments that have left the journal: a lease that one of them still has is ours. */
  #noteDepartures(entries: readonly ListedEntry[], nowMs: number): void {
    const present = new Set(entries.map(({ id }) => id));
    const departed = new Map([...this.#departed].filter(([, each]) => nowMs - each.departedMs < departedMs));
    for (const { id, entry, key, leasePlaces } of this.#before.values()) {
      if (present.has(id) || leasePlaces.length === 0) continue;
      for (const { ifname } of entry.plan.attachments) {
        departed.set(`${id} ${ifname}`, { id, containerId: key.containerId, ifname, departedMs: nowMs, entry });
      }
    }
    for (const id of [...departed.keys()].slice(0, Math.max(0, departed.size - mostDeparted))) departed.delete(id);
    this.#departed = departed;
  }

  async #leftovers({ takeLock, resident, date }: RoundDeps): Promise<readonly Finding[]> {
    const places = { stateDirectory: this.directory, runDirectories: [...this.#runDirectories] };
    const found = leftoversIn(places, date().getTime() - Math.max(this.#terms.graceMs, 1000));
    if (found.length === 0) return [];
    const hands = resident?.hands ?? { ensureThere: () => {} };
    const gone = !this.#terms.dryRun && (await removeLeftovers(places, callLocks({ hands, takeLock }, this.directory, 0)));
    const handling = this.#terms.dryRun ? "dry-run" : gone ? "cleaned" : "busy";
    return found.map((path) => this.#finding("leftover", path, "killed-call", { handling }));
  }

  /** Does it now, if there are hands, time, and no pause after a failure. */
  async #try(
    id: string,
    deps: RoundDeps,
    cleaner: Cleaner | undefined,
    act: (cleaner: Cleaner) => Promise<Handled>,
  ): Promise<Handled> {
    if (cleaner === undefined) return { handling: "reported", note: "no resident hands are connected" };
    if (!this.#retries.isDue(id, deps.now())) return { handling: "paused" };
    if (!deps.hasTime()) return { handling: "postponed" };
    const handled = await act(cleaner);
    if (handled.handling === "failed") this.#retries.failed(id, deps.now());
    return handled;
  }

  #cleaner({ resident, takeLock, log }: RoundDeps): Cleaner | undefined {
    if (resident === undefined) return undefined;
    const { hands, environment, openCall } = resident;
    const { dryRun } = this.#terms;
    return new Cleaner({
      stateDirectory: this.directory,
      configurations: this.configurations,
      openCall,
      hands,
      environment,
      takeLock,
      dryRun,
      log,
    });
  }

  #finding(kind: Finding["kind"], id: string, why: Finding["why"], handled: Handled): Finding {
    return { kind, directory: this.directory, id, why, ...handled };
  }
}
