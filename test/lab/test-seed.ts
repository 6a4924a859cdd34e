// The seed of a random test.

/**
 * The seed that PLEXUS_TEST_SEED sets, else `usual`, else a new one in each run. It is printed, so that a failure can be repeated.
 */
export function testSeed(title: string, usual = Math.floor(Math.random() * 1e6)): number {
  const seed = Number(process.env["PLEXUS_TEST_SEED"] ?? usual);
  process.stderr.write(`${title}: PLEXUS_TEST_SEED=${seed}\n`);
  return seed;
}
