// A guest may call an import with almost no stack left. Running out of it in the midst of the host's own work could leave
// that half done, so the host looks first whether there is enough.

// Arguments go on the stack, 8 bytes each: V8 checks that they fit before it calls.
const words: readonly number[] = Array.from({ length: 4096 }, () => 0);

function nothing(): void {}

/** Throws RangeError where less than 32 KiB of stack are left. Takes a few microseconds. */
export function requireHeadroom(): void {
  Reflect.apply(nothing, undefined, words);
}
