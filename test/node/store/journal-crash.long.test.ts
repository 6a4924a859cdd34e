// Kills the journal at each system call on its files (strace delivers SIGKILL on entry). Afterwards an entry is complete or absent, lies
// in one directory, and the next call can continue from it.

import { execFile } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { missing, strace } from "../../lab/requires.ts";
import { replay, type JournalEntry } from "../../../host/store/journal/entry.ts";
import { type Act, acts, laterPlan, plan, progress } from "../../../host/store/journal/fixtures/acts.ts";
import { Journal } from "../../../host/store/journal/journal.ts";
import { Abandoned } from "../../../host/store/journal/abandoned.ts";

const run = promisify(execFile);
const oneAct = fileURLToPath(new URL("../../../host/store/journal/fixtures/one-act.ts", import.meta.url));
const name = "victim@cluster@eth0";

interface Found {
  readonly journal: JournalEntry | undefined;
  readonly abandoned: readonly (JournalEntry | undefined)[];
}

const traced = (state: string, act: Act, ...options: string[]): Promise<{ stderr: string }> => {
  const places = ["", "journal", `journal/${name}`, `journal/.${name}`, "abandoned", `abandoned/1@${name}`];
  // strace matches a rename by its first path only, so the recycled files' paths are needed, too.
  const recycledFiles = join(state, ".plexus-recycled");
  const recycledPaths = existsSync(recycledFiles) ? readdirSync(recycledFiles).map((each) => join(".plexus-recycled", each)) : [];
  const paths = [...places, ...recycledPaths].flatMap((each) => ["-P", join(state, each)]);
  // One thread for background writes: strace counts the calls of each thread separately.
  const env = { ...process.env, UV_THREADPOOL_SIZE: "1" };
  return run("strace", ["-f", "-qq", ...paths, ...options, process.execPath, oneAct, state, act], { env });
};

/** The entries that a later call finds. An unreadable entry is an error. */
const found = (state: string): Found => {
  const abandoned = new Abandoned(state);
  const loaded = new Journal(state).load(plan);
  const files = abandoned.list();
  if (!loaded.ok || !files.ok) throw new Error(JSON.stringify([loaded, files]));
  return {
    journal: loaded.value,
    abandoned: files.value.map((file) => {
      const entry = abandoned.load(file);
      if (!entry.ok) throw new Error(entry.fault.msg);
      return entry.value;
    }),
  };
};

/** The system calls of an undisturbed act: name, and position among its thread's calls of that name. */
const callsOf = async (state: string, act: Act): Promise<readonly (readonly [string, number])[]> => {
  const { stderr } = await traced(state, act);
  const seen = new Map<string, number>();
  const counts = new Map<string, number>();
  const changing = /^(?:\[pid +(\d+)\] )?(mkdir|openat|write|pwrite64|fsync|close|rename|unlink|ftruncate)\(/gm;
  for (const [, thread = "", call = ""] of stderr.matchAll(changing)) {
    const nth = (seen.get(`${thread} ${call}`) ?? 0) + 1;
    seen.set(`${thread} ${call}`, nth);
    counts.set(call, Math.max(nth, counts.get(call) ?? 0));
  }
  return [...counts].flatMap(([call, count]) => Array.from({ length: count }, (_, index) => [call, index + 1] as const));
};

describe.skipIf(missing("killed journals", strace))("a journal killed at any system call", () => {
  let scratch: string;
  beforeAll(() => {
    scratch = mkdtempSync(join(tmpdir(), "plexus-journal-crash-"));
  });
  afterAll(() => rmSync(scratch, { recursive: true }));

  const none: Found = { journal: undefined, abandoned: [] };
  const planned = replay(plan, []);
  const failed = replay(plan, progress);
  const inJournal = (entry: JournalEntry): Found => ({ ...none, journal: entry });
  const aside = (entry: JournalEntry): Found => ({ ...none, abandoned: [entry] });
  const steps = progress.map((_, count) => inJournal(replay(plan, progress.slice(0, count))));

  // The first record is written together with the plan.
  const opened = [...steps.slice(1), inJournal(failed)];

  const cases: readonly {
    readonly act: Act;
    readonly after: readonly Act[];
    readonly allowed: readonly Found[];
    readonly minCalls: number;
    /** Syncs of the file and of its directory. */
    readonly fsyncs: number;
  }[] = [
    { act: "begin", after: [], allowed: [none, inJournal(planned)], minCalls: 8, fsyncs: 2 },
    { act: "wholeAdd", after: [], allowed: [none, ...opened], minCalls: 12, fsyncs: 2 },
    { act: "wholeAddInBackground", after: [], allowed: [none, ...opened], minCalls: 12, fsyncs: 2 },
    { act: "addAndDelWithRecycledFiles", after: ["leaveRecycledFile"], allowed: [none, ...opened], minCalls: 10, fsyncs: 0 },
    { act: "wholeAdd", after: ["begin", "progress"], allowed: [inJournal(failed), ...opened], minCalls: 12, fsyncs: 2 },
    { act: "progress", after: ["begin"], allowed: [...steps, inJournal(failed)], minCalls: 12, fsyncs: 0 },
    {
      act: "beginAgain",
      after: ["begin", "progress"],
      allowed: [inJournal(failed), inJournal(replay(laterPlan, []))],
      minCalls: 7,
      fsyncs: 2,
    },
    { act: "abandon", after: ["begin", "progress"], allowed: [inJournal(failed), aside(failed)], minCalls: 6, fsyncs: 2 },
    {
      act: "finish",
      after: ["begin", "progress", "abandon"],
      allowed: [
        aside(failed),
        aside(replay(plan, [...progress, { undone: 1 }])),
        aside(replay(plan, [...progress, { undone: 1 }, { undone: 0 }])),
        none,
      ],
      minCalls: 6,
      fsyncs: 0,
    },
    { act: "remove", after: ["begin", "progress"], allowed: [inJournal(failed), none], minCalls: 1, fsyncs: 0 },
  ];

  test.each(cases)(
    "$act after $after: the entry is complete, lies in one directory, and the next call can continue",
    async ({ act, after, allowed, minCalls, fsyncs }) => {
      const before = join(scratch, `${act}-${after.length}-before`);
      const [journal, abandoned] = [new Journal(before), new Abandoned(before)];
      acts.remove(journal);
      for (const each of after) await acts[each](journal, abandoned);
      const prepared = (suffix: string): string => {
        const state = join(scratch, `${act}-${after.length}-${suffix}`);
        try {
          cpSync(before, state, { recursive: true });
        } catch {
          // `before` does not exist yet.
        }
        return state;
      };
      // With recycled files only the calls that change content or names are tried; the other acts try all kinds.
      const all = await callsOf(prepared("whole"), act);
      const calls = act.endsWith("WithRecycledFiles") ? all.filter(([call]) => /write|rename|ftruncate/.test(call)) : all;
      expect(calls.length).toBeGreaterThanOrEqual(minCalls);
      // The calls include the syncs, so an act is also killed during a sync.
      expect(calls.filter(([call]) => call === "fsync")).toHaveLength(fsyncs);
      const kill = async ([call, nth]: readonly [string, number]): Promise<void> => {
        const state = prepared(`${call}-${nth}`);
        await expect(traced(state, act, "-e", `inject=${call}:signal=SIGKILL:when=${nth}`)).rejects.toMatchObject({
          signal: "SIGKILL",
        });
        expect(allowed).toContainEqual(found(state));
        // The next ADD, its DEL, a GC and a daemon continue from this state and leave no entry.
        const [next, left] = [new Journal(state), new Abandoned(state)];
        for (const each of ["begin", "progress", "abandon", "finish", "remove", "addAndDelWithRecycledFiles"] as const) {
          await acts[each](next, left);
        }
        expect(found(state)).toEqual(none);
        for (const directory of ["journal", "abandoned"]) expect(readdirSync(join(state, directory))).toEqual([]);
      };
      // Two at a time, for two cores.
      const half = Math.ceil(calls.length / 2);
      await Promise.all(
        [calls.slice(0, half), calls.slice(half)].map(async (part) => {
          for (const each of part) await kill(each);
        }),
      );
    },
  );
});
