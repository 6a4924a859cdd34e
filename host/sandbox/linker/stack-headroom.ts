// A guest may call an import with almost no stack left. Running out of it in the midst of the host's own work could leave
// that half done, so the host looks first whether there is enough.

const frames = 800;

function descend(left: number, a: number, b: number, c: number): number {
  return left === 0 ? a + b + c : 1 + descend(left - 1, b, c, a);
}

/** Throws RangeError where less than about 80 KiB of stack are left. */
export function requireHeadroom(): void {
  descend(frames, 1, 2, 3);
}
