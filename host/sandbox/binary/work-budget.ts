// Bounds the work of one admission. A nested component is read and evaluated once for each instantiation, so a bound on the component's bytes
// alone does not bound the work. Each kind of work is counted over all evaluations.

import { refuse } from "./refusal.ts";

/**
 * The maximum of each kind of work in one admission. The largest known toolchain output (the QuickJS backend's runtime) needs about a tenth of
 * each, but for `coreInstances`, of which it has six.
 */
export const maxWork = {
  /** Sections of components and core modules, including custom sections. */
  sections: 10_000,
  definitions: 20_000,
  /** Bytes of component definitions; core modules and custom sections are not included. */
  definitionBytes: 1024 * 1024,
  /** Functions and types of imported instances. */
  importedItems: 20_000,
  /** The default; wasm.limits.coreInstances replaces it. */
  coreInstances: 12,
  /** The default; with more core instances, `coreImportsOfInstance` for each. */
  coreImports: 2_000,
  /**
   * Functions, loops and bulk instructions of all core modules. A component of loops only would grow sevenfold, and metering it would take a
   * gigabyte of memory and seconds. 4 MiB of a compiler's output have a tenth of this number.
   */
  meteredPlaces: 200_000,
} as const;

/** Core imports for each core instance that the administrator permits. CPython's modules, linked by componentize-py, have 63 on average. */
const coreImportsOfInstance = 100;

/** A kind of work. */
export type Work = keyof typeof maxWork;

const names: Readonly<Record<Work, string>> = {
  sections: "sections",
  definitions: "definitions",
  definitionBytes: "bytes of definitions",
  importedItems: "functions and types of imported instances",
  coreInstances: "core instances",
  coreImports: "imports of core instances",
  meteredPlaces: "functions, loops and bulk instructions",
};

/** The work of one admission so far. */
export class WorkBudget {
  private readonly spent: Record<Work, number> = {
    sections: 0,
    definitions: 0,
    definitionBytes: 0,
    importedItems: 0,
    coreInstances: 0,
    coreImports: 0,
    meteredPlaces: 0,
  };

  private readonly max: Readonly<Record<Work, number>>;

  /** `coreInstances`: the administrator's limit. */
  constructor(coreInstances: number = maxWork.coreInstances) {
    this.max = { ...maxWork, coreInstances, coreImports: Math.max(maxWork.coreImports, coreImportsOfInstance * coreInstances) };
  }

  /** Counts `amount` of a kind of work, before it is done. Refuses work above the maximum; `at` is the byte offset of its cause. */
  spend(work: Work, amount: number, at: number): void {
    const total = this.spent[work] + amount;
    if (total > this.max[work]) {
      const key = work === "coreInstances" || work === "coreImports" ? "; wasm.limits.coreInstances" : "";
      refuse(`more than ${this.max[work]} ${names[work]}: ${total}, counted in every instance of a nested component${key}`, at);
    }
    this.spent[work] = total;
  }
}
