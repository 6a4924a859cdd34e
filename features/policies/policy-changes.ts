// Tells the daemon's part that policies or peers of a namespace have changed. The watches and the part are made by different parts of the daemon.

/** Receives the namespace of a change; undefined: all namespaces. */
export type OnPolicyChange = (namespace: string | undefined) => void;

const listeners = new Set<OnPolicyChange>();

/** Notes a change. */
export function notePolicyChange(namespace: string | undefined): void {
  for (const listener of listeners) listener(namespace);
}

/** Listens until the answer is called. */
export function onPolicyChange(listener: OnPolicyChange): () => void {
  listeners.add(listener);
  return () => void listeners.delete(listener);
}

let round = 0;

/** The number of rounds so far. In a round the daemon's part looks at the policies of all pods of the node. */
export function policyRound(): number {
  return round;
}

/** Begins a round. */
export function beginPolicyRound(): void {
  round += 1;
}
