// A guest may call an import when its stack is nearly full. A stack overflow in the host's work could leave that work half done, so the
// host checks the free stack first.

// Arguments are pushed on the stack, 8 bytes each. V8 checks that they fit before the call.
const filler: readonly number[] = Array.from({ length: 4096 }, () => 0);

function noop(): void {}

/** Throws RangeError if less than 32 KiB of stack are free. Takes a few microseconds. */
export function requireHeadroom(): void {
  Reflect.apply(noop, undefined, filler);
}
