// Crash safety: SIGKILL for the brain, the hands or both, at every boundary between steps and at any time within an ADD or a
// DEL. The following DEL succeeds at once and leaves no link, no lease, no journal entry.

import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { missing, type Requirement } from "../harness/requires.ts";
import { boundaries, CrashSite, victims, type KilledVerb, type Shot, type Victim } from "./crash-site.ts";
import { missingForMixed } from "./mixed-network.ts";

/** How many kills in all; fewer for a quick look. */
const wanted = Number(process.env["PLEXUS_TEST_KILLS"] ?? 500);
const verbs: readonly KilledVerb[] = ["ADD", "DEL"];
const kinds = verbs.length * boundaries.length * victims.length;
/** How often every boundary is met with every victim, by ADD and by DEL: about a fifth of all kills. */
const rounds = Math.ceil(wanted / 5.3 / kinds);
/** Containers that are killed side by side. */
const lanes = 4;

/** The killing step finds the brain by it. */
const childLists: Requirement = () =>
  existsSync(`/proc/${process.pid}/task/${process.pid}/children`)
    ? undefined
    : "the kernel lists no children (CONFIG_PROC_CHILDREN)";

type Scenario = (site: CrashSite, containerId: string) => Promise<void>;

describe.skipIf(missingForMixed("crash safety") || missing("crash safety", childLists))("crash safety", () => {
  const sites: CrashSite[] = [];
  const durations: Record<KilledVerb, number[]> = { ADD: [], DEL: [] };
  const leaks: string[] = [];
  const counts = { boundary: 0, anyTime: 0, missed: 0, second: 0, refused: 0 };
  let serial = 0;

  beforeAll(() => {
    while (sites.length < lanes) sites.push(new CrashSite());
  });
  afterAll(() => {
    for (const site of sites) site.dispose();
  });

  /** A call that nobody kills: it must succeed. */
  async function undisturbed(site: CrashSite, verb: KilledVerb, containerId: string, after: string): Promise<void> {
    const answer = await site.call(verb, containerId);
    durations[verb].push(answer.ms);
    if (answer.status !== 0) leaks.push(`${containerId}: ${after}: ${verb} failed: ${answer.stdout}${answer.stderr}`);
  }

  /** The DEL that follows: it must succeed and leave nothing. */
  async function followingDel(site: CrashSite, containerId: string, after: string): Promise<void> {
    await undisturbed(site, "DEL", containerId, after);
    const remains = site.remains();
    if (remains.length > 0) leaks.push(`${containerId}: ${after}: left ${remains.join(", ")}`);
  }

  function atBoundary(verb: KilledVerb, victim: Victim, boundary: number): Scenario {
    return async (site, containerId) => {
      const what = `${verb}, ${victim} killed at boundary ${boundary}`;
      if (verb === "DEL") await undisturbed(site, "ADD", containerId, "at first");
      const shot = await site.killAtBoundary(verb, containerId, boundary, victim);
      const wrong = shot.hit ? wrongAnswer(shot, victim) : `was not killed: ${shot.answer.stdout}`;
      if (wrong !== undefined) leaks.push(`${containerId}: ${what}: ${wrong}`);
      await followingDel(site, containerId, what);
      counts.boundary++;
    };
  }

  /** Kills at a moment of an ordinary call of this verb, or a little after it; answers what it did. */
  async function anyMoment(site: CrashSite, verb: KilledVerb, containerId: string): Promise<string> {
    const victim = victims[Math.floor(Math.random() * victims.length)] ?? "brain";
    const recent = durations[verb].slice(-15).toSorted((a, b) => a - b);
    const afterMs = Math.random() * 1.05 * (recent[Math.floor(recent.length / 2)] ?? 200);
    const shot = await site.killAfter(verb, containerId, afterMs, victim);
    const what = `${verb}, ${victim} killed after ${afterMs.toFixed(1)} ms`;
    if (!shot.hit) {
      counts.missed++;
      return `${what} (missed)`;
    }
    counts.anyTime++;
    const wrong = wrongAnswer(shot, victim);
    if (wrong !== undefined) leaks.push(`${containerId}: ${what}: ${wrong}`);
    return what;
  }

  /** A runtime that tries again without a DEL: it is served, or refused with a CNI error. */
  async function secondAdd(site: CrashSite, containerId: string, after: string): Promise<void> {
    const answer = await site.call("ADD", containerId);
    counts.second++;
    if (answer.status === 0) return;
    counts.refused++;
    if (answer.json?.["code"] === 7 && /already attached/u.test(String(answer.json["msg"]))) return;
    leaks.push(`${containerId}: ${after}: the second ADD failed: ${answer.stdout}${answer.stderr}`);
  }

  /** ADD, killed or not; at times a second one; DELs that are killed; the DEL that isn't. */
  const atAnyTime: Scenario = async (site, containerId) => {
    const story: string[] = [];
    if (Math.random() < 0.3) await undisturbed(site, "ADD", containerId, "at first");
    else story.push(await anyMoment(site, "ADD", containerId));
    if (Math.random() < 0.2) {
      await secondAdd(site, containerId, story.join("; "));
      story.push("a second ADD");
    }
    while (Math.random() < 0.7) story.push(await anyMoment(site, "DEL", containerId));
    await followingDel(site, containerId, story.join("; "));
  };

  test(`MC-03: ${wanted} kills, 0 leaks`, { timeout: 900_000 }, async () => {
    const started = performance.now();
    const every = verbs.flatMap((verb) => victims.flatMap((victim) => boundaries.map((each) => atBoundary(verb, victim, each))));
    const queue = Array.from({ length: rounds }).flatMap(() => every);
    const lane = async (site: CrashSite): Promise<void> => {
      while (queue.length > 0 || counts.boundary + counts.anyTime < wanted) {
        const scenario = queue.shift() ?? atAnyTime;
        await scenario(site, `crash-${++serial}`);
      }
    };
    await Promise.all(sites.map(lane));

    const kills = counts.boundary + counts.anyTime;
    const { boundary, anyTime, missed, second, refused } = counts;
    const seconds = ((performance.now() - started) / 1000).toFixed(0);
    process.stderr.write(
      `${kills} kills, ${leaks.length} leaks (${boundary} at boundaries, ${anyTime} at any time; ${missed} more came too late; ` +
        `${second} second ADDs, ${refused} refused) in ${seconds} s\n`,
    );
    expect(leaks).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(wanted);
    expect(boundary).toBe(rounds * kinds);
  });

  test("GC cleans up after killed ADDs whose DEL never comes, torn journal entries and results included", async () => {
    const [site] = sites;
    if (site === undefined) throw new Error("there is no site");
    for (const victim of victims) {
      for (const boundary of boundaries) {
        expect(await site.killAtBoundary("ADD", `lost-${++serial}`, boundary, victim)).toMatchObject({ hit: true });
        for (const directory of ["journal", "results"]) {
          writeFileSync(join(site.stage.plexus.state(`cni/${directory}`), `.torn-${serial}@cluster@eth0`), "{");
        }
        const answer = await site.collect();
        expect([answer.status, answer.stdout, site.remains()]).toEqual([0, "", []]);
      }
    }
  });

  test("no process outlives its call", async () => {
    for (const site of sites) await expect.poll(() => site.processes(), { timeout: 10_000 }).toEqual([]);
  });
});

/** A runtime whose hands live gets an error that says "try again later"; one whose hands were killed gets nothing. */
function wrongAnswer({ answer }: Shot, victim: Victim): string | undefined {
  const right = victim === "brain" ? answer.json?.["code"] === 11 : answer.status === 137 && answer.stdout === "";
  return right ? undefined : `answered ${answer.status} ${answer.stdout}`;
}
