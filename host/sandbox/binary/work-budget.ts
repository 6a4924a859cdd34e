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
  /** Estimated bytes of machine code (admission/code-sizes.ts). The default; `ofComponentByte` permits more to a large component. */
  machineCode: 16 * 1024 * 1024,
  /** Locals and operands, counted at each branch: the work of V8's compilers. The default as for `machineCode`. */
  liveValues: 2_000_000,
} as const;

/**
 * The allowed count for each byte of a component, if that is more than the default. The outputs of known toolchains have at most ten bytes of
 * machine code and two live values for each byte.
 */
export const ofComponentByte = { machineCode: 40, liveValues: 8 } as const;

/** The maximum of machine code for a component of any size. The largest known component, of 12 MiB, has 85 MB. */
const maxMachineCode = 192 * 1024 * 1024;

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
  machineCode: "bytes of machine code, as V8 would make it,",
  liveValues: "values at branches (locals and operands, counted at each branch)",
};

const ofEveryInstance = ", counted in every instance of a nested component";
/** How the work is counted, and the key that permits more. */
const remarks: Readonly<Record<Work, string>> = {
  sections: ofEveryInstance,
  definitions: ofEveryInstance,
  definitionBytes: ofEveryInstance,
  importedItems: ofEveryInstance,
  coreInstances: `${ofEveryInstance}; wasm.limits.coreInstances`,
  coreImports: `${ofEveryInstance}; wasm.limits.coreInstances`,
  meteredPlaces: "",
  machineCode: "; a larger component may have more",
  liveValues: "; a larger component may have more",
};

/** The work of one admission so far. */
export class WorkBudget {
  readonly #spent: Record<Work, number> = {
    sections: 0,
    definitions: 0,
    definitionBytes: 0,
    importedItems: 0,
    coreInstances: 0,
    coreImports: 0,
    meteredPlaces: 0,
    machineCode: 0,
    liveValues: 0,
  };

  readonly #max: Readonly<Record<Work, number>>;

  /** `coreInstances`: the administrator's limit. `componentBytes`: the component's length. */
  constructor(coreInstances: number = maxWork.coreInstances, componentBytes = 0) {
    this.#max = {
      ...maxWork,
      coreInstances,
      coreImports: Math.max(maxWork.coreImports, coreImportsOfInstance * coreInstances),
      machineCode: Math.min(Math.max(maxWork.machineCode, ofComponentByte.machineCode * componentBytes), maxMachineCode),
      liveValues: Math.max(maxWork.liveValues, ofComponentByte.liveValues * componentBytes),
    };
  }

  /** Counts `amount` of a kind of work, before it is done. Refuses work above the maximum; `at` is the byte offset of its cause. */
  spend(work: Work, amount: number, at: number): void {
    const total = this.#spent[work] + amount;
    if (total > this.#max[work]) {
      refuse(`more than ${this.#max[work]} ${names[work]}: ${total}${remarks[work]}`, at);
    }
    this.#spent[work] = total;
  }
}
