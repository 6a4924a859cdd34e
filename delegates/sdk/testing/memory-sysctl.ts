// The `sysctl` capability in memory: a vector sets the keys before the call and shows their values after it. The kernel's ranges of a
// setting, and settings that change others, are not simulated; kernel-agrees-sysctl.test.ts compares the rest with the kernel.

import { refuse, type WitOutcome } from "../../../host/capabilities/outcome.ts";
import { requestDenial, type SysctlCall, writeDenial } from "../../../host/capabilities/sysctl/requests.ts";
import type { SysctlCapability, SysctlSetting } from "../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import { cniVerb, type DelegateCall } from "./records.ts";

/** The state before a call. */
export interface SysctlState {
  /** The existing keys with their values. */
  readonly values: Readonly<Record<string, string>>;
  /** Values that the kernel refuses, by key. */
  readonly refuses?: Readonly<Record<string, string>> | undefined;
}

const maxInteger = 2 ** 31 - 1;

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

  /** The capability in a call of this verb. */
  functions(verb: DelegateCall["verb"]): SysctlCapability {
    const attachment = verb === "gc" || verb === "status" ? undefined : { ifname: "" };
    const call: SysctlCall = { type: "", verb: cniVerb(verb), attachment, keys: "all" };
    const accessUnless = (denied: Fault | undefined, settings: readonly SysctlSetting[]): WitOutcome<string[]> => {
      const mistake = denied ?? requestDenial(call, settings);
      return mistake === undefined ? this.#access(settings) : refuse(mistake);
    };
    return {
      read: (keys) =>
        accessUnless(
          undefined,
          keys.map((key) => ({ key, value: "" })),
        ),
      write: (settings) => accessUnless(writeDenial(call), settings),
    };
  }

  /** Writes the settings, and reads those with an empty value. Answers the old values. A failure undoes all. */
  #access(settings: readonly SysctlSetting[]): WitOutcome<string[]> {
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

function refused(msg: string): WitOutcome<never> {
  return refuse(fault("SYSCTL_FAILED", msg));
}
