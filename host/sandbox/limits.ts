// Limits of one call of a delegate. Every one has a default and none can be switched off.

import type { DelegateLimits } from "../../src/configuration/wasm-configuration.ts";

/** Limits as the administrator may set them; absent ones have the default. */
export type LimitSettings = DelegateLimits;

export interface Limits {
  /** Milliseconds that the guest itself may run; what the host takes to answer its imports is not counted, nor what it waits for a CPU. */
  readonly timeMs: number;
  /** Pages of 64 KiB of linear memory. */
  readonly memoryPages: number;
  /** Entries of a table. */
  readonly tableEntries: number;
  /** Bytes of the component. */
  readonly componentBytes: number;
  /** Bytes handed to the guest in one call: the request and the answers of its imports. */
  readonly inputBytes: number;
  /** Bytes that the guest hands over in one call, its arguments to imports included; aliased ones count each time. */
  readonly outputBytes: number;
  /** Bytes of log in one call; what exceeds them is cut. */
  readonly logBytes: number;
  /** Lines of log in one call; what exceeds them is dropped, and a guest that goes on writing is stopped. */
  readonly logLines: number;
  /** Calls of imports in one call. */
  readonly importCalls: number;
}

const mebibyte = 1024 * 1024;

export const defaultLimits: Limits = {
  timeMs: 2000,
  memoryPages: 256,
  tableEntries: 10_000,
  componentBytes: 4 * mebibyte,
  inputBytes: mebibyte,
  outputBytes: mebibyte,
  logBytes: 64 * 1024,
  logLines: 256,
  importCalls: 10_000,
};

// The largest of each that can be asked for; the sandbox process is started with the memory's.
const most: Limits = {
  ...defaultLimits,
  timeMs: 60_000,
  memoryPages: 16_384,
  inputBytes: 16 * mebibyte,
  outputBytes: 16 * mebibyte,
  logBytes: 16 * mebibyte,
};

function bounded(value: number | undefined, standard: number, top: number): number {
  if (value === undefined || Number.isNaN(value)) return standard;
  return Math.min(Math.max(1, Math.floor(value)), top);
}

/** The limits that these settings make: absent ones are the default, others are kept between 1 and the largest allowed. */
export function limitsOf(settings: LimitSettings): Limits {
  return {
    ...defaultLimits,
    timeMs: bounded(settings.timeMs, defaultLimits.timeMs, most.timeMs),
    memoryPages: bounded(
      settings.memoryMiB === undefined ? undefined : settings.memoryMiB * 16,
      defaultLimits.memoryPages,
      most.memoryPages,
    ),
    inputBytes: bounded(settings.inputBytes, defaultLimits.inputBytes, most.inputBytes),
    outputBytes: bounded(settings.outputBytes, defaultLimits.outputBytes, most.outputBytes),
    logBytes: bounded(settings.logBytes, defaultLimits.logBytes, most.logBytes),
  };
}
