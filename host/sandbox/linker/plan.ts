// A link plan: how a component's core modules are instantiated and tied, as data that can cross a pipe.

/** An item that an instantiated core module exports; `instance` counts in the plan's order. */
export interface PlanItem {
  readonly instance: number;
  readonly name: string;
}

/** The memory that values cross through, and the guest function that allocates in it. */
export interface PlanMemory {
  readonly memory: PlanItem;
  readonly realloc: PlanItem;
}

export type PlanSource =
  | { readonly kind: "item"; readonly item: PlanItem }
  /** A capability's function. */
  | { readonly kind: "capability"; readonly interface: string; readonly name: string; readonly through: PlanMemory }
  /** A function that traps. */
  | { readonly kind: "inert"; readonly name: string };

export interface PlanImport {
  readonly module: string;
  readonly name: string;
  readonly source: PlanSource;
}

export interface PlanInstance {
  /** Which of the component's core modules. */
  readonly module: number;
  readonly imports: readonly PlanImport[];
}

export interface PlanVerb {
  readonly func: PlanItem;
  readonly postReturn: PlanItem | undefined;
  readonly through: PlanMemory;
}

/** The linear memory that a core module is given, because admission made an import of its own one. Pages of 64 KiB. */
export interface PlanLinearMemory {
  readonly initial: number;
  readonly maximum: number;
}

export interface LinkPlan {
  /** ABI version. */
  readonly abi: string;
  /** By number of the core module. */
  readonly memories: Readonly<Record<number, PlanLinearMemory>>;
  readonly instances: readonly PlanInstance[];
  readonly verbs: Readonly<Record<string, PlanVerb>>;
  /** Capabilities that the guest's code can call. */
  readonly capabilities: readonly string[];
}
