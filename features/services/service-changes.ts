// Tells the daemon's part that Services of a network have changed. The watch and the part are made by different parts of the daemon.

/** Receives the id of a network. */
export type OnServiceChange = (network: string) => void;

const listeners = new Set<OnServiceChange>();

/** Notes a change. */
export function noteServiceChange(network: string): void {
  for (const listener of listeners) listener(network);
}

/** Listens until the answer is called. */
export function onServiceChange(listener: OnServiceChange): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

let round = 0;

/** The number of rounds so far. In a round the daemon's part looks at the Services of all pods of the node. */
export function serviceRound(): number {
  return round;
}

/** Begins a round. */
export function beginServiceRound(): void {
  round += 1;
}
