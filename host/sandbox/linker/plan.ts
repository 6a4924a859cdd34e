// A link plan: how a component's core modules are instantiated and linked. The plan is JSON, so that it can be sent to a sandbox process.

/** An export of a core instance; `instance` is an index into the plan's instances. */
export interface PlanItem {
  readonly instance: number;
  readonly name: string;
}

/** The memory that holds a function's arguments and results, and the guest's allocator for it (the canonical option `realloc`). */
export interface PlanMemory {
  readonly memory: PlanItem;
  readonly realloc: PlanItem;
}

/** The value of a core module's import. */
export type PlanSource =
  /** An export of another instance. */
  | { readonly kind: "item"; readonly item: PlanItem }
  /** A capability's function. */
  | { readonly kind: "capability"; readonly interface: string; readonly name: string; readonly through: PlanMemory }
  /** A function with which a language's runtime prints an error (standard-streams.ts). `through` is absent if it needs no memory. */
  | { readonly kind: "stream"; readonly name: string; readonly core: string; readonly through: PlanMemory | undefined }
  /** A handle that the guest no longer uses. It had no meaning. */
  | { readonly kind: "drop" }
  /** A function that traps. */
  | { readonly kind: "inert"; readonly name: string };

/** One import of a core module. */
export interface PlanImport {
  readonly module: string;
  readonly name: string;
  readonly source: PlanSource;
}

/** One instance of a core module. */
export interface PlanInstance {
  /** Index into the admitted component's `modules`. */
  readonly module: number;
  readonly imports: readonly PlanImport[];
}

/** The core functions of an exported verb. */
export interface PlanVerb {
  readonly func: PlanItem;
  readonly postReturn: PlanItem | undefined;
  readonly through: PlanMemory;
}

/** Size of the memory that a core module imports in place of its own one (admission rewrites it). In pages of 64 KiB. */
export interface PlanLinearMemory {
  readonly initial: number;
  readonly maximum: number;
}

/** The plan of one component. */
export interface LinkPlan {
  /** ABI version. */
  readonly abi: string;
  /** Imported memories by index of the core module; absent for a module without a memory. */
  readonly memories: Readonly<Record<number, PlanLinearMemory>>;
  readonly instances: readonly PlanInstance[];
  readonly verbs: Readonly<Record<string, PlanVerb>>;
  /** Capabilities that the guest's code can call. */
  readonly capabilities: readonly string[];
}
