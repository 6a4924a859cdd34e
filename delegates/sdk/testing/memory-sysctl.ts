// The `sysctl` capability in memory: a vector sets the keys before the call and shows their values after it.

import type { Fault, SysctlCapability } from "../../../host/sandbox/abi/generated/delegate-1.0.0.ts";

/** The state before a call. */
export interface SysctlState {
  /** The existing keys with their values. */
  readonly values: Readonly<Record<string, string>>;
  /** Values that the kernel refuses, by key. */
  readonly refuses?: Readonly<Record<string, string>> | undefined;
}

/** The sysctls of one call. */
export class MemorySysctl {
  readonly #values: Map<string, string>;
  readonly #refuses: Readonly<Record<string, string>>;

  constructor({ values, refuses = {} }: SysctlState = { values: {} }) {
    this.#values = new Map(Object.entries(values));
    this.#refuses = refuses;
  }

  /** The current values. */
  values(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#values);
  }

  readonly functions: SysctlCapability = {
    read: (keys) => {
      const values: string[] = [];
      for (const key of keys) {
        const value = this.#values.get(key);
        if (value === undefined) return unknown(key);
        values.push(value);
      }
      return { ok: values };
    },
    write: (settings) => {
      const before = new Map(this.#values);
      const had: string[] = [];
      for (const [at, { key, value }] of settings.entries()) {
        const old = this.#values.get(key);
        if (old === undefined || this.#refuses[key] === value) {
          for (const [name, text] of before) this.#values.set(name, text);
          return old === undefined ? unknown(key) : refused(`setting ${at}: ${key} can't be ${value}`);
        }
        had.push(old);
        this.#values.set(key, value);
      }
      return { ok: had };
    },
  };
}

function unknown(key: string): { readonly err: Fault } {
  return refused(`the pod has no sysctl ${key}`);
}

function refused(msg: string): { readonly err: Fault } {
  return { err: { code: 5, msg } };
}
