// Limits of one call of a delegate. Each limit has a default, and no limit can be switched off.

import type { DelegateLimits } from "../../src/configuration/wasm-configuration.ts";

/** The administrator's settings; an absent setting has the default. */
export type LimitSettings = DelegateLimits;

/** The limits of one call. */
export interface Limits {
  /** Milliseconds of the guest's own time, without its imports and without waits for a CPU. */
  readonly timeMs: number;
  /** Pages of 64 KiB of linear memory. */
  readonly memoryPages: number;
  /** Entries of a table. */
  readonly tableEntries: number;
  /** Bytes of the component. */
  readonly componentBytes: number;
  /** Instances of the component's core modules in one call. */
  readonly coreInstances: number;
  /** Milliseconds of computing time of the component's admission in a sandbox process. */
  readonly admissionMs: number;
  /** Bytes that the guest receives in one call: the request and the answers to its imports. */
  readonly inputBytes: number;
  /** Bytes that the guest gives to the host in one call, including the arguments of imports. Bytes that are used twice count twice. */
  readonly outputBytes: number;
  /** Bytes of log in one call; a longer log is cut. */
  readonly logBytes: number;
  /** Lines of log in one call. Further lines are dropped; after 16 times as many lines the guest is ended. */
  readonly logLines: number;
  /** Calls of imports in one call. */
  readonly importCalls: number;
}

const mebibyte = 1024 * 1024;

/** The default of each limit. */
export const defaultLimits: Limits = {
  timeMs: 2000,
  memoryPages: 256,
  tableEntries: 10_000,
  componentBytes: 4 * mebibyte,
  coreInstances: 12,
  admissionMs: 3_000,
  inputBytes: mebibyte,
  outputBytes: mebibyte,
  logBytes: 64 * 1024,
  logLines: 256,
  importCalls: 10_000,
};

/** The maximum of each setting. */
export const maxLimits: Limits = {
  ...defaultLimits,
  timeMs: 60_000,
  memoryPages: 16_384,
  componentBytes: 31 * mebibyte,
  coreInstances: 128,
  admissionMs: 60_000,
  inputBytes: 16 * mebibyte,
  outputBytes: 16 * mebibyte,
  logBytes: 16 * mebibyte,
};

function bounded(value: number | undefined, defaultValue: number, max: number): number {
  if (value === undefined || Number.isNaN(value)) return defaultValue;
  return Math.min(Math.max(1, Math.floor(value)), max);
}

/** The limits for these settings. An absent setting has the default; any other is clamped between 1 and its maximum. */
export function limitsOf(settings: LimitSettings): Limits {
  return {
    ...defaultLimits,
    timeMs: bounded(settings.timeMs, defaultLimits.timeMs, maxLimits.timeMs),
    memoryPages: bounded(
      settings.memoryMiB === undefined ? undefined : settings.memoryMiB * 16,
      defaultLimits.memoryPages,
      maxLimits.memoryPages,
    ),
    componentBytes: bounded(
      settings.componentMiB === undefined ? undefined : settings.componentMiB * mebibyte,
      defaultLimits.componentBytes,
      maxLimits.componentBytes,
    ),
    coreInstances: bounded(settings.coreInstances, defaultLimits.coreInstances, maxLimits.coreInstances),
    admissionMs: bounded(settings.admissionMs, defaultLimits.admissionMs, maxLimits.admissionMs),
    inputBytes: bounded(settings.inputBytes, defaultLimits.inputBytes, maxLimits.inputBytes),
    outputBytes: bounded(settings.outputBytes, defaultLimits.outputBytes, maxLimits.outputBytes),
    logBytes: bounded(settings.logBytes, defaultLimits.logBytes, maxLimits.logBytes),
  };
}

/** The limit of a component's size, and the key that changes it. */
export function componentLimit(componentBytes: number): string {
  return `at most ${componentBytes}: wasm.limits.componentMiB`;
}

/** The limits of a component in a registry or on a disk; a node's own limits decide when a call needs the component. */
export const artifactLimits: Limits = {
  ...defaultLimits,
  componentBytes: maxLimits.componentBytes,
  coreInstances: maxLimits.coreInstances,
};
