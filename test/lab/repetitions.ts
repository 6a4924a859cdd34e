// How often randomised tests repeat themselves.

/** The part of the repetitions that `npm test` makes. Each kind of case still occurs. */
const firstShare = 0.2;

/**
 * The number of repetitions of a randomised test. `npm test` makes a fifth of them, and the run of scripts/second-user.sh the others: together they have
 * the statistics, rare orders of events and rare configurations, and `npm test` stays below its time limit. `name` is the environment variable that
 * sets another number.
 */
export function repetitions(full: number, name?: string): number {
  const configured = name === undefined ? undefined : process.env[name];
  if (configured !== undefined && configured !== "") return Number(configured);
  return Math.ceil(full * (process.env["PLEXUS_TEST_SECOND_USER"] === "1" ? 1 - firstShare : firstShare));
}
