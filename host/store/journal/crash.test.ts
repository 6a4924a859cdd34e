// Kills the journal at every system call that it makes on its files (strace delivers the SIGKILL on entry): an entry is there whole
// or not at all, in one place, and the next call can go on from what is there.

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missing, strace } from "../../test/harness/requires.ts";
import { replay, type JournalEntry } from "./entry.ts";
import { type Act, acts, laterPlan, plan, progress } from "./fixtures/acts.ts";
import { Journal } from "./journal.ts";
import { LeftBehind } from "./left-behind.ts";

const run = promisify(execFile);
const oneAct = fileURLToPath(new URL("fixtures/one-act.ts", import.meta.url));
const name = "victim@cluster@eth0";

interface Found {
  readonly journal: JournalEntry | undefined;
  readonly leftBehind: readonly (JournalEntry | undefined)[];
}

const traced = (state: string, act: Act, ...options: string[]): Promise<{ stderr: string }> => {
  const places = ["", "journal", `journal/${name}`, `journal/.${name}`, "left-behind", `left-behind/1@${name}`];
  // A call that renames is known by its first path alone.
  const spares = join(state, ".plexus-spares");
  const spared = existsSync(spares) ? readdirSync(spares).map((each) => join(".plexus-spares", each)) : [];
  const paths = [...places, ...spared].flatMap((each) => ["-P", join(state, each)]);
  // One thread for what is done in the background: strace counts the calls of each thread on its own.
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  return run("strace", ["-f", "-qq", ...paths, ...options, process.execPath, oneAct, state, act], { env });
};

/** What a later call finds. Nothing of it may be unreadable. */
const found = (state: string): Found => {
  const leftBehind = new LeftBehind(state);
  const loaded = new Journal(state).load(plan);
  const files = leftBehind.list();
  if (!loaded.ok || !files.ok) throw new Error(JSON.stringify([loaded, files]));
  return {
    journal: loaded.value,
    leftBehind: files.value.map((file) => {
      const entry = leftBehind.load(file);
      if (!entry.ok) throw new Error(entry.fault.msg);
      return entry.value;
    }),
  };
};

/** The calls of an undisturbed act: each one's name, and the how-manieth of that name its thread made. */
const callsOf = async (state: string, act: Act): Promise<readonly (readonly [string, number])[]> => {
  const { stderr } = await traced(state, act);
  const seen = new Map<string, number>();
  const most = new Map<string, number>();
  const changing = /^(?:\[pid +(\d+)\] )?(mkdir|openat|write|pwrite64|fsync|close|rename|unlink|ftruncate)\(/gm;
  for (const [, thread = "", call = ""] of stderr.matchAll(changing)) {
    const nth = (seen.get(`${thread} ${call}`) ?? 0) + 1;
    seen.set(`${thread} ${call}`, nth);
    most.set(call, Math.max(nth, most.get(call) ?? 0));
  }
  return [...most].flatMap(([call, count]) => Array.from({ length: count }, (_, index) => [call, index + 1] as const));
};

describe.skipIf(missing("killed journals", strace))("a journal killed at any system call", () => {
  let scratch: string;
  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), "plexus-journal-crash-"));
  });
  afterAll(() => rmSync(scratch, { recursive: true }));

  const none: Found = { journal: undefined, leftBehind: [] };
  const planned = replay(plan, []);
  const failed = replay(plan, progress);
  const inJournal = (entry: JournalEntry): Found => ({ ...none, journal: entry });
  const aside = (entry: JournalEntry): Found => ({ ...none, leftBehind: [entry] });
  const steps = progress.map((_, count) => inJournal(replay(plan, progress.slice(0, count))));

  // The first record comes with the plan.
  const opened = [...steps.slice(1), inJournal(failed)];

  const cases: readonly {
    readonly act: Act;
    readonly after: readonly Act[];
    readonly allowed: readonly Found[];
    readonly least: number;
    /** Of file and directory, where there are any. */
    readonly fsyncs: number;
  }[] = [
    { act: "begin", after: [], allowed: [none, inJournal(planned)], least: 8, fsyncs: 2 },
    { act: "wholeAdd", after: [], allowed: [none, ...opened], least: 12, fsyncs: 2 },
    { act: "wholeAddInBackground", after: [], allowed: [none, ...opened], least: 12, fsyncs: 2 },
    { act: "comeAndGoWithSpares", after: ["leaveSpare"], allowed: [none, ...opened], least: 10, fsyncs: 0 },
    { act: "wholeAdd", after: ["begin", "progress"], allowed: [inJournal(failed), ...opened], least: 12, fsyncs: 2 },
    { act: "progress", after: ["begin"], allowed: [...steps, inJournal(failed)], least: 12, fsyncs: 0 },
    {
      act: "beginAgain",
      after: ["begin", "progress"],
      allowed: [inJournal(failed), inJournal(replay(laterPlan, []))],
      least: 7,
      fsyncs: 2,
    },
    { act: "leaveBehind", after: ["begin", "progress"], allowed: [inJournal(failed), aside(failed)], least: 6, fsyncs: 2 },
    {
      act: "finish",
      after: ["begin", "progress", "leaveBehind"],
      allowed: [
        aside(failed),
        aside(replay(plan, [...progress, { undone: 1 }])),
        aside(replay(plan, [...progress, { undone: 1 }, { undone: 0 }])),
        none,
      ],
      least: 6,
      fsyncs: 0,
    },
    { act: "remove", after: ["begin", "progress"], allowed: [inJournal(failed), none], least: 1, fsyncs: 0 },
  ];

  test.each(cases)(
    "$act after $after: an entry is whole, in one place, and can be gone on from",
    async ({ act, after, allowed, least, fsyncs }) => {
      const before = join(scratch, `${act}-${after.length}-before`);
      const [journal, leftBehind] = [new Journal(before), new LeftBehind(before)];
      acts.remove(journal);
      for (const each of after) await acts[each](journal, leftBehind);
      const prepared = (suffix: string): string => {
        const state = join(scratch, `${act}-${after.length}-${suffix}`);
        try {
          cpSync(before, state, { recursive: true });
        } catch {
          // Nothing was there before.
        }
        return state;
      };
      // With a spare only calls are tried that leave something else than the one before them: all kinds are tried without.
      const all = await callsOf(prepared("whole"), act);
      const calls = act.endsWith("WithSpares") ? all.filter(([call]) => /write|rename|ftruncate/.test(call)) : all;
      expect(calls.length).toBeGreaterThanOrEqual(least);
      // Killed while it is synced, too.
      expect(calls.filter(([call]) => call === "fsync")).toHaveLength(fsyncs);
      const kill = async ([call, nth]: readonly [string, number]): Promise<void> => {
        const state = prepared(`${call}-${nth}`);
        await expect(traced(state, act, "-e", `inject=${call}:signal=SIGKILL:when=${nth}`)).rejects.toMatchObject({
          signal: "SIGKILL",
        });
        expect(allowed).toContainEqual(found(state));
        // The next ADD, its DEL and a GC go on from there and leave nothing, and a daemon does.
        const [next, left] = [new Journal(state), new LeftBehind(state)];
        for (const each of ["begin", "progress", "leaveBehind", "finish", "remove", "comeAndGoWithSpares"] as const) {
          await acts[each](next, left);
        }
        expect(found(state)).toEqual(none);
        for (const directory of ["journal", "left-behind"]) expect(readdirSync(join(state, directory))).toEqual([]);
      };
      // Two at a time: the machine has as many cores.
      const half = Math.ceil(calls.length / 2);
      await Promise.all(
        [calls.slice(0, half), calls.slice(half)].map(async (part) => {
          for (const each of part) await kill(each);
        }),
      );
    },
  );
});
