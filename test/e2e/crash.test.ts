// Crash safety: SIGKILL for the brain, the hands or both, at every boundary between steps and at any time within an ADD or a
// DEL. The following DEL succeeds at once and leaves no link, no lease, no journal entry.

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { boundaries, CrashSite, victims, type KilledVerb, type Shot, type Victim } from "./crash-site.ts";
import { missingForMixed } from "./mixed-network.ts";

/** How many kills in all; fewer for a quick look. */
const wanted = Number(process.env["PLEXUS_TEST_KILLS"] ?? 500);
/** How often every boundary is met with every victim, by ADD and by DEL. */
const rounds = Math.ceil(wanted / 2 / (2 * boundaries.length * victims.length));
/** Containers that are killed side by side. */
const lanes = 3;

interface Attempt {
  readonly verb: KilledVerb;
  readonly victim: Victim;
  /** Undefined: at any time. */
  readonly boundary: number | undefined;
}

const verbs: readonly KilledVerb[] = ["ADD", "DEL"];
const every = verbs.flatMap((verb) => victims.map((victim) => ({ verb, victim })));
const atBoundaries: readonly Attempt[] = Array.from({ length: rounds }).flatMap(() =>
  boundaries.flatMap((boundary) => every.map((each) => ({ ...each, boundary }))),
);

describe.skipIf(missingForMixed("crash safety"))("crash safety", () => {
  const sites: CrashSite[] = [];
  const durations: Record<KilledVerb, number[]> = { ADD: [], DEL: [] };
  const leaks: string[] = [];
  const counts = { kills: 0, boundary: 0, missed: 0, second: 0, refused: 0 };
  let serial = 0;

  beforeAll(() => {
    for (let count = 0; count < lanes; count++) sites.push(new CrashSite());
  });
  afterAll(() => {
    for (const site of sites) site.dispose();
  });

  /** A call that nobody kills: it must succeed. */
  async function undisturbed(site: CrashSite, verb: KilledVerb, containerId: string, after: string): Promise<void> {
    const answer = await site.call(verb, containerId);
    durations[verb].push(answer.ms);
    if (answer.status !== 0) leaks.push(`${after}: ${verb} failed: ${answer.stdout}${answer.stderr}`);
  }

  /** A moment of an ordinary call of this verb, or a little after it. */
  function anyTime(verb: KilledVerb): number {
    const recent = durations[verb].slice(-15).toSorted((a, b) => a - b);
    return Math.random() * 1.05 * (recent[Math.floor(recent.length / 2)] ?? 300);
  }

  async function attempt(site: CrashSite, { verb, victim, boundary }: Attempt): Promise<boolean> {
    serial++;
    const containerId = `crash-${serial}`;
    if (verb === "DEL") await undisturbed(site, "ADD", containerId, `before ${containerId}`);
    const afterMs = boundary === undefined ? anyTime(verb) : 0;
    const shot =
      boundary === undefined
        ? await site.killAfter(verb, containerId, afterMs, victim)
        : await site.killAtBoundary(verb, containerId, boundary, victim);
    const where = boundary === undefined ? `after ${afterMs.toFixed(1)} ms` : `at boundary ${boundary}`;
    const what = `${containerId}: ${verb}, ${victim} killed ${where}`;
    if (shot.hit) leaks.push(...wrongAnswer(shot, victim).map((why) => `${what}: ${why}`));
    else if (boundary !== undefined) leaks.push(`${what}: was not killed: ${shot.answer.stdout}`);
    if (boundary === undefined && serial % 2 === 0) await secondAdd(site, containerId, what);
    await undisturbed(site, "DEL", containerId, what);
    const remains = site.remains();
    if (remains.length > 0) leaks.push(`${what}: left ${remains.join(", ")}`);
    return shot.hit;
  }

  /** A runtime that tries again without a DEL: it is served, or refused with a CNI error. */
  async function secondAdd(site: CrashSite, containerId: string, after: string): Promise<void> {
    const answer = await site.call("ADD", containerId);
    counts.second++;
    if (answer.status === 0) return;
    counts.refused++;
    if (answer.json?.["code"] === 7 && /already attached/u.test(String(answer.json["msg"]))) return;
    leaks.push(`${after}: the second ADD failed: ${answer.stdout}${answer.stderr}`);
  }

  async function lane(site: CrashSite, next: () => Attempt | undefined): Promise<void> {
    for (let each = next(); each !== undefined; each = next()) {
      const hit = await attempt(site, each);
      if (hit) counts.kills++;
      else counts.missed++;
      if (hit && each.boundary !== undefined) counts.boundary++;
    }
  }

  test(`${wanted} kills, 0 leaks`, { timeout: 900_000 }, async () => {
    const started = performance.now();
    const queue = [...atBoundaries];
    let turn = 0;
    const next = (): Attempt | undefined => {
      const first = queue.shift();
      if (first !== undefined) return first;
      if (counts.kills + sites.length > wanted && counts.kills >= wanted) return undefined;
      const any = every[turn++ % every.length];
      return any === undefined ? undefined : { ...any, boundary: undefined };
    };
    await Promise.all(sites.map((site) => lane(site, next)));
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stderr.write(
      `${counts.kills} kills, ${leaks.length} leaks (${counts.boundary} at boundaries, ${counts.kills - counts.boundary} at any time, ` +
        `${counts.missed} came too late; ${counts.second} second ADDs, ${counts.refused} of them refused) in ${seconds} s\n`,
    );
    expect(leaks).toEqual([]);
    expect(counts.kills).toBeGreaterThanOrEqual(wanted);
    expect(counts.boundary).toBe(atBoundaries.length);
  });

  test("no process outlives its call", async () => {
    for (const site of sites) await expect.poll(() => site.processes(), { timeout: 10_000 }).toEqual([]);
  });
});

/** A runtime whose hands live gets an error that says "try again later"; one whose hands were killed gets nothing. */
function wrongAnswer({ answer }: Shot, victim: Victim): readonly string[] {
  if (victim !== "brain")
    return answer.status === 137 && answer.stdout === "" ? [] : [`answered ${answer.status} ${answer.stdout}`];
  return answer.json?.["code"] === 11 ? [] : [`answered ${answer.status} ${answer.stdout}`];
}
