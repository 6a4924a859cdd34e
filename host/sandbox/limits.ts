// Limits of one call of a delegate. Each limit has a default, and no limit can be switched off.

import {
  type DelegateLimits,
  defaultLimitValues,
  type LimitValues,
  mapLimits,
  maxLimitValues,
} from "../../src/configuration/keys/limit-keys.ts";

/** The administrator's settings; an absent setting has the default. */
export type LimitSettings = DelegateLimits;

/** The limits of the core modules' memory and tables. */
export interface ModuleSizes {
  /** Pages of 64 KiB of linear memory. */
  readonly memoryPages: number;
  /** Entries of a table. */
  readonly tableEntries: number;
}

/** The limits of a component's core modules. */
export interface ModuleLimits extends ModuleSizes {
  /** Instances of the component's core modules in one call. */
  readonly coreInstances: number;
}

/** The limits of a log. */
export interface LogLimits {
  /** Bytes of log in one call; a longer log is cut. */
  readonly logBytes: number;
  /** Lines of log in one call. Further lines are dropped; after 16 times as many lines the guest is ended. */
  readonly logLines: number;
}

/** The limits of one call. */
export interface Limits extends ModuleLimits, LogLimits {
  /** Milliseconds of the guest's own time, without its imports and without waits for a CPU. */
  readonly timeMs: number;
  /** Bytes of the component. */
  readonly componentBytes: number;
  /** Milliseconds of computing time of the component's admission in a sandbox process. */
  readonly admissionMs: number;
  /** Bytes that the guest receives in one call: the request and the answers to its imports. */
  readonly inputBytes: number;
  /** Bytes that the guest gives to the host in one call, including the arguments of imports. Bytes that are used twice count twice. */
  readonly outputBytes: number;
  /** Calls of imports in one call. */
  readonly importCalls: number;
}

const mebibyte = 1024 * 1024;
const pagesPerMiB = 16;

/** The default of each limit. */
export const defaultLimits: Limits = limitsFrom(defaultLimitValues);

/** The maximum of each setting. */
export const maxLimits: Limits = limitsFrom(maxLimitValues);

/** The limits for these settings. An absent setting has the default; any other is clamped between 1 and its maximum. */
export function limitsOf(settings: LimitSettings): Limits {
  const bounded = (name: keyof LimitValues): number => {
    const value = settings[name];
    if (value === undefined || Number.isNaN(value)) return defaultLimitValues[name];
    return Math.min(Math.max(1, Math.floor(value)), maxLimitValues[name]);
  };
  return limitsFrom(mapLimits(bounded));
}

function limitsFrom({ memoryMiB, componentMiB, ...values }: LimitValues): Limits {
  return {
    ...values,
    memoryPages: memoryMiB * pagesPerMiB,
    componentBytes: componentMiB * mebibyte,
    tableEntries: 10_000,
    logLines: 256,
    importCalls: 10_000,
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
