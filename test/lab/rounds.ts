// How often randomised tests repeat themselves.

/** The part of the rounds that a run makes unless PLEXUS_TEST_ROUNDS sets another. Each kind of case still occurs. */
const usualShare = 0.2;

/**
 * The number of rounds of a randomised test that has `full` rounds in a long run. `PLEXUS_TEST_ROUNDS=1` makes all of them, `5` five times as many.
 * `variable` is the environment variable that sets the number of this test alone.
 */
export function rounds(full: number, variable?: string): number {
  const chosen = variable === undefined ? "" : (process.env[variable] ?? "");
  if (chosen !== "") return Number(chosen);
  const share = process.env["PLEXUS_TEST_ROUNDS"] ?? "";
  return Math.ceil(full * (share === "" ? usualShare : Number(share)));
}
