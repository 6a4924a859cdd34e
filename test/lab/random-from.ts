// Pseudo-random numbers that a seed repeats.

/** The seed that PLEXUS_TEST_SEED sets, else `usual`, else a new one in each run. It is printed, so that a failure can be repeated. */
export function testSeed(title: string, usual = Math.floor(Math.random() * 1e6)): number {
  const seed = Number(process.env["PLEXUS_TEST_SEED"] ?? usual);
  process.stderr.write(`${title}: PLEXUS_TEST_SEED=${seed}\n`);
  return seed;
}

/** A pseudo-random sequence in [0, 1) that depends on the seed only (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = Math.trunc(seed);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
