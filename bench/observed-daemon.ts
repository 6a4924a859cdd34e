// A daemon whose memory and CPU time the benchmarks read from /proc, and whose event loop's delays a probe reports.

import { existsSync, readFileSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";

import { childrenOf } from "../test/lab/processes.ts";
import { root } from "../test/lab/compiled.ts";
import { startDaemon, type TestDaemon } from "../test/lab/daemon.ts";

/** Delays of the event loop in ms since the last report. */
export interface LoopDelays {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface ObservedDaemon extends TestDaemon {
  delays(): Promise<LoopDelays>;
}

export interface ObservedDaemonInit {
  readonly socket: string;
  readonly args?: readonly string[];
}

/** Starts plexusd with the probe, which adds some 100 KiB to its memory. `PLEXUS_BENCH_NODE_FLAGS` has further flags of Node, to compare them. */
export async function startObservedDaemon({ socket, args = [] }: ObservedDaemonInit): Promise<ObservedDaemon> {
  const file = join(dirname(socket), "probe.json");
  const flags = (process.env["PLEXUS_BENCH_NODE_FLAGS"] ?? "").split(" ").filter((flag) => flag !== "");
  const nodeArgs = [...flags, "--require", join(root, "bench", "probe.cjs")];
  const daemon = await startDaemon({ socket, args, nodeArgs, env: { PLEXUS_BENCH_PROBE: file } });
  return {
    ...daemon,
    async delays() {
      rmSync(file, { force: true });
      daemon.signal("SIGUSR2");
      const deadline = Date.now() + 20_000;
      while (!existsSync(file)) {
        if (Date.now() > deadline) throw new Error(`the probe did not answer: ${daemon.stderr()}`);
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      return delaysFrom(JSON.parse(readFileSync(file, "utf8")));
    },
  };
}

function delaysFrom(report: unknown): LoopDelays {
  if (typeof report !== "object" || report === null) throw new Error("the probe wrote no report");
  const of = (name: string): number => Number(Reflect.get(report, name));
  return { p50: of("p50"), p99: of("p99"), max: of("max") };
}

/** A process and its living descendants. */
export function familyOf(pid: number): readonly number[] {
  return [pid, ...childrenOf(pid).flatMap((child) => familyOf(child))];
}

/** The proportional set size of a process in MiB: shared pages count in equal parts. 0 if the process has ended. */
export function pssMiB(pid: number): number {
  return kiBOf(`/proc/${pid}/smaps_rollup`, "Pss") / 1024;
}

/** The proportional set size of a process and its living descendants in MiB. */
export function familyPssMiB(pid: number): number {
  return familyOf(pid).reduce((sum, each) => sum + pssMiB(each), 0);
}

/**
 * Milliseconds after the last call until surplus sandbox processes have ended, which stay for 10 s, and the daemon and its other processes have given memory
 * back: half a minute, and some seconds on a busy machine.
 */
export const restMs = 50_000;

/** The resident set size of a process in MiB. */
export function rssMiB(pid: number): number {
  return kiBOf(`/proc/${pid}/status`, "VmRSS") / 1024;
}

/** The maximum resident set size of a process so far, in MiB. */
export function highestRssMiB(pid: number): number {
  return kiBOf(`/proc/${pid}/status`, "VmHWM") / 1024;
}

function kiBOf(file: string, name: string): number {
  const text = existsSync(file) ? readFileSync(file, "utf8") : "";
  return Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "mu").exec(text)?.[1] ?? 0);
}

/** CPU time of a process, its threads and its ended children in ms, with a resolution of 10 ms. */
export function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  // The process name (field 2) may contain any character. State is field 3; utime, stime, cutime, cstime are 14 to 17.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0);
}

/** CPU time of a process and all its descendants, in ms. */
export function familyCpuMs(pid: number): number {
  return familyOf(pid).reduce((sum, each) => sum + cpuMs(each), 0);
}
