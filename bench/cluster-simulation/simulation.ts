// The record of a simulation of many nodes.

/** Work of all nodes with one pool. */
export interface PoolWork {
  readonly seconds: number;
  /** Lists of blocks. */
  readonly lists: number;
  readonly listBytes: number;
  /** Other requests for blocks. */
  readonly requests: number;
  /** CPU time of the API server, in seconds. */
  readonly cpuSeconds: number;
}

/** The figures of one number of nodes. Bytes and events are those that the API server has sent in the phase. */
export interface SimulatedSize {
  readonly nodes: number;
  readonly pods: number;
  readonly definitions: number;
  readonly watches: number;
  /** Objects in the memory of all daemons. */
  readonly objects: number;
  readonly start: { readonly seconds: number; readonly lists: number; readonly listBytes: number; readonly cpuSeconds: number };
  readonly restart: {
    readonly seconds: number;
    readonly lists: number;
    readonly listBytes: number;
    readonly refused: number;
    readonly cpuSeconds: number;
  };
  readonly newPods: {
    readonly count: number;
    readonly podsPerMinute: number;
    /** Changes that the daemons were told of: one for each pod, if each goes to its own node only. */
    readonly events: number;
    readonly cpuSeconds: number;
  };
  readonly definitionChanges: { readonly count: number; readonly events: number; readonly bytes: number };
  /** All nodes claim two blocks of a new pool at once. */
  readonly claims: PoolWork;
  /** The daemons of all nodes start again, and look for their blocks. */
  readonly looks: PoolWork;
  /** Each node searches once for blocks that it does not know. */
  readonly searches: PoolWork;
  /** Lists and watches that failed or were silent for too long, since the first start. */
  readonly warnings: number;
  readonly serverRssMiB: number;
  readonly clientRssMiB: number;
}

/** Work of plexus-controller for a policy. */
export interface PolicyWork {
  readonly seconds: number;
  /** Writes of slices. */
  readonly writes: number;
  /** CPU time of the API server, in seconds. */
  readonly cpuSeconds: number;
}

/** A policy whose rule selects many pods. */
export interface SelectedPods {
  readonly pods: number;
  readonly slices: number;
  /** Size of all slices as JSON, in bytes. */
  readonly bytes: number;
  /** Size of the largest slice, in bytes: a change of a slice sends this much to each daemon. */
  readonly maxBytes: number;
  readonly made: PolicyWork;
  /** One more pod. */
  readonly added: PolicyWork;
  /** The controller starts again. */
  readonly restarted: PolicyWork;
}

/** The file of the figures. */
export interface Simulation {
  readonly date: string;
  readonly processors: number;
  readonly sizes: readonly SimulatedSize[];
  readonly policy?: SelectedPods;
}
