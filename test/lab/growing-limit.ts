// Time limits that a test lets pass: what must fit into the limit takes longer on a busy machine.

/** The longest limit of an attempt. All attempts together fit into a test's own limit of three minutes. */
const maxMs = 64_000;

/**
 * Runs `attempt` with a time limit in milliseconds, and again with twice the limit while it fails. The last attempt's failure is the
 * test's, so that a broken promise fails with every limit. `renew` makes the next attempt's surroundings anew.
 */
export async function withGrowingLimit(
  firstMs: number,
  attempt: (limitMs: number) => Promise<void>,
  renew: () => unknown = () => undefined,
): Promise<void> {
  for (let limitMs = firstMs; ; limitMs *= 2) {
    try {
      return await attempt(limitMs);
    } catch (error) {
      if (2 * limitMs > maxMs) throw error;
      process.stderr.write(`an attempt with a limit of ${limitMs} ms failed, the next has ${2 * limitMs} ms: ${String(error)}\n`);
      await renew();
    }
  }
}
