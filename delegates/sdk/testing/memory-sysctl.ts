// The `sysctl` capability in memory: a vector sets the keys before the call and shows their values after it. The kernel's ranges of a
// setting, and settings that change others, are not simulated; kernel-agrees-sysctl.test.ts compares the rest with the kernel.

import type { Fault, SysctlCapability, SysctlSetting } from "../../../host/sandbox/abi/generated/delegate-1.0.0.ts";
import { isSettingKey } from "../../../src/sysctl/setting-key.ts";
import type { DelegateCall } from "./records.ts";

/** The state before a call. */
export interface SysctlState {
  /** The existing keys with their values. */
  readonly values: Readonly<Record<string, string>>;
  /** Values that the kernel refuses, by key. */
  readonly refuses?: Readonly<Record<string, string>> | undefined;
}

/** Maximum number of settings in one call. */
const maxSettings = 256;
const maxInteger = 2 ** 31 - 1;

type Outcome<T> = { readonly ok: T } | { readonly err: Fault };

/** The sysctls of one pod. */
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

  /** The capability in a call of this verb: GC and STATUS have no pod, and CHECK only reads. */
  functions(verb: DelegateCall["verb"]): SysctlCapability {
    return {
      read: (keys) =>
        this.#access(
          verb,
          keys.map((key) => ({ key, value: "" })),
        ),
      write: (settings) =>
        verb === "add" || verb === "del" ? this.#access(verb, settings) : misused(`${verb} may not write settings`),
    };
  }

  /** Writes the settings, and reads those with an empty value. Answers the old values. A failure undoes all. */
  #access(verb: DelegateCall["verb"], settings: readonly SysctlSetting[]): Outcome<string[]> {
    if (verb === "gc" || verb === "status") return misused(`${verb} has no pod`);
    if (settings.length > maxSettings) return misused(`${settings.length} settings in one call; the maximum is ${maxSettings}`);
    for (const { key, value } of settings) {
      if (!isSettingKey(key)) return misused(`${key} is not a path of a setting below net`);
      if (value.includes("\0")) return misused(`the value of ${key} contains a NUL`);
    }
    const before = new Map(this.#values);
    const had: string[] = [];
    for (const [at, { key, value }] of settings.entries()) {
      const old = this.#values.get(key);
      const next = old === undefined || this.#refuses[key] === value ? undefined : nextValue(old, value);
      if (old === undefined || next === undefined) {
        for (const [name, text] of before) this.#values.set(name, text);
        return refused(old === undefined ? `the pod has no sysctl ${key}` : `setting ${at}: ${key} can't be ${value}`);
      }
      had.push(old);
      this.#values.set(key, next);
    }
    return { ok: had };
  }
}

/** The value that the kernel shows after a write; undefined if the kernel refuses it. Its current value tells whether a setting has integers. */
function nextValue(old: string, written: string): string | undefined {
  if (written === "") return old;
  const numbers = integersIn(old);
  if (numbers === undefined) return written.split("\n", 1)[0];
  const given = integersIn(written);
  if (given === undefined || given.length === 0 || given.length > numbers.length) return undefined;
  // The kernel keeps the numbers that are not given.
  return [...given, ...numbers.slice(given.length)].join("\t");
}

/** The integers of a text as the kernel reads them, in C's notation; undefined if the text is anything else. */
function integersIn(text: string): readonly number[] | undefined {
  const words = text.split(/[ \t\n]+/u).filter((word) => word !== "");
  const integers = words.map((word) => (/^-?(?:0x[0-9a-f]+|0[0-7]*|[1-9]\d*)$/iu.test(word) ? integer(word) : Number.NaN));
  return integers.every((each) => Math.abs(each) <= maxInteger) ? integers : undefined;
}

function integer(word: string): number {
  const magnitude = word.replace(/^-/u, "");
  const octal = /^0[0-7]+$/u.test(magnitude);
  const value = octal ? Number.parseInt(magnitude, 8) : Number(magnitude);
  return word.startsWith("-") ? -value : value;
}

function misused(msg: string): { readonly err: Fault } {
  return { err: { code: 999, msg } };
}

function refused(msg: string): { readonly err: Fault } {
  return { err: { code: 5, msg } };
}
