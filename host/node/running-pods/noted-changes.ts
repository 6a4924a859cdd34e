// Tells the part of a feature that follows running pods what a watch of the feature has seen. The watch and the part are made by different parts of the
// daemon, so a feature has one instance for the process.

/** The changes of one feature. `C` names what has changed, such as a namespace. */
export interface NotedChanges<C> {
  /** Tells all listeners of a change. */
  readonly note: (change: C) => void;
  /** Listens until the answer is called. */
  readonly listen: (listener: (change: C) => void) => () => void;
  /** The number of rounds so far. In a round the part looks at all pods of the node. */
  readonly round: () => number;
  readonly beginRound: () => void;
  /** Listens to the beginning of rounds until the answer is called. */
  readonly listenRounds: (listener: () => void) => () => void;
}

/** Makes the changes of one feature. */
export function notedChanges<C>(): NotedChanges<C> {
  const listeners = new Set<(change: C) => void>();
  const roundListeners = new Set<() => void>();
  let round = 0;
  return {
    note: (change) => {
      for (const listener of listeners) listener(change);
    },
    listen: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    round: () => round,
    beginRound: () => {
      round += 1;
      for (const listener of roundListeners) listener();
    },
    listenRounds: (listener) => {
      roundListeners.add(listener);
      return () => void roundListeners.delete(listener);
    },
  };
}
