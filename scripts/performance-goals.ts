// The goals of docs/reference/performance.md that are not reached: the figure, the tries, and the reason.

/** Reads a row's figure from the committed benchmark. */
export type Figure = (id: string, key: "median" | "ratio") => string;

interface MissedGoal {
  readonly goal: string;
  readonly figure: string;
  readonly tries: string;
  readonly reason: string;
}

function missedGoals(of: Figure): readonly MissedGoal[] {
  return [...memoryGoals(of), ...timeGoals(of), ...clusterGoals(of)];
}

function memoryGoals(of: Figure): readonly MissedGoal[] {
  const median = (id: string): string => of(id, "median");
  return [
    {
      goal: "daemon and sandbox processes: 100 MiB after 10,000 cycles with three components (proportional)",
      figure: `${median("daemon-rss-family")} MiB (189.5 before the second try; idle ${median("daemon-rss-idle")}, which reaches its goal of 60); copies of a zygote, before the second try: ${median("daemon-rss-family-copy")}`,
      tries:
        "copies of a zygote; idle processes and the daemon give memory back (142 → 93 MiB of private memory after 300 ADDs with two components); one arena of glibc in a sandbox process (2 MiB each); one arena in the daemon (1.4 MiB, not taken)",
      reason:
        "Node: a sandbox process that has given back what it can keeps 12 MiB of its own, an idle daemon 22 MiB, and all share some 35 MiB of Node's file. Fewer warm processes would make the first call of a component slower",
    },
    {
      goal: "the daemon's resident set: 75 MiB after 10,000 cycles, 85 MiB with 60,000 pods",
      figure: `${median("daemon-rss")} MiB, and ${median("daemon-rss-large")} MiB before the last try`,
      tries:
        "growth of the heap bounded at 30 %; a young generation of 4 MiB; freed memory of glibc returned each 3 s; features that are off load no module; a collection when the daemon is quiet (100 → 82 MiB after 3,000 cycles)",
      reason:
        "45 MiB are pages of Node's file, which its start reads, and 18 MiB are live objects: schemas, tables and generated code",
    },
  ];
}

function timeGoals(of: Figure): readonly MissedGoal[] {
  const median = (id: string): string => of(id, "median");
  const ratio = (id: string): string => of(id, "ratio");
  return [
    {
      goal: "a call with a process of its own (`strict`): 4 ms",
      figure: `${median("sandbox-call-strict")} ms; a copy of a zygote: ${median("sandbox-call-strict-copy")} ms`,
      tries: "copies of a zygote; V8's code cache for a new Node (a quarter less CPU time of a start)",
      reason: "a fork of V8's mappings takes 1.2 to 2.4 ms, and the jail and the check of the new process come on top",
    },
    {
      goal: "the first call of a component: 15 ms",
      figure: `${median("sandbox-first-call-copy")} ms if the component is examined, ${median("sandbox-component-copy")} ms with its examination`,
      tries:
        "a warm process that has examined another component; 20 and 100 rounds of rehearsal before the first copy (40 → 34 ms on a busy machine)",
      reason: "V8 compiles the component for the first time",
    },
    {
      goal: "an ADD with components only: half of the native plugins' time, 0.45 of their CPU time",
      figure: `${ratio("wasm-only-pod0")} and ${ratio("wasm-only-cpu")}`,
      tries:
        "V8 compiles after 50 calls; one message for two effects; one CPU for all processes; a daemon that polls; 8.5 → 5.2 million instructions; recycled files; all below",
      reason: `eighteen messages between four processes. The C program that does only the kernel's part takes ${ratio("floor")}`,
    },
    {
      goal: "its DEL: 0.6 of the native plugins' time",
      figure: ratio("wasm-only-pod0-del"),
      tries:
        "the look at the pod's links and for the plugins in one turn (less than 1 %, not kept); a DEL that leaves the link to the removal of the namespace was considered: a DEL must leave nothing, and a runtime may keep the namespace",
      reason: `the kernel waits for its readers (RCU) when it removes a link: the C program alone takes ${ratio("floor-del")}`,
    },
    {
      goal: "32 pods at once with components only: 2.2 times the native plugins' rate",
      figure: ratio("wasm-only-c32"),
      tries: "recycled files (1.55 → 1.75 on an earlier machine); 64 calls share a sandbox process; remembered leases",
      reason: `one thread of JavaScript serves all calls: an ADD takes ${median("wasm-only-cpu")} ms of CPU time. The C program alone comes to ${ratio("floor-c32")}`,
    },
    {
      goal: "a one-shot ADD with two components: 250 ms",
      figure: `${median("one-shot-add-process")} to ${median("wasm-only-one-shot-process")} ms, before the second try`,
      tries:
        "V8's code cache for the engine; V8's code cache for a sandbox process: 85 → 63 ms of CPU time until it has examined a component (15 paired starts)",
      reason: "three starts of Node on two processors",
    },
  ];
}

function clusterGoals(of: Figure): readonly MissedGoal[] {
  return [
    {
      goal: "2,048 addresses through 32 daemons amid kills: 10 s",
      figure: `${(Number(of("pool-allocate-faults", "median")) / 1000).toFixed(1)} s`,
      tries:
        "the search for lost blocks by their names, so that a restarted daemon lists none; the repetition of a claim as a kubelet repeats it",
      reason:
        "each second a daemon starts, which takes half a processor of two, and calls meanwhile start one-shot engines. Without faults the same addresses take less than the 10 s (`pool-allocate`)",
    },
    {
      goal: "a start of one second: `helm install` until a pod has its network",
      figure: "10 to 17 s",
      tries: "a startup probe that waits for readiness; a Job that looks four times a second",
      reason:
        "what remains are promises, and Helm's and the kubelet's own pauses ([Beside Multus](comparison.md#where-the-seconds-of-plexus-go))",
    },
    {
      goal: "a smaller Node in the image",
      figure: "116 MB in place of 150, 42 MB in place of 49 compressed",
      tries:
        "no distribution has a Node 26 without inspector and ICU: Debian has version 20, npm's package has one build. Node's file without symbols of functions is taken",
      reason: "no build of Node of its own: its security updates would be Plexus' work",
    },
  ];
}

/** The section's text. */
export function goalsSection(of: Figure): string {
  const lines = missedGoals(of).map(({ goal, figure, tries, reason }) => `| ${goal} | ${figure} | ${tries} | ${reason} |`);
  return `## Goals that are not reached

| goal | figure | tries | reason |
|---|---|---|---|
${lines.join("\n")}`;
}
