// Estimates what V8 makes of a core module's code. Few bytes may stand for much machine code or much compile time: a branch out of a block
// moves every result of the block, and at every branch the compilers handle each local and each value on the stack. code-costs.md has the
// measurements.

import type { CoreFunctionType } from "../binary/core-types.ts";
import { blockWithout, type Instructions } from "../binary/instructions.ts";
import { refuse } from "../../../wit/binary/refusal.ts";
import { stackEffect } from "../binary/stack-effects.ts";
import type { WorkBudget } from "../binary/work-budget.ts";
import { codeBytesOf, codeBytesOfFunction, codeBytesOfMovedValue, codeBytesOfTarget } from "./code-sizes.ts";

/**
 * Maxima for one function. Both of V8's compilers hold all of a function in memory, and parts of the optimizing one take more than linear
 * time. The largest functions of known toolchains have 427 KB, 17 000 branches, 400 loops, a depth of 800, 1 600 000 live and 12 000
 * moved values.
 */
export const maxOfFunction = {
  bytes: 1024 * 1024,
  branches: 50_000,
  loops: 2_000,
  depth: 10_000,
  liveValues: 4_000_000,
  movedValues: 100_000,
} as const;

/** The counts of a function, by the names of the maxima. */
type FunctionCosts = Record<keyof typeof maxOfFunction, number>;

const names: Readonly<Record<keyof typeof maxOfFunction, string>> = {
  bytes: "bytes",
  branches: "branches",
  loops: "loops",
  depth: "blocks within each other",
  liveValues: "values at branches (locals and operands, counted at each branch)",
  movedValues: "values that branches and calls move",
};

/** Values that a call moves cost more the more they are: a call of 2000 values takes nine times as long for each as a call of a few. */
const valuesOfDoubledCost = 256;
/** A metered place has an `if`, a call and an `end`. */
const branchesOfMeter = 3;

/** The costs, by opcode, of the instructions that are no block, branch or call. Nine of ten instructions need no more than these reads. */
const ofPlain = {
  isPlain: new Uint8Array(256).fill(1),
  bytes: Uint16Array.from({ length: 256 }, (_, opcode) => codeBytesOf(opcode, 0)),
  effect: Int8Array.from({ length: 256 }, (_, opcode) => stackEffect(opcode, 0)),
  branches: Uint8Array.from({ length: 256 }, (_, opcode) => (mayTrapOrCall(opcode, 0) ? 1 : 0)),
};
// unreachable; blocks, else; end; branches, return, calls; prefixes.
for (const [from, to] of [
  [0x00, 0x00],
  [0x02, 0x05],
  [0x0b, 0x13],
  [0xfc, 0xfd],
] as const)
  ofPlain.isPlain.fill(0, from, to + 1);

/** The types of a module's functions and blocks. */
export interface CodeTypes {
  readonly types: readonly CoreFunctionType[];
  /** The types of all functions, imported ones first. */
  readonly functions: readonly CoreFunctionType[];
}

/** A block, with the stack's height below its parameters. */
interface Block {
  readonly base: number;
  readonly params: number;
  readonly results: number;
  /** Values that a branch to the block's label moves. */
  readonly moved: number;
}

/** Counts the costs of functions, one after the other. */
export class CodeCosts {
  readonly #module: CodeTypes;
  readonly #budget: WorkBudget;
  #costs: FunctionCosts = noCosts();
  #codeBytes = 0;
  #locals = 0;
  #height = 0;
  /** The stack's height below the innermost block's parameters. */
  #base = 0;
  #results = 0;
  #blocks: Block[] = [];

  constructor(module: CodeTypes, budget: WorkBudget) {
    this.#module = module;
    this.#budget = budget;
  }

  /** Begins a function with this type and number of declared locals. */
  begin({ params, results }: CoreFunctionType, declaredLocals: number, bytes: number): void {
    this.#costs = noCosts();
    this.#costs.bytes = bytes;
    this.#codeBytes = codeBytesOfFunction;
    this.#locals = params.length + declaredLocals;
    this.#results = results.length;
    this.#height = 0;
    this.#base = 0;
    this.#blocks = [{ base: 0, params: 0, results: results.length, moved: results.length }];
    this.#branch(branchesOfMeter);
  }

  /** Counts the last instruction of `code`. */
  add(code: Instructions): void {
    const { opcode } = code;
    if (ofPlain.isPlain[opcode] === 1) {
      this.#codeBytes += ofPlain.bytes[opcode] ?? 0;
      if (ofPlain.branches[opcode] === 1) this.#branch(1);
      this.#pop(ofPlain.effect[opcode] ?? 0);
      return;
    }
    const { operation } = code;
    this.#codeBytes += codeBytesOf(opcode, operation);
    switch (opcode) {
      case 0x02:
      case 0x03:
      case 0x04:
        this.#open(code);
        return;
      case 0x05:
      case 0x0b:
        this.#close(opcode === 0x05);
        return;
      case 0x00: // unreachable
        this.#endOfPath();
        return;
      case 0x0c:
      case 0x0d:
        this.#pop(stackEffect(opcode, operation));
        this.#jump(code.operand);
        if (opcode === 0x0c) this.#endOfPath();
        return;
      case 0x0e:
        this.#pop(stackEffect(opcode, operation));
        for (const target of code.targets) this.#jump(target);
        this.#codeBytes += codeBytesOfTarget * code.targets.length;
        this.#endOfPath();
        return;
      case 0x0f: // return
        this.#move(this.#results);
        this.#branch(1);
        this.#endOfPath();
        return;
      case 0x10:
      case 0x12:
        this.#call(this.#module.functions[code.operand]);
        if (opcode === 0x12) this.#endOfPath();
        return;
      case 0x11:
      case 0x13:
        this.#pop(-1);
        this.#call(this.#module.types[code.operand]);
        if (opcode === 0x13) this.#endOfPath();
        return;
      default:
        if (mayTrapOrCall(opcode, operation)) this.#branch(1);
        this.#pop(stackEffect(opcode, operation));
    }
  }

  /** Ends the function, whose body begins at `at`. Refuses a function above the maxima, and more code than the budget has left. */
  end(at: number): void {
    for (const [name, max] of Object.entries(maxOfFunction) as readonly (readonly [keyof FunctionCosts, number])[]) {
      const count = Math.ceil(this.#costs[name]);
      if (count > max) refuse(`a function with ${count} ${names[name]}; the limit is ${max}`, at);
    }
    this.#budget.spend("liveValues", this.#costs.liveValues, at);
    this.#budget.spend("machineCode", Math.ceil(this.#codeBytes), at);
  }

  #open({ opcode, operand }: Instructions): void {
    if (opcode === 0x04) this.#pop(-1);
    const { params, results } = this.#blockType(operand);
    this.#branch(opcode === 0x03 ? 1 + branchesOfMeter : 1);
    if (opcode === 0x03) this.#costs.loops += 1;
    this.#move(params);
    const base = Math.max(this.#height - params, this.#base);
    this.#height = base + params;
    this.#base = base;
    this.#blocks.push({ base, params, results, moved: opcode === 0x03 ? params : results });
    this.#costs.depth = Math.max(this.#costs.depth, this.#blocks.length - 1);
  }

  #blockType(operand: number): { readonly params: number; readonly results: number } {
    if (operand < 0) return { params: 0, results: operand === blockWithout.typeIndex ? 1 : 0 };
    const type = this.#module.types[operand];
    // V8 refuses a type that does not exist.
    return { params: type?.params.length ?? 0, results: type?.results.length ?? 0 };
  }

  #close(isElse: boolean): void {
    const block = isElse ? this.#blocks.at(-1) : this.#blocks.pop();
    // V8 refuses an `else` or `end` without its block.
    if (block === undefined) return;
    this.#move(block.results);
    this.#branch(1);
    this.#height = block.base + (isElse ? block.params : block.results);
    if (!isElse) this.#base = this.#blocks.at(-1)?.base ?? 0;
  }

  #jump(label: number): void {
    this.#move(this.#blocks[this.#blocks.length - 1 - label]?.moved ?? 0);
    this.#branch(1);
  }

  #call(type: CoreFunctionType | undefined): void {
    if (type === undefined) return;
    const values = type.params.length + type.results.length;
    this.#branch(1);
    this.#move(values * (1 + values / valuesOfDoubledCost));
    this.#pop(type.results.length - type.params.length);
  }

  /** Counts branches at which all locals and operands are live. */
  #branch(count: number): void {
    this.#costs.branches += count;
    this.#costs.liveValues += count * (this.#locals + this.#height);
  }

  #move(values: number): void {
    this.#costs.movedValues += values;
    this.#codeBytes += values * codeBytesOfMovedValue;
  }

  /** Changes the stack's height, which never falls below its block: unreachable code may take values that no instruction has put there. */
  #pop(change: number): void {
    const height = this.#height + change;
    this.#height = height < this.#base ? this.#base : height;
  }

  /** The following code is unreachable up to the end of its block. */
  #endOfPath(): void {
    this.#height = this.#base;
  }
}

function noCosts(): FunctionCosts {
  return { bytes: 0, branches: 0, loops: 0, depth: 0, liveValues: 0, movedValues: 0 };
}

/** Division and conversion may trap, which is a branch; an instruction on a whole memory or table calls V8. */
function mayTrapOrCall(opcode: number, operation: number): boolean {
  if (opcode === 0xfc) return operation >= 8;
  const isDivision = (opcode >= 0x6d && opcode <= 0x70) || (opcode >= 0x7f && opcode <= 0x82);
  const isConversion = (opcode >= 0xa8 && opcode <= 0xab) || (opcode >= 0xae && opcode <= 0xb1);
  return isDivision || isConversion || opcode === 0x25 || opcode === 0x26 || opcode === 0x40;
}
