// Requests to the test's Neutron, one after the other. SQLite has one writer: a second one blocks the whole process of Neutron, with the first in it,
// until its time limit.

const turns = new Map<string, Promise<unknown>>();

/** Waits for the earlier requests to the server, then sends this one. */
export async function inTurn<T>(server: string, send: () => Promise<T>): Promise<T> {
  const earlier = turns.get(server) ?? Promise.resolve();
  const sent = earlier.then(send, send);
  turns.set(
    server,
    sent.catch(() => undefined),
  );
  return sent;
}
