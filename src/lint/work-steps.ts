// Work that its caller may divide: a generator tells after each step how much it did, so that the caller can let other work run between the steps.

/** Work whose yields are the units of the step before: characters read, or objects compared. */
export type WorkSteps<T> = Generator<number, T, void>;

/** Does all steps at once. */
export function allSteps<T>(steps: WorkSteps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** Elements of a step of a sort. */
const sortStep = 1024;

/** Sorts in steps; equal elements keep their order. */
export function* sortedInSteps<T>(elements: readonly T[], compare: (a: T, b: T) => number): WorkSteps<readonly T[]> {
  let runs: (readonly T[])[] = [];
  for (let at = 0; at < elements.length; at += sortStep) {
    runs.push(elements.slice(at, at + sortStep).toSorted(compare));
    yield sortStep;
  }
  while (runs.length > 1) {
    const merged: (readonly T[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(yield* mergedInSteps(runs[at] ?? [], runs[at + 1] ?? [], compare));
    runs = merged;
  }
  return runs[0] ?? [];
}

function* mergedInSteps<T>(left: readonly T[], right: readonly T[], compare: (a: T, b: T) => number): WorkSteps<readonly T[]> {
  const merged: T[] = [];
  let [l, r] = [0, 0];
  for (;;) {
    const [a, b] = [left[l], right[r]];
    if (a === undefined) return [...merged, ...right.slice(r)];
    if (b === undefined) return [...merged, ...left.slice(l)];
    if (compare(a, b) <= 0) {
      merged.push(a);
      l += 1;
    } else {
      merged.push(b);
      r += 1;
    }
    if (merged.length % sortStep === 0) yield sortStep;
  }
}
