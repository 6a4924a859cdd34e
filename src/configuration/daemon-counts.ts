// plexusd's options that are whole numbers. plexusd, the chart's schema and the migration from Multus read the bounds here.

/** A number's bounds and default. */
export interface DaemonCount {
  /** The option, without dashes. */
  readonly option: string;
  readonly min: 0 | 1;
  readonly max: number;
  /** The default; undefined: it depends on the machine. */
  readonly usual?: number;
}

const secondsOfDay = 86_400;

/** Each number by the name of the chart's value below `daemon`. */
export const daemonCounts = {
  calls: { option: "calls", min: 1, max: 4096, usual: 64 },
  queue: { option: "queue", min: 1, max: 65_536, usual: 512 },
  sandboxes: { option: "sandboxes", min: 1, max: 256 },
  graceMs: { option: "grace-ms", min: 1, max: 600_000, usual: 10_000 },
  reconcileIntervalSeconds: { option: "reconcile-interval", min: 0, max: secondsOfDay, usual: 60 },
  reconcileGraceSeconds: { option: "reconcile-grace", min: 1, max: secondsOfDay, usual: 300 },
} as const satisfies Readonly<Record<string, DaemonCount>>;
