// Takes away the random numbers that all copies of a zygote would have in common.

/** The objects that have them: those of the running JavaScript. */
export interface RandomSources {
  readonly math: Math;
  /** The object whose property `crypto` is the Web Crypto API. */
  readonly global: object;
}

/**
 * Makes `Math.random` throw, and removes `crypto`. V8 draws numbers of `Math.random` ahead, and Node draws UUIDs ahead, so each copy would get the same ones.
 * Nothing in a sandbox process uses them, and no component can: the contract has no randomness.
 */
export function removeSharedRandomness({ math, global }: RandomSources): void {
  Object.defineProperty(math, "random", {
    value: () => {
      throw new Error("Math.random has the same numbers in all copies of a zygote");
    },
  });
  Reflect.deleteProperty(global, "crypto");
}
