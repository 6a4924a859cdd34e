// Pseudo-random numbers that a seed repeats.

/** The seed of a random test: PLEXUS_TEST_SEED, or a drawn one. Prints it, so that a failed run can be repeated. */
export function testSeed(test: string): number {
  const seed = Number(process.env["PLEXUS_TEST_SEED"] ?? Math.floor(Math.random() * 1e6));
  process.stderr.write(`${test}: PLEXUS_TEST_SEED=${seed}\n`);
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
