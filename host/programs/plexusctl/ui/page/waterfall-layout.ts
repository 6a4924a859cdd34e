// The layout of a call's waterfall: where each step's bar begins, and which time is Plexus' own. Pure.

import type { PageCall, PageStep } from "../page-data.ts";

/** A step's bar, in percent of the call's time. */
export interface Bar {
  readonly step: PageStep;
  readonly left: number;
  readonly width: number;
  /** Number of steps within whose time a nested step ran. */
  readonly depth: number;
}

/** A mark of the time axis. */
export interface Tick {
  readonly ms: number;
  /** In percent of the call's time. */
  readonly left: number;
}

/** Minimum width of a bar, in percent: shorter steps would be invisible. */
const minWidth = 0.6;
const maxTicks = 5;

/** The time of a call and of its steps. */
type CallTimes = Pick<PageCall, "steps" | "ms">;

/** The bars in the order of their starts. A plugin ends after the plugins that it called, and its bar comes before theirs. */
export function barsOf({ steps, ms }: CallTimes): readonly Bar[] {
  const total = Math.max(ms, ...steps.map((step) => step.startMs + step.ms), 0.001);
  const ordered = steps.toSorted((one, other) => one.startMs - other.startMs || other.ms - one.ms);
  return ordered.map((step, index) => {
    const left = clamp((step.startMs / total) * 100, 0, 100 - minWidth);
    const width = clamp((step.ms / total) * 100, minWidth, 100 - left);
    const outer = ordered.slice(0, index).filter((each) => isWithin(step, each));
    return { step, left, width, depth: step.nested ? Math.max(1, outer.length) : 0 };
  });
}

/** The part of the call's time in which no step ran, in ms: the engine, the shim, the journal and the Kubernetes API. */
export function outsideMs({ steps, ms }: CallTimes): number {
  let covered = 0;
  let end = 0;
  for (const step of steps.toSorted((one, other) => one.startMs - other.startMs)) {
    const from = clamp(step.startMs, end, ms);
    const to = clamp(step.startMs + step.ms, from, ms);
    covered += to - from;
    end = Math.max(end, to);
  }
  return Math.max(0, ms - covered);
}

/** Marks at round times: 1, 2 or 5 times a power of ten. */
export function ticksOf(ms: number): readonly Tick[] {
  if (!(ms > 0) || !Number.isFinite(ms)) return [{ ms: 0, left: 0 }];
  const least = ms / maxTicks;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((each) => each >= least) ?? 10 * power;
  const count = Math.floor(ms / step + 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => ({ ms: index * step, left: (index * step * 100) / ms }));
}

function isWithin(inner: PageStep, outer: PageStep): boolean {
  // Both times are rounded to microseconds.
  const slack = 0.002;
  return inner.startMs >= outer.startMs - slack && inner.startMs + inner.ms <= outer.startMs + outer.ms + slack;
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), Math.max(least, most));
}
