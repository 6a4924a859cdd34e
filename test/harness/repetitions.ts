// How often randomised tests repeat themselves.

/** The part of the repetitions that the second run makes. Each kind of case still occurs. */
const secondUserShare = 0.2;

/**
 * The number of repetitions of a randomised test. Root's run makes all of them, and has the statistics: rare orders of events, rare
 * configurations. scripts/second-user.sh asks another question, whether the same code works with an ordinary user's rights, which fewer
 * repetitions answer as well. `name` is the environment variable that sets another number.
 */
export function repetitions(full: number, name?: string): number {
  const configured = name === undefined ? undefined : process.env[name];
  if (configured !== undefined && configured !== "") return Number(configured);
  return process.env["PLEXUS_TEST_SECOND_USER"] === "1" ? Math.ceil(full * secondUserShare) : full;
}
