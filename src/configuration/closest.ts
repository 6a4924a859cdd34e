// Suggests the valid name that a mistyped name was meant to be.

/** Maximum length of a name for which suggestions are made: a longer text is no mistyped name. */
const maxLength = 64;

/** The valid name with the smallest edit distance; undefined if none is close enough. */
export function closest(name: string, valid: readonly string[]): string | undefined {
  if (name.length > maxLength) return undefined;
  let best: string | undefined;
  let bestDistance = Math.max(2, Math.floor(name.length / 3)) + 1;
  for (const candidate of valid) {
    // The distance is at least the difference of the lengths.
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** The valid names, the most similar first: by the share of letters that differ. For a name longer than `maxLength` they keep their order. */
export function nearestFirst(name: string, valid: readonly string[]): readonly string[] {
  if (name.length > maxLength) return valid;
  const shares = new Map(
    valid.map((each) => [each, editDistance(name.toLowerCase(), each.toLowerCase()) / Math.max(name.length, each.length)]),
  );
  return valid.toSorted((one, other) => (shares.get(one) ?? 0) - (shares.get(other) ?? 0));
}

/** Counts letters left out, inserted or replaced, and swapped neighbours. */
function editDistance(a: string, b: string): number {
  let [before, previous]: [readonly number[], readonly number[]] = [
    [],
    Array.from({ length: b.length + 1 }, (_, column) => column),
  ];
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substituted = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      const isSwap = a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      const swapped = isSwap ? (before[column - 2] ?? Infinity) + 1 : Infinity;
      current.push(Math.min(substituted, swapped, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    [before, previous] = [previous, current];
  }
  return previous[b.length] ?? 0;
}
