// Crash safety: SIGKILL of the engine, the shim or both, at every boundary between steps and at random times of an ADD or a
// DEL. The following DEL succeeds at the first attempt and leaves no link, no lease and no journal entry.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { rounds } from "../../lab/rounds.ts";
import { randomFrom, testSeed } from "../../lab/random-from.ts";
import { missing } from "../../lab/requires.ts";
import { boundaries, CrashSite, missingChildLists, victims, type KilledVerb, type Shot, type Victim } from "./crash-site.ts";
import { missingForMixed } from "../../lab/mixed-network.ts";

/** The total number of kills. PLEXUS_TEST_KILLS sets a smaller number for a quick run. */
const wanted = rounds(500, "PLEXUS_TEST_KILLS");
const verbs: readonly KilledVerb[] = ["ADD", "DEL"];
const kinds = verbs.length * boundaries.length * victims.length;
/** Repetitions of every combination of verb, boundary and victim: about a fifth of all kills. */
const roundsOfEach = Math.ceil(wanted / 5.3 / kinds);
/** Containers whose calls are killed concurrently. */
const lanes = 4;

type Scenario = (site: CrashSite, containerId: string) => Promise<void>;

describe.skipIf(missingForMixed("crash safety") || missing("crash safety", missingChildLists))("crash safety", () => {
  const sites: CrashSite[] = [];
  const durations: Record<KilledVerb, number[]> = { ADD: [], DEL: [] };
  const leaks: string[] = [];
  const counts = { boundary: 0, anyTime: 0, missed: 0, second: 0, refused: 0 };
  let serial = 0;
  // The lanes share the numbers: a seed repeats the numbers, not the order of the kills.
  const random = randomFrom(testSeed("crash safety"));

  beforeAll(() => {
    while (sites.length < lanes) sites.push(new CrashSite());
  });
  afterAll(() => {
    for (const site of sites) site.dispose();
  });

  /** Sends a call that is not killed and must succeed. */
  async function undisturbed(site: CrashSite, verb: KilledVerb, containerId: string, after: string): Promise<void> {
    const answer = await site.call(verb, containerId);
    durations[verb].push(answer.ms);
    if (answer.status !== 0) leaks.push(`${containerId}: ${after}: ${verb} failed: ${answer.stdout}${answer.stderr}`);
  }

  /** Sends the DEL after a kill, which must succeed and leave nothing. */
  async function followingDel(site: CrashSite, containerId: string, after: string): Promise<void> {
    await undisturbed(site, "DEL", containerId, after);
    const remains = site.remains();
    if (remains.length > 0) leaks.push(`${containerId}: ${after}: left ${remains.join(", ")}`);
  }

  function atBoundary(verb: KilledVerb, victim: Victim, boundary: number): Scenario {
    return async (site, containerId) => {
      const scenario = `${verb}, ${victim} killed at boundary ${boundary}`;
      if (verb === "DEL") await undisturbed(site, "ADD", containerId, "at first");
      const shot = await site.killAtBoundary(verb, containerId, boundary, victim);
      const wrong = shot.hit ? wrongAnswer(shot, victim) : `was not killed: ${shot.answer.stdout}`;
      if (wrong !== undefined) leaks.push(`${containerId}: ${scenario}: ${wrong}`);
      await followingDel(site, containerId, scenario);
      counts.boundary++;
    };
  }

  /** Kills a call at a random time, which is a little beyond the median duration at most. Answers a description. */
  async function killAtRandomTime(site: CrashSite, verb: KilledVerb, containerId: string): Promise<string> {
    const victim = victims[Math.floor(random() * victims.length)] ?? "engine";
    const recent = durations[verb].slice(-15).toSorted((a, b) => a - b);
    const afterMs = random() * 1.05 * (recent[Math.floor(recent.length / 2)] ?? 200);
    const shot = await site.killAfter(verb, containerId, afterMs, victim);
    const scenario = `${verb}, ${victim} killed after ${afterMs.toFixed(1)} ms`;
    if (!shot.hit) {
      counts.missed++;
      return `${scenario} (missed)`;
    }
    counts.anyTime++;
    const wrong = wrongAnswer(shot, victim);
    if (wrong !== undefined) leaks.push(`${containerId}: ${scenario}: ${wrong}`);
    return scenario;
  }

  /** Repeats ADD without a DEL between. The call must succeed or be refused as "already attached". */
  async function secondAdd(site: CrashSite, containerId: string, after: string): Promise<void> {
    const answer = await site.call("ADD", containerId);
    counts.second++;
    if (answer.status === 0) return;
    counts.refused++;
    if (answer.json?.["code"] === 7 && /already attached/u.test(String(answer.json["msg"]))) return;
    leaks.push(`${containerId}: ${after}: the second ADD failed: ${answer.stdout}${answer.stderr}`);
  }

  /** An ADD, killed or not; sometimes a second ADD; some killed DELs; one DEL that is not killed. */
  const atAnyTime: Scenario = async (site, containerId) => {
    const history: string[] = [];
    if (random() < 0.3) await undisturbed(site, "ADD", containerId, "at first");
    else history.push(await killAtRandomTime(site, "ADD", containerId));
    if (random() < 0.2) {
      await secondAdd(site, containerId, history.join("; "));
      history.push("a second ADD");
    }
    while (random() < 0.7) history.push(await killAtRandomTime(site, "DEL", containerId));
    await followingDel(site, containerId, history.join("; "));
  };

  test(`MC-03: ${wanted} kills, 0 leaks`, { timeout: 900_000 }, async () => {
    const started = performance.now();
    const combinations = verbs.flatMap((verb) =>
      victims.flatMap((victim) => boundaries.map((each) => atBoundary(verb, victim, each))),
    );
    const queue = Array.from({ length: roundsOfEach }).flatMap(() => combinations);
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
      `${kills} kills, ${leaks.length} leaks (${boundary} at boundaries, ${anyTime} at any time; ${missed} more hit no process; ` +
        `${second} second ADDs, ${refused} refused) in ${seconds} s\n`,
    );
    expect(leaks).toEqual([]);
    expect(kills).toBeGreaterThanOrEqual(wanted);
    expect(boundary).toBe(roundsOfEach * kinds);
  });

  test("GC removes the remains of killed ADDs without a DEL, and torn journal entries and results", async () => {
    const [site] = sites;
    if (site === undefined) throw new Error("no crash site was opened");
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
    for (const site of sites) await expect.poll(() => site.processes()).toEqual([]);
  });
});

/** Checks the answer of a killed call: code 11 (try again later) if the shim survived, no answer if the shim was killed. */
function wrongAnswer({ answer }: Shot, victim: Victim): string | undefined {
  const correct = victim === "engine" ? answer.json?.["code"] === 11 : answer.status === 137 && answer.stdout === "";
  return correct ? undefined : `answered ${answer.status} ${answer.stdout}`;
}
