// docs/reference/performance.md, made from the committed result of `npm run bench`: `npm run docs` writes it, a test holds
// the two together, so that no figure stands in the docs that wasn't measured.

import { readFileSync, writeFileSync } from "node:fs";

import { multusContenders } from "./performance-multus-rows.ts";
import { meanings, verdict } from "./performance-rows.ts";
import type { Row } from "./performance-target.ts";

export const performancePagePath = "docs/reference/performance.md";
export const benchmarkPath = "docs/reference/benchmark.json";

/** The day and the machine of the committed result. */
const measured =
  "2026-11-23, on a virtual machine with 2 shared x86-64 cores, Linux 6.18, Node 26.10.0, Debian's reference plugins 1.1.1";

export function performancePage(): string {
  const rows: readonly Row[] = JSON.parse(readFileSync(benchmarkPath, "utf8"));
  const table = rows.map((row) => {
    const { id, unit, n, median, p95, baseline, ratio } = row;
    return `| \`${id}\` | ${meanings.get(id)?.what ?? ""} | ${unit} | ${n} | ${median} | ${p95} | ${baseline} | ${ratio} | ${verdict(row)} |`;
  });
  return `# Performance

Measured ${measured}, with \`npm run bench -- --json ${benchmarkPath}\`. Subject and baseline take turns within one run, so the ratio
says more than the milliseconds, which swing with the machine.

| id | what | unit | n | median | p95 | baseline | ratio | target |
|---|---|---|---|---|---|---|---|---|
${table.join("\n")}
${besideMultus(rows)}
## How it is measured

- Programs are started by small C programs (\`test/bench/stopwatch.c\`, \`test/bench/lanes.c\`), so that no JavaScript engine's cost of starting a
  process is in a figure. \`lanes.c\` starts 32 at once and reads each one's CPU time from the kernel as it ends.
- Where a row has nothing to be compared with, its baseline is its bound: a ratio of at most 1 meets it.
- After each round of \`daemon-c32\` and \`multus-c32\` it is made sure that every pod had a link and an address of its own, and that no address, link,
  journal entry, result or lock is left: the benchmark fails otherwise.
- \`daemon-c32\` has no cluster in it, so that an API server does not take the CPUs from either side. \`multus-c32\` has one, and both sides tell it
  the pods' status.
- The delays of the event loop are those of \`perf_hooks\` within plexusd, 5 ms between its looks.
- Memory: RSS of the brain counts pages that it shares, too (Node's own text, some 45 MiB); the proportional set size counts them by share.
- plexusd runs with \`--max-semi-space-size=4\`, as [the guide](../how-to/run-the-daemon.md) starts it. Without it 10,000 cycles left the brain at
  144 MiB, because V8 had let its young generation grow to 54.
- Plexus gives native plugins \`GOMAXPROCS=1\` ([\`goMaxProcs\`](configuration.md)); called directly, and by Multus, they have what the runtime's
  environment says: nothing. So part of what a row gains on them is that: see below.
- \`runDir\` is below \`/run\`, which is in memory, as on every node. Results before 2026-11-22, 13:00 had it on the disk, where making and removing
  a directory for each native plugin's nested calls took an ADD 0.3 to 0.6 ms.
- The machine is shared, and its speed swings by half in an hour; a daemon in JavaScript suffers more from a cache that others use than what it is
  compared with. In this run the plugins alone took 7.1 to 8.8 ms, in one half an hour before 7.5 to 8.0. Rows of 32 at once swing most, so each of
  their ratios is the median of the rounds' ratios (5 rounds; 2 against Multus): a round's contenders run one after the other. \`daemon-c32\` was 0.87
  in that run before, still as the ratio of the medians, and 0.90 to 0.97 (median 0.94) in five runs of it alone.
- Thick Multus runs without its verbose log and without a chroot, and its default network is given inline: with a list in a file, 4.3.0 forgets
  the list's keys until DEL and leaves the address reserved.
- The rows \`wasm-only-…\` and \`floor-…\` are of one run, in turns. Their node has no native plugin; the crowd comes first, so both daemons are
  warm. Nothing but the rows against Multus and those with secondaries has an API: Multus can't do without, and there both sides tell it the pod's
  status. Its delegates are granted [\`vethQueues: 1\`](../how-to/attach-without-native-plugins.md); the floor's veths and the native plugin's have
  what the kernel gives them. Leases, journal and results are on the same disk for all of them, as on a node. The host with many links has 1,000 pairs of veths besides.
- What takes longest has a knob: \`PLEXUS_BENCH_PODS\` (500), \`PLEXUS_BENCH_ROUNDS\` (5), \`PLEXUS_BENCH_CYCLES\` (10000),
  \`PLEXUS_BENCH_MULTUS_PODS\` (200), \`PLEXUS_BENCH_MULTUS_ROUNDS\` (2).

## Sizes

The test \`scripts/performance-page.test.ts\` holds these bounds: the component of ipam-host-local under 64 KiB, the hands under 1 MiB.

## Where the time of a call goes

- Starting Node is most of a one-shot call. The brain adds little to it, because it is two scripts with V8's code cache (the second one for
  delegates only) and loads neither \`node:crypto\` (14 ms of CPU here) nor zod (zod/mini: 10 ms under load) nor ES modules (12 ms of facades
  for built-in modules).
- The code cache is made at build time, by calls of every verb, so it holds the functions that calls run. Node's own compile cache, which
  stood here before, holds only what is compiled while modules load. Medians of 15 turns of the same code, bundled in the one way and the
  other: ADD with two delegates 102.4 → 81.8 ms, its DEL 107.1 → 91.4, native ADD with three secondaries 97.8 → 82.5, its DEL 143.5 → 135.9,
  VERSION 31.4 → 29.5.
- The hands have no libc beneath them on x86-64 (\`host/hands/bare\`): the glibc asks the processor what it can do before \`main\` runs, some 70 times,
  and in a virtual machine each question is an exit to the hypervisor (4.2 us here). Started and ended by a loop in C, 3,000 times in turn:
  \`/bin/true\` 0.50 ms, the hands with a static glibc 0.38, without 0.10.
- The journal's plan is synced, file and directory, while the default network is attached, and waited for before another one is and before the
  runtime is answered. Nothing else is synced: what libcni's cache holds the journal knows, too.
- What a configuration's text means is worked out once for all calls that bring it, a definition's once for each of its versions: 0.15 ms of an ADD.
  With this, the two points above, and hands that connect once they have read their stdin, an ADD of a native chain through the daemon took 0.29 times the
  plugins' own time above it, where it took 0.38 before (medians of five turns of both builds, no API, 2026-11-22).
- Go's runtime starts threads for each CPU that it sees, and a CNI plugin waits for the kernel: with \`GOMAXPROCS=1\` a lone bridge + host-local
  took 9.09 ms instead of 9.38 (200 in turns), and 32 at once 8.4 ms of CPU each instead of 9.7, 198 a second instead of 168 (medians of six rounds in turn).
  In seven paired runs of both builds, no API, a native ADD through the daemon went from 0.27 of the plugins' own time above it to 0.24.
- A request to the API server was a quarter of the 1.2 million instructions of a native ADD, 0.30; with the server's URL taken apart once and not for
  each request it is 0.24, most of which is Node's client copying its options. With the daemon's log line and a count of bytes out of the way, and
  the point above, \`daemon-native-pod0\` went from 2.9 ms above to 2.1 (medians of six runs of each build in turn). In those runs the last
  attachment's line of the journal was written after the PATCH had gone out; it is written before again, so that a crash finds it.
- A native plugin that may call a component gets a directory of links for it (a nest). With 32 calls at once a seventh of the hands' time went there: it
  was listed twice though it was new, its parents were made each time, and paths through \`/proc\` left entries that the kernel clears when a process
  ends. Without those a lone native ADD was 1.8 ms above the plugins instead of 2.1 (medians of seven runs of each build in turn, no API, 2026-11-23).
- A native call asks for its plugins, waits, and then has them executed. Both in one message, checked by the hands against what earlier calls found, was tried: no
  faster that could be measured (1.84 ms above against 1.79, seven runs of each), and guesses would have had to be kept out of undoing and of caches.
- A WASM-only ADD has some eighteen messages between four processes in it, each a write that wakes somebody: the hands say what is asked,
  look for two components, read the bridge, make the veth, and do and read back the rest, in four turns; the guest asks for IPAM and
  for its links, IPAM for an address. On this machine, whose idle CPUs the hypervisor takes back, a write that wakes a process lasts 50 to 125 us
  and the other one runs 0.1 ms later. All on one CPU, or a daemon that looks for answers instead of sleeping, made no ADD faster: most of the time is
  JavaScript that runs a few times in each call. So V8 compiles functions after 50 calls instead of 400 (\`host/engine/tier-up.ts\`): in paired
  runs after 150 pods a WASM-only ADD took 4.0 times the floor's time instead of 4.4, and the daemon 12 % less CPU. With the delegates in the daemon's own
  process ten of the messages fall away; tried, that took an ADD from 0.95 to 0.81 times the native plugins' time and changed the crowd's
  throughput by less than its noise. It isn't offered: a component that broke out of V8 would have the daemon's word with the hands.
- A daemon's work for a call is counted in instructions, which don't swing: by callgrind, with plexusd under it and nothing else, of its main thread,
  after 250 pods. An ADD and a DEL of a WASM-only pod were 8.5 million on 2026-11-22, 14:00, and are 5.2 since: attributes of links that
  nobody asks for were made objects (0.7), \`node:path\` joined what needs no joining (0.4), one configuration was read by each who handed it on
  (0.4), Node's streams queued what was taken at once (0.25). Native chains, counted without V8's inlining: 3.5 and 2.3. Time follows slowly, because the daemon mostly waits for
  memory, some 0.3 instructions for each cycle: in seven paired runs of both builds a WASM-only ADD went from 0.77 of the native plugins' time to 0.72, in nine
  a native one from 0.29 of the plugins' time above it to 0.27.
- Files are not removed but kept for the next ones (\`.plexus-spares\`): ext4 looks at each inode that was removed in the last minutes before it gives
  out a new one, so that making a file took 133 us where 1,000 files had been made and removed just before, and 14 us where 10 had; an ADD makes
  three. 256 of them, which were kept at first, are those of 128 pods: with 1,024 the crowd of 500 pods (\`daemon-c32\`) went from 0.89 to 0.93 of the plugins'
  throughput (twelve rounds of both builds in turns, 2026-11-23). And the daemon remembers who holds which address of a directory as long as the directory's time of change says that nobody else was
  there, where an ADD read every lease of its network. Before both, the CPU time of a WASM-only ADD was 6.5 times the floor's (\`wasm-only-cpu-floor\`).
- What is written to journal and cache goes to the page cache at once; only syncs, and a disk that takes longer than 10 ms, are left to threads: each of
  their turns costs as much CPU as the write.
- \`ipam-step\` is counted after 1500 calls of warm-up: before, V8 is still compiling.
- A warm WASM IPAM step: some 0.1 ms the instance, 0.2 ms the lease on disk and its flock, the rest glue and JSON. What made it 1.4 ms
  before: V8's watchdog, a thread for each call (0.27; now a meter in the guest's code), flock by the hands (0.15; now in the brain), a memory
  reserved and given back for each instance (now wiped and lent again), looks at all leases (now remembered), a new file for each (now a spare one).
`;
}

/** ADD and DEL in one small table, where the comparison was made. */
function besideMultus(rows: readonly Row[]): string {
  const median = (id: string): string => String(rows.find((row) => row.id === id)?.median ?? "");
  if (median("multus-pod0-plexus") === "") return "";
  const bare = (id: string): string => String(rows.find((row) => row.id === id)?.baseline ?? "");
  const lines = [0, 1, 3].flatMap((count) =>
    ["ADD", "DEL"].map((verb) => {
      const id = (name: string): string => `multus-pod${count}-${name}${verb === "ADD" ? "" : "-del"}`;
      return `| ${verb}, ${count} secondaries (ms) | ${multusContenders.map((name) => median(id(name))).join(" | ")} | ${bare(id("plexus"))} |`;
    }),
  );
  const whole = (what: string, id: string): string =>
    `| ${what} | ${multusContenders.map((name) => median(`${id}-${name}`)).join(" | ")} | ${bare(`${id}-plexus`)} |`;
  return `
## Beside Multus

One run, one API server, the same definitions; the medians of the rows \`multus-…\`. The bare plugins ask and tell no API.

| | Plexus and its daemon | Multus thin | Multus thick | bare plugins |
|---|---|---|---|---|
${lines.join("\n")}
${whole("32 at once, pods a second", "multus-c32")}
${whole("CPU of one ADD (ms)", "multus-cpu")}
| what stays in memory (MiB) | ${median("multus-rss-daemon")} | none | ${bare("multus-rss-daemon")} | none |
| the program that the runtime starts (MiB) | ${median("multus-rss-call-thin")} | ${bare("multus-rss-call-thin")} | ${bare("multus-rss-call-thick")} | |
`;
}

if (import.meta.main) writeFileSync(performancePagePath, performancePage());
