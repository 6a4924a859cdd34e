// Generates docs/reference/performance.md from the committed result of `npm run bench` (`npm run docs`). A test checks that the page is
// current, so that its table has only measured figures.

import { readFileSync, writeFileSync } from "node:fs";

import { comparedQuantities, comparisonTable, imageSizes } from "./performance-comparison.ts";
import { goalsSection } from "./performance-goals.ts";
import { meanings, verdict } from "./performance-rows.ts";
import { type FailedRow, hasFailed, type Row } from "./performance-target.ts";

/** Paths from the repository's root. */
export const performancePagePath = "docs/reference/performance.md";
export const benchmarkPath = "docs/reference/benchmark.json";

/** Day and machine of the committed result. */
const measured =
  "2026-11-30, on a virtual machine with 2 shared x86-64 cores, Linux 6.18, Node 26.10.0, Debian's reference plugins 1.1.1";

/** A row of the page's first table. */
export function tableRow(row: Row | FailedRow): string {
  const meaning = meanings.get(row.id)?.what ?? "";
  if (hasFailed(row)) {
    const reason = row.failed.replaceAll(/\s+/gu, " ").replaceAll("|", "\\|").slice(0, 200);
    return `| \`${row.id}\` | ${meaning} | | | | | | | **failed**: ${reason} |`;
  }
  const { id, unit, n, median, p95, baseline, ratio } = row;
  return `| \`${id}\` | ${meaning} | ${unit} | ${n} | ${median} | ${p95} | ${baseline} | ${ratio} | ${verdict(row)} |`;
}

/** A figure of a row. */
type FigureOf = (id: string, key: "median" | "baseline" | "ratio") => string;

/** The page's text. */
export function performancePage(): string {
  const all: readonly (Row | FailedRow)[] = JSON.parse(readFileSync(benchmarkPath, "utf8"));
  const rows = all.filter((row): row is Row => !hasFailed(row));
  const figure: FigureOf = (id, key) => String(rows.find((row) => row.id === id)?.[key] ?? "an unknown number of");
  const table = all.map((row) => tableRow(row));
  const sections = [comparison(rows, figure), method(), allRows(table), timeOfCalls(), timeOfComponents(figure)];
  return sections.join("");
}

function comparison(rows: readonly Row[], figure: FigureOf): string {
  const median = (id: string): string => figure(id, "median");
  const baseline = (id: string): string => figure(id, "baseline");
  const share = (id: string): string => `${Number(figure(id, "ratio")).toFixed(1)} times`;
  return `# Performance

For: administrators who compare Plexus with what they have, and engineers who make it faster. Measured ${measured}, with
\`npm run bench -- --json ${benchmarkPath}\`.

## The comparison

Each figure is a share of thick Multus' figure in the same run, with the measured value in parentheses: runs on a shared machine differ, and the ratio within a run is
more reliable. All contenders but the bare plugins read the pod from an API server and write its status. Networks are bridge + host-local; "Plexus, components" has
both as sandboxed components and no native plugin.

${comparisonTable(comparedQuantities(rows, imageSizes()))}

![Bars: the figures of the table, with thick Multus as 1](../pictures/performance.svg)

- **Memory is what Plexus pays.** The daemon and two idle sandbox processes take ${share("multus-rss-daemon")} the memory of multus-daemon, and ${share("wasm-only-rss")} with the processes of two components. Each
  further component that is in use has a process of its own. Thin Multus has no daemon. The program that the runtime starts for each
  call takes ${median("multus-rss-call-thin")} MiB, thin Multus ${baseline("multus-rss-call-thin")} MiB, multus-shim ${baseline("multus-rss-call-thick")} MiB.
- **A call without a daemon** starts Node: an ADD takes ${median("one-shot-pod0")} ms with native plugins and ${median("wasm-only-one-shot-process")} ms with two components. A node has such calls only while the daemon is away.
- **Sparse** is the usual case of a node: a pod every few minutes. The first ADD after a start of the daemon takes ${median("sparse-native-first")} ms with native plugins, ${median("sparse-wasm-only-first")} ms with components, and
  ${median("sparse-multus-first")} ms through thick Multus.
- Rows that miss their target are marked **NOT MET** in the [table of all rows](#all-rows); the [goals that are not reached](#goals-that-are-not-reached) have their reasons.
  [Beside Multus](comparison.md) has the times of an installation, a removal and an upgrade, [Clusters of many nodes](cluster-simulation.md) what grows with a cluster.

${goalsSection(figure)}

`;
}

function method(): string {
  return `## How it is measured

- Small C programs (\`bench/stopwatch.c\`, \`bench/lanes.c\`) start the measured programs, so no figure contains the time that a
  JavaScript engine needs to start a process. \`lanes.c\` starts 32 at once and reads the CPU time of each from the kernel when it ends.
- A row without a comparison has its bound as the baseline: a ratio of at most 1 meets the target.
- After each round of \`daemon-c32\` and \`multus-c32\`, the benchmark checks that every pod had its own link and address, and that no address,
  link, journal entry, result or lock remains. Otherwise the benchmark fails.
- \`daemon-c32\` has no cluster, so that an API server takes no CPU time from either side. \`multus-c32\` has one, and both sides write the pods'
  status to it.
- The delays of the event loop come from \`perf_hooks\` within plexusd, with 5 ms between two measurements.
- Memory: the engine's RSS includes pages that it shares (Node's own text, some 45 MiB). The proportional set size counts shared pages by share.
- plexusd runs with \`--max-semi-space-size=4\`, as in [the guide](../how-to/run-the-daemon.md). Without this option, 10,000 cycles left the engine at
  144 MiB, because V8's young generation grew to 54 MiB.
- Plexus gives native plugins \`GOMAXPROCS=1\` ([\`goMaxProcs\`](configuration.md)). Direct calls and Multus pass the runtime's environment, which does not
  set this variable. So part of Plexus' gain comes from the variable: see below.
- \`runDir\` is below \`/run\`, which is in memory, as on every node. On a disk, making and removing a directory for each native plugin's nested calls
  takes 0.3 to 0.6 ms of an ADD.
- The machine is shared, and its speed varies by half within an hour. A daemon in JavaScript suffers more than a native program if others use the CPU's
  cache. Rows with 32 calls at once vary most.
  A round's contenders run one after the other, so the ratio of these rows is the median of the rounds' ratios (5 rounds; 2 against Multus). \`daemon-c32\`
  was 0.87 in the earlier run, as a ratio of the medians, and 0.90 to 0.97 (median 0.94) in five runs of this row alone.
- Thick Multus runs without its verbose log and without a chroot. Its default network is given inline: with a list in a file, Multus 4.3.0 forgets
  the list's keys until DEL and leaves the address reserved.
- The rows \`wasm-only-…\` and \`floor-…\` come from one run, in turns. Their node has no native plugin. The rows with 32 calls at once run first, so both
  daemons are warm. Only the rows against Multus and the rows with secondary networks have an API server, because Multus needs one. Both sides then write the pod's
  status. The delegates are granted [\`vethQueues: 1\`](../how-to/attach-without-native-plugins.md); the veths of the C program and of the native plugin have
  the kernel's default. Leases, journal and results are on the same disk for all, as on a node. The host with many links has 1,000 further pairs of veths.
- The rows \`delegate-…\` have one list for each reference plugin (\`bench/delegate-lists.ts\`): a main plugin with \`host-local\`, or a chained or IPAM plugin with
  \`bridge\`. The plugin under test and the \`host-local\` that it calls are native for the baseline and components for the subject; all else is a component for both.
  As many calls as are sampled come before the first sample, because V8 compiles functions after 50 calls. The figure is the time of the plugin's own steps in the
  daemon's trace file. With the time of the whole call, work that both sides share would move all ratios towards 1. \`bond\`, \`ovs\` and \`route-override\`
  are compared with the plugins of their projects, where \`PLEXUS_FIELD_PLUGINS\` names a directory with them; Open vSwitch has dummy devices.
- Environment variables change the length of the longest parts: \`PLEXUS_BENCH_PODS\` (500), \`PLEXUS_BENCH_ROUNDS\` (5), \`PLEXUS_BENCH_CYCLES\` (10000),
  \`PLEXUS_BENCH_DELEGATE_TURNS\` (60), \`PLEXUS_BENCH_MULTUS_PODS\` (200), \`PLEXUS_BENCH_MULTUS_ROUNDS\` (2).

## Sizes

The test \`scripts/performance-page.test.ts\` checks these bounds: the component of ipam-host-local has less than 64 KiB, the shim less than 1 MiB.

`;
}

function allRows(table: readonly string[]): string {
  return `## All rows

Subject and baseline take turns within one run. All rows are of one run of 45 minutes on a quiet machine, but for \`daemon-rss-idle-copy\`, \`daemon-rss-family-copy\`,
\`multus-rss-daemon\` and \`wasm-only-rss\`, which were measured on the same machine two hours later, and for \`daemon-rss\`, \`daemon-rss-family\`, their \`-growth\`, \`daemon-rss-idle\`
and \`pool-allocate-faults\`, which were measured on a quiet machine on 2026-11-30.

| id | comparison | unit | n | median | p95 | baseline | ratio | target |
|---|---|---|---|---|---|---|---|---|
${table.join("\n")}

`;
}

function timeOfCalls(): string {
  return `## Where the time of a call goes

- **Start of Node.** Most of a one-shot call is the start of Node. The engine (\`plexusd --once\`) is two scripts with V8's code cache; the second
  script is for delegates only. The engine takes a daemon's path, with an event loop and \`node:net\`: 6 ms of CPU time more than a synchronous engine
  ([measured](../architecture.md#one-engine) after the rows \`one-shot-…\`). It loads neither \`node:crypto\` (14 ms of CPU time here) nor zod
  (zod/mini: 10 ms under load) nor ES modules (12 ms of facades for built-in modules).
- **Code cache.** The build makes the code cache by calls of every verb, so the cache holds the functions that calls run. Node's own compile cache
  holds only what is compiled while modules load. Medians of 15 turns of the same code, with Node's compile cache → with V8's code cache: ADD with two
  delegates 102.4 → 81.8 ms, its DEL 107.1 → 91.4, native ADD with three secondary networks 97.8 → 82.5, its DEL 143.5 → 135.9, VERSION 31.4 → 29.5.
- **No libc in the shim** on x86-64 (\`host/shim/bare\`). Before \`main\`, glibc asks the processor for its features some 70 times (CPUID). In a virtual machine
  each CPUID exits to the hypervisor (4.2 us here). The builds took turns in random order (2026-11-23, a loaded machine, medians of the
  paired differences, 95 % intervals). In 1,000 turns VERSION took 0.42 ms longer with static glibc (0.39 to 0.45), 0.08 ms with static musl (0.06 to
  0.10) and 0.01 ms with the start and string functions of the kernel's nolibc (-0.01 to 0.03). In 300 native ADDs each, the shim's CPU time was 0.40 ms
  more with glibc (0.31 to 0.54) and 0.12 ms with musl (0.06 to 0.29). For comparison, 2 % of the bare plugins' time is 0.18 ms. The duration of the ADD
  itself showed no difference on that machine (0.3 ms more with glibc, -1.2 to 1.4). The folder exists for users who only have a C compiler and glibc. Where
  musl is available, it would not be worth its code.
- **Syncs.** The journal's plan is synced, file and directory, while the default network is attached. The engine waits for this sync before it attaches
  another network and before it answers the runtime. Nothing else is synced, because the journal also contains what libcni's cache has.
- **Parsed configurations.** A configuration's text is parsed once for all calls that pass it, a definition once for each of its versions: this saves 0.15 ms of an ADD.
  With this, the two points above, and a shim that connects after it has read stdin, the time of a native ADD through the daemon above the plugins' own time went
  from 0.38 to 0.29 of the plugins' time (medians of five turns of both builds, no API server, 2026-11-22).
- **\`GOMAXPROCS=1\`.** Go's runtime starts threads for each CPU, but a CNI plugin mostly waits for the kernel. With \`GOMAXPROCS=1\` a single bridge + host-local
  took 9.09 ms instead of 9.38 (200 in turns). With 32 at once, each took 8.4 ms of CPU time instead of 9.7, and the rate was 198 a second instead of 168 (medians of
  six rounds in turns). In seven paired runs of both builds, no API server, the time of a native ADD above the plugins' own went from 0.27 to 0.24 of the plugins' time.
- **Requests to the API server.** The request was 0.30 of the 1.2 million instructions of a native ADD. Since the server's URL is parsed once instead of for each
  request, it is 0.24, mostly Node's client copying its options. With a cheaper log line, without a byte count, and with the previous point,
  \`daemon-native-pod0\` went from 2.9 to 2.1 ms above the plugins (medians of six runs of each build in turns). In those runs the last attachment's
  journal record was written after the PATCH request was sent. It is written before the request now, so that a crash finds it.
- **Nested-call directory.** A native plugin that may call a component gets a nested-call directory. With 32 calls at once, a seventh of the shim's time went into it: the new
  directory was listed twice, its parents were created each time, and paths through \`/proc\` left entries that the kernel clears when a process
  ends. Without these, a single native ADD took 1.8 ms above the plugins instead of 2.1 (medians of seven runs of each build in turns, no API server, 2026-11-23).
- **DEL.** A DEL looks at the pod's links, so that it removes no link that the pod has made under an attachment's name. Since then its row was 1.26 of the plugins in place of 1.15: the
  look is a third turn between shim and engine. Look-ups of plugins that went with it saved the turn, and less than 1 % of a DEL (0.2 % for \`loopback\`, in pairs with the build without it): the
  code is gone again.
- **Memory at rest.** V8 gives memory back in its own pauses only, and a sandbox process has none: it blocks in a read. Half a minute after the last call an idle process collects
  its garbage as a last resort (17 → 11 MiB of private memory, 20 ms of CPU time), again after 4 MiB of growth. A daemon does so when it takes less than 1 % of a processor (47 → 30 MiB, 80 ms),
  again after 8 MiB of growth. In five ADDs with 42 s between them, an ADD and its DEL took no more CPU time than without it (26 ms in place of 34, on a busy machine).
- **Finding plugins.** A native call first asks the shim to find its plugins, then to execute them. One message for both, with a guess that the shim
  checks, showed no measurable gain (1.84 ms above the plugins against 1.79, seven runs of each). Guesses would also complicate undoing and caches.
`;
}

function timeOfComponents(figure: FigureOf): string {
  return `- **Messages of a WASM-only ADD.** Such an ADD has some eighteen messages between four processes, and each is a write that wakes a process. The shim sends the request,
  looks for two components, reads the bridge, makes the veth, applies the rest and reads it back, in four turns. The guest asks for IPAM and
  for its links; the IPAM guest asks for an address. On this machine the hypervisor takes back idle CPUs, so a write that wakes a process takes 50 to 125 us, and
  the woken process runs 0.1 ms later. Neither a single CPU for all processes nor a daemon that polls instead of sleeping made an ADD faster: most of the time is
  JavaScript that runs a few times in each call.
- **Turns of a delegate.** Each request of a delegate that needs the kernel wakes three processes, the engine, the shim and the sandbox, and the guest waits meanwhile: a turn. A
  native plugin makes the same system calls in one process, for which it pays a start of some 2 ms. A step without a turn (\`static\`) takes
  ${figure("delegate-static", "median")} ms, and the chained ones with many turns miss the aim of 0.6. \`loopback\`, \`tuning\` and \`macvlan\` have three turns between engine and shim, \`sbr\` has four.
  Paired runs on a quiet machine (2026-11-30) show what saves turns. Dumps of one purpose go together, and the other end of a link is asked for with the link: without this
  an ADD takes 1.08 times as long for \`loopback\`, 1.05 for \`sbr\`, 1.02 for \`tuning\`. The process remembers the links that a delegate has just read, and lists the rules once for a
  search and an addition: with this an ADD takes 0.88 (\`sbr\`), 0.92 (\`tuning\`), 0.97 (\`loopback\`, \`macvlan\`) and 0.99 (\`bridge\`) of the time, a DEL 0.90 (\`tuning\`),
  0.94 (\`loopback\`) and 0.96 (\`sbr\`). A turn costs 0.1 to 0.2 ms, so the remaining turns do not explain the distance to the aim: a delegate decides after each
  answer, and the host cannot ask ahead. A DEL of \`tap\`, \`macvlan\` or \`ptp\` has one turn: both sides wait some 20 ms for the kernel's removal of the link.
- **Earlier compilation.** V8 compiles functions after 50 calls instead of 400 (\`host/system/v8/tier-up.ts\`). In paired
  runs after 150 pods, a WASM-only ADD took 4.0 times the C program's time instead of 4.4, and the daemon used 12 % less CPU time.
- **Delegates in the daemon's process** would save ten of the messages. An experiment took an ADD from 0.95 to 0.81 times the native plugins' time, and changed the
  throughput with 32 at once by less than its noise. Plexus does not offer this: a component that breaks out of V8 would have the daemon's access to the shim.
- **Instructions of the daemon** do not vary, so they are counted: by callgrind, on the main thread of plexusd,
  after 250 pods. An ADD and a DEL of a WASM-only pod took 8.5 million on 2026-11-22, 14:00, and take 5.2 million since. The savings: no objects for unused
  attributes of links (0.7), no \`node:path\` for paths that are already normal (0.4), one parse of a configuration instead of several
  (0.4), no queues of Node's streams for data that is taken at once (0.25). Native chains, counted without V8's inlining: 3.5 and 2.3 million. Time decreases less,
  because the daemon mostly waits for memory, with some 0.3 instructions for each cycle. In seven paired runs of both builds a WASM-only ADD went from 0.77 to 0.72 of
  the native plugins' time; in nine runs the time of a native ADD above the plugins' own went from 0.29 to 0.27 of the plugins' time.
- **Recycled files.** Plexus does not remove files, but keeps them for reuse (\`.plexus-recycled\`). Before ext4 assigns a new inode, it checks each inode that was removed in the
  last minutes. So making a file took 133 us after 1,000 files had been made and removed, and 14 us after 10; an ADD makes
  three files. 256 recycled files are enough for 128 pods. With 1,024 instead of 256, \`daemon-c32\` went from 0.89 to 0.93 of the plugins'
  throughput (twelve rounds of both builds in turns, 2026-11-23). Without recycled files for journal and result cache, \`wasm-only-c32\` was 1.55 instead of
  1.75, and the ADD's CPU time 0.65 instead of 0.57 of the plugins' (one run of each, 2026-11-24).
- **A process belongs to one component.** A bridge with its IPAM is two sandbox processes instead of one. Compared with commit 3deb2f5, which shared a process between
  components, DEL of a pod that only components attach (\`wasm-only-pod0-del\`) went from 0.85 to 0.93 of the plugins' time, its ADD from 0.73 to 0.75, and
  the memory of engine and sandbox processes (\`daemon-rss-family\`) from 120 to 194 MiB.
- **Remembered leases.** The daemon remembers the leases of a directory as long as the directory's modification time shows that no other program changed it.
  An ADD then does not read all leases of its network. Without this and recycled files, the CPU time of a WASM-only ADD was 6.5 times that of the C
  program (\`wasm-only-cpu-floor\`).
- **Writes.** Journal and cache are written to the page cache synchronously. Only syncs, and a disk that takes longer than 10 ms, go to threads: each turn of a thread costs
  as much CPU time as the write.
- **\`ipam-step\`** is counted after 1500 calls of warm-up: before, V8 is still compiling. A warm WASM IPAM step takes some 0.1 ms for the instance and 0.2 ms for
  the lease on disk and its flock; the rest is glue and JSON. It took 1.4 ms before these changes: a meter in the guest's code instead of V8's watchdog, which needs a
  thread for each call (0.27 ms); flock in the engine instead of the shim (0.15 ms); pooled memory instead of a new one for each instance; remembered leases;
  and recycled files.
`;
}

if (import.meta.main) writeFileSync(performancePagePath, performancePage());
